from __future__ import annotations

import libcst as cst
import pytest

from ddplint.errors import Defect
from ddplint.source.spans import Spans


def nodes_of(module: cst.Module) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = [module]
    for node in found:
        found.extend(node.children)
    return found


def first(module: cst.Module, kind: type[cst.CSTNode]) -> cst.CSTNode:
    return next(node for node in nodes_of(module) if isinstance(node, kind))


@pytest.mark.parametrize(
    ("text", "kind", "of", "whole"),
    [
        pytest.param("((f)(x))\n", cst.Call, "(f)(x)", "((f)(x))", id="own parentheses are not the call's text"),
        pytest.param("x = (a +\n  b)\n", cst.BinaryOperation, "a +\n  b", "(a +\n  b)", id="over two lines"),
        pytest.param("f(a, b)\n", cst.Arg, "a", "a, ", id="the comma is not the argument's text"),
        pytest.param("# c\n\nx = 1  # d\ny\n", cst.Assign, "x = 1", "x = 1", id="a small statement"),
        pytest.param("y\n# c\n\nx = 1  # d\ny\n", cst.Expr, "y", "y", id="an expression statement"),
        pytest.param(
            "if a:\n  # c\n  b # d\n  # e\nc\n",
            cst.If,
            "if a:\n  # c\n  b",
            "if a:\n  # c\n  b # d\n  # e\n",
            id="a block owns the comments that follow it",
        ),
        pytest.param("if a: b; c;\n", cst.SimpleStatementSuite, "b; c", " b; c;\n", id="a one-line suite"),
        pytest.param("@d\ndef f(): pass\n", cst.FunctionDef, "def f(): pass", "@d\ndef f(): pass\n", id="decorators"),
        pytest.param("a; b", cst.SimpleStatementLine, "a; b", "a; b", id="no final newline"),
        pytest.param("if a:\r\n\tb\r\n", cst.IndentedBlock, "b", "\r\n\tb\r\n", id="tabs and Windows newlines"),
        pytest.param("x = 'é😀', y\n", cst.Tuple, "'é😀', y", "'é😀', y", id="offsets count code points"),
        pytest.param("\x0cx = f()\n", cst.Call, "f()", "f()", id="a form feed, which LibCST forgets"),
        pytest.param(
            "if a:\n  b\n  \\\n  f()\n", cst.Call, "f()", "f()", id="a continued blank line, which it forgets"
        ),
    ],
)
def test_spans_cut_the_text_of_a_node(text: str, kind: type[cst.CSTNode], of: str, whole: str) -> None:
    module = cst.parse_module(text)
    spans = Spans(module, text)
    node = first(module, kind)

    assert text[slice(*spans.of(node))] == of
    assert text[slice(*spans.whole(node))] == whole


def test_the_leading_lines_belong_to_the_whole_statement() -> None:
    text = "a\n\n# c\nb  # d\n"
    module = cst.parse_module(text)
    spans = Spans(module, text)

    assert text[slice(*spans.of(module.body[1]))] == "b"
    assert text[slice(*spans.whole(module.body[1]))] == "\n# c\nb  # d\n"


@pytest.mark.parametrize("text", ["x = 2\n", "x = 1\ny\n", "", "x = 1"])
def test_another_text_than_the_modules_is_a_defect(text: str) -> None:
    with pytest.raises(Defect, match="does not render"):
        Spans(cst.parse_module("x = 1\n"), text)


def test_a_node_of_another_tree_is_a_defect() -> None:
    spans = Spans(cst.parse_module("x\n"), "x\n")

    with pytest.raises(Defect, match="a Name is asked for"):
        spans.of(cst.Name("x"))


def test_the_tree_lives_as_long_as_its_spans() -> None:
    text = "f(x)\n"
    module = cst.parse_module(text)
    spans = Spans(module, text)
    call = first(module, cst.Call)
    del module

    assert text[slice(*spans.of(call))] == "f(x)"
