"""Where the nodes of a LibCST tree stand in the text they were parsed from.

LibCST's own position providers cost more than the parse. This is one code generation pass that only notes, for each
node, how many tokens were written before and after it; token numbers become offsets when somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from types import TracebackType

import libcst as cst

# The only hook into code generation. It is private, so this module is the only one that may use it, and the text that
# comes out is compared with the file's.
from libcst._nodes.internal import CodegenState

from ddplint.errors import Defect

# The parser forgets form feeds and continued blank lines that stand before a statement.
_NOT_RENDERED = r"(?:[ \t\f\ufeff]|\\\r?\n)*?"


class Spans:
    """The offsets, in code points from 0, of every node of a module.

    ``text`` is the text that the module was parsed from. Raises Defect when the module does not render it exactly,
    because then no offset means anything.
    """

    def __init__(self, module: cst.Module, text: str) -> None:
        recorder = _Recorder(default_indent=module.default_indent, default_newline=module.default_newline)
        module._codegen(recorder)
        # A node is known by its identity, which is only its own as long as the tree lives.
        self._module = module
        self._whole = recorder.whole
        self._syntactic = recorder.syntactic
        self._offsets = _token_offsets(recorder.tokens, text)

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where the node's own text starts and ends: without its parentheses, leading lines and final newline."""
        tokens = self._syntactic.get(id(node))
        return self.whole(node) if tokens is None else self._in_text(tokens)

    def whole(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where everything that the node renders starts and ends: parentheses, leading lines, final newline."""
        tokens = self._whole.get(id(node))
        if tokens is None:
            raise Defect(f"a {type(node).__name__} is asked for in a tree that it does not belong to")
        return self._in_text(tokens)

    def _in_text(self, tokens: tuple[int, int]) -> tuple[int, int]:
        # A file without a final newline: its last newline was written, then taken back.
        last = len(self._offsets) - 1
        return self._offsets[min(tokens[0], last)], self._offsets[min(tokens[1], last)]


def _token_offsets(tokens: Sequence[str], text: str) -> list[int]:
    """Where each token starts in the text, and where the last one ends."""
    if "".join(tokens) == text:
        return list(accumulate(map(len, tokens), initial=0))
    offsets = [0]
    for token in tokens:
        found = re.compile(f"{_NOT_RENDERED}({re.escape(token)})").match(text, offsets[-1])
        if found is None:
            raise Defect("LibCST does not render this file as it is")
        # What was not rendered is counted to the token before, which ends a line or indents one.
        offsets[-1] = found.start(1)
        offsets.append(found.end())
    if offsets[-1] != len(text):
        raise Defect("LibCST does not render this file to its end")
    return offsets


class _Recorder(CodegenState):
    """Code generation that notes the first token of each node and the first after it."""

    # The base class has slots and a generated __init__: the tables are made here, in plain attributes.
    __slots__ = ("_starts", "syntactic", "whole")

    def __init__(self, default_indent: str, default_newline: str) -> None:
        super().__init__(default_indent=default_indent, default_newline=default_newline)
        self.whole: dict[int, tuple[int, int]] = {}
        self.syntactic: dict[int, tuple[int, int]] = {}
        self._starts: list[int] = []

    def before_codegen(self, node: cst.CSTNode) -> None:  # noqa: ARG002  # the base class says what is handed in
        self._starts.append(len(self.tokens))

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.whole[id(node)] = (self._starts.pop(), len(self.tokens))

    def record_syntactic_position(  # type: ignore[override]  # a plain object is a context manager too, and cheaper
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Stretch:
        return _Stretch(self, node, start_node, end_node)

    def recorded(self, node: cst.CSTNode) -> tuple[int, int]:
        return self.syntactic.get(id(node)) or self.whole[id(node)]


class _Stretch:
    """The tokens written between entering and leaving; a node may start or end where one of its children does."""

    __slots__ = ("_end_node", "_node", "_recorder", "_start", "_start_node")

    def __init__(
        self, recorder: _Recorder, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self._recorder = recorder
        self._node = node
        self._start_node = start_node
        self._end_node = end_node
        self._start = len(recorder.tokens)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            return  # A tree too deep for Python's stack: where the nodes end was not written.
        recorder = self._recorder
        start = self._start if self._start_node is None else recorder.recorded(self._start_node)[0]
        end = len(recorder.tokens) if self._end_node is None else recorder.recorded(self._end_node)[1]
        recorder.syntactic[id(self._node)] = (start, end)
