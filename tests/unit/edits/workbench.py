"""A file to try the primitives on: its nodes found by their text, and its text after the edits."""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from ddplint.edits import Editor
from ddplint.edits.page import descendants
from ddplint.findings import Edit
from ddplint.fixes import apply
from ddplint.source import SourceFile
from ddplint.source.spans import Spans

_NAMED_T = re.compile(r"(?:(?:if|for|while|with|def|class) )?t\b")


class Workbench:
    def __init__(self, text: str) -> None:
        self.source = SourceFile("train.py", text)
        self.module = cst.parse_module(text)
        self.spans = Spans(self.module, text)
        self.editor = Editor(self.source, self.module, self.spans)
        self.nodes = sorted(descendants(self.module), key=lambda node: self.spans.of(node))

    def call(self, name: str = "f") -> cst.Call:
        """The first call of a name."""
        calls = [node for node in self.nodes if isinstance(node, cst.Call)]
        return next(call for call in calls if self._text(call.func) == name)

    def argument(self, call: cst.Call, text: str) -> cst.Arg:
        """The argument of a call with this text."""
        return next(arg for arg in call.args if self._text(arg) == text)

    def expression(self, text: str) -> cst.BaseExpression:
        """The first expression with this text."""
        expressions = [node for node in self.nodes if isinstance(node, cst.BaseExpression)]
        return next(node for node in expressions if self._text(node) == text)

    def statement(self) -> cst.CSTNode:
        """The statement ``t``, or the compound statement whose header says ``t`` first."""
        kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
        return next(node for node in self.nodes if isinstance(node, kinds) and _NAMED_T.match(self._text(node)))

    def first_import(self) -> cst.Import | cst.ImportFrom:
        return next(node for node in self.nodes if isinstance(node, cst.Import | cst.ImportFrom))

    def compound(self, start: str) -> cst.CSTNode:
        """The first thing with a block of its own that starts with this text."""
        return next(node for node in self.nodes if hasattr(node, "body") and self._text(node).startswith(start))

    def after(self, edits: Iterable[Edit]) -> str:
        """The text with the edits made; Python and LibCST have to read it."""
        text = apply(self.source, edits)
        compile(text, "<edited>", "exec", dont_inherit=True)
        Spans(cst.parse_module(text), text)
        return text

    def _text(self, node: cst.CSTNode) -> str:
        start, end = self.spans.of(node)
        return self.source.text[start:end]
