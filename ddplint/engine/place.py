"""Where the things that a rule found stand, in words that outlive the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from ddplint.errors import Defect
from ddplint.findings import Place
from ddplint.source import Position

if TYPE_CHECKING:
    import libcst as cst

    from ddplint.semantics import Placed, Script
    from ddplint.semantics.structure import Statement
    from ddplint.source import SourceFile
    from ddplint.source.spans import Spans

    # What a rule may point at.
    Target: TypeAlias = Placed | cst.CSTNode | tuple[Position, Position]


class Places:
    """Turns targets into places. The spans of a tree are computed once, when the first target in it is asked for."""

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._spans: dict[int, Spans] = {}

    def spans(self, script: Script) -> Spans:
        """Return the spans of a script's tree; raises Defect when LibCST does not render its file exactly."""
        from ddplint.source.spans import Spans  # imports libcst

        # The spans keep their module alive, so its identity stays its own.
        key = id(script.module)
        if key not in self._spans:
            self._spans[key] = Spans(script.module, script.parsed_text)
        return self._spans[key]

    def place(self, target: Target, script: Script | None, note: str = "") -> Place:
        """Return the place of a target; a bare node stands in ``script``, an expression and the like know theirs."""
        if isinstance(target, tuple):
            source, (start, end) = self._source, target
        else:
            script, node = _home(target, script)
            source = script.source
            first, last = self.spans(script).of(node)
            start, end = source.position(first), source.position(last)
        return Place(source.path, start, end, source.line(start.line), note)

    def statement(self, target: Target, script: Script | None) -> tuple[int, int]:
        """Return the first and the last line of the statement around a target."""
        if isinstance(target, tuple):
            return target[0].line, target[1].line
        script, _ = _home(target, script)
        return script.statement_lines(target, self.spans(script))


def _home(target: Placed | cst.CSTNode, script: Script | None) -> tuple[Script, cst.CSTNode]:
    """The script that a target stands in, which may be another one, and its node there."""
    statement: Statement | None = getattr(target, "statement", None)
    if statement is not None:
        return statement.region.scope.script, cast("Placed", target).node
    if script is None:
        raise Defect("a bare node has a place only in a file that was parsed")
    return script, cast("cst.CSTNode", target)
