"""Rules for random scripts that fix with the real primitives, so that the laws of rounds are tried on real edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ddplint.edits import Editor
from ddplint.edits.page import descendants
from ddplint.edits.seats import Seats
from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Place
from ddplint.fixes import Settled, settle
from ddplint.source import SourceFile
from ddplint.source.spans import Spans

Mend = tuple[str, cst.CSTNode, tuple[Edit, ...]]


def settle_scripts(texts: Mapping[str, str]) -> Settled:
    return settle({path: SourceFile(path, text) for path, text in texts.items()}, _lint, lambda _: True)


def _lint(sources: Mapping[str, SourceFile]) -> dict[str, list[Finding]]:
    return {path: list(_findings(source)) for path, source in sources.items()}


def _findings(source: SourceFile) -> Iterator[Finding]:
    module = cst.parse_module(source.text)
    spans = Spans(module, source.text)
    for code, node, edits in _mends(module, Editor(source, module, spans)):
        start, end = (source.position(offset) for offset in spans.of(node))
        place = Place(source.path, start, end, source.line(start.line))
        fix = Fix(Applicability.SAFE, "mend it", edits)
        yield Finding(code, "toy", Impact.WRONG, Confidence.CERTAIN, "mend it", place, (start.line, end.line), fix=fix)


def _mends(module: cst.Module, editor: Editor) -> Iterator[Mend]:
    """Asserts go, calls of ``f`` get a keyword and a guard, assignments to ``é`` need ``os`` and a line above."""
    seats = Seats(module)
    for node in descendants(module):
        match node:
            case cst.Assert():
                yield "DDP901", node, editor.remove_statement(node)
            case cst.Expr(value=cst.Call(func=cst.Name(value="f"), args=args) as call):
                if len(args) == 1:
                    yield "DDP902", call, editor.insert_argument(call, "k=1")
                owner = seats.of(node).owner
                if not (isinstance(owner, cst.If) and isinstance(owner.test, cst.Name) and owner.test.value == "rank"):
                    yield "DDP903", node, editor.guard_statement(node, "if rank:")
            case cst.Assign(value=cst.SimpleString(value="'ü日'")):
                renamed = editor.replace(node.value, '"os"')
                above = editor.insert_statements_before(node, ["os.getpid()"])
                yield "DDP904", node, (*renamed, *above, *(editor.add_import("import os")))
