"""The primitives do to the text what their names say to the syntax tree, and lose no comment on the way."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator

import libcst as cst
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ddplint.edits import Editor
from ddplint.edits.page import descendants
from ddplint.findings import Edit
from ddplint.fixes import apply
from ddplint.source import SourceFile
from ddplint.source.spans import Spans
from tests.properties.scripts import calls, scripts

NEW = ["if n:", "    m = (1,", "      2)"]

EditsOf = Callable[[Editor, cst.CSTNode], tuple[Edit, ...]]
Change = Callable[[list[ast.stmt], int], None]


class Script:
    """A text with the statements of both of its trees, in the order in which they stand."""

    def __init__(self, text: str) -> None:
        self.source = SourceFile("train.py", text)
        module = cst.parse_module(text)
        spans = Spans(module, text)
        self.editor = Editor(self.source, module, spans)
        self.tree = ast.parse(text)
        nodes = list(descendants(module))
        kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
        self.nodes = sorted((node for node in nodes if isinstance(node, kinds)), key=spans.of)
        stmts = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        self.stmts = sorted(stmts, key=lambda stmt: (stmt.lineno, stmt.col_offset))
        self.elifs = [node.orelse for node in nodes if isinstance(node, cst.If) and isinstance(node.orelse, cst.If)]
        self.calls = [node for node in nodes if isinstance(node, cst.Call)]

    def block_of(self, number: int) -> tuple[list[ast.stmt], int]:
        """The list that holds a statement, and its index there."""
        stmt = self.stmts[number]
        return next(
            (block, index) for block in _blocks(self.tree) for index, other in enumerate(block) if other is stmt
        )

    def call(self) -> tuple[cst.Call, ast.Call]:
        """The call of ``f``."""
        node = next(call for call in self.calls if isinstance(call.func, cst.Name) and call.func.value == "f")
        trees = [call for call in ast.walk(self.tree) if isinstance(call, ast.Call)]
        return node, next(call for call in trees if isinstance(call.func, ast.Name) and call.func.id == "f")

    def after(self, edits: tuple[Edit, ...]) -> str:
        return apply(self.source, edits)


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def _keeps_newlines(before: str, after: str) -> bool:
    return "\n" not in after.replace("\r\n", "") if "\r\n" in before else "\r" not in after


def _new() -> ast.stmt:
    return ast.parse("\n".join(NEW)).body[0]


def _insert_before(block: list[ast.stmt], index: int) -> None:
    block.insert(index, _new())


def _insert_after(block: list[ast.stmt], index: int) -> None:
    block.insert(index + 1, _new())


def _insert_first(block: list[ast.stmt], index: int) -> None:
    owner = block[index]
    inner: list[ast.stmt] = owner.body  # type: ignore[attr-defined]  # chosen because it has a body
    documented = isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(owner)
    inner.insert(1 if documented else 0, _new())


def _guard(block: list[ast.stmt], index: int) -> None:
    block[index] = ast.If(ast.Name("rank", ast.Load()), [block[index]], [])


STATEMENT_PRIMITIVES: list[tuple[EditsOf, Change]] = [
    (lambda editor, node: editor.insert_statements_before(node, NEW), _insert_before),
    (lambda editor, node: editor.insert_statements_after(node, NEW), _insert_after),
    (lambda editor, node: editor.insert_first_in_block(node, NEW), _insert_first),
    (lambda editor, node: editor.guard_statement(node, "if rank:"), _guard),
]


@settings(max_examples=100, deadline=None)
@given(text=scripts(), choice=st.integers(0, 1000), primitive=st.sampled_from(STATEMENT_PRIMITIVES))
def test_statements_are_inserted_and_guarded_as_in_the_tree(
    text: str, choice: int, primitive: tuple[EditsOf, Change]
) -> None:
    script, (edits_of, change) = Script(text), primitive
    number = choice % len(script.nodes)
    assume(script.nodes[number] not in script.elifs)
    assume(change is not _insert_first or hasattr(script.stmts[number], "body"))
    result = script.after(edits_of(script.editor, script.nodes[number]))
    change(*script.block_of(number))
    assert ast.dump(ast.parse(result)) == ast.dump(script.tree)
    assert _comments(result) == _comments(text)
    assert _keeps_newlines(text, result)


@settings(max_examples=60, deadline=None)
@given(text=scripts(), choice=st.integers(0, 1000))
def test_a_removed_statement_is_gone_and_nothing_else(text: str, choice: int) -> None:
    script = Script(text)
    number = choice % len(script.nodes)
    assume(script.nodes[number] not in script.elifs)
    result = script.after(script.editor.remove_statement(script.nodes[number]))
    block, index = script.block_of(number)
    block[index : index + 1] = [] if len(block) > 1 or block is script.tree.body else [ast.Pass()]
    assert ast.dump(ast.parse(result)) == ast.dump(script.tree)
    assert _comments(result) <= _comments(text)
    assert _keeps_newlines(text, result)


@settings(max_examples=100, deadline=None)
@given(text=calls(), new=st.sampled_from(["n=[\n1]", "n", "**n"]), first=st.booleans())
def test_an_argument_is_inserted_where_its_kind_may_stand(text: str, new: str, first: bool) -> None:
    script = Script(text)
    node, call = script.call()
    first = first and new == "n"
    result = script.after(script.editor.insert_argument(node, new, first=first))
    added = ast.parse(f"f({new})", mode="eval").body
    assert isinstance(added, ast.Call)
    call.args[0 if first else len(call.args) :] = added.args + (call.args if first else [])
    plain = [keyword for keyword in call.keywords if keyword.arg is not None]
    stars = [keyword for keyword in call.keywords if keyword.arg is None]
    call.keywords = [*plain, *stars, *added.keywords] if new == "**n" else [*plain, *added.keywords, *stars]
    assert ast.dump(ast.parse(result)) == ast.dump(script.tree)
    assert _comments(result) == _comments(text)
    assert _keeps_newlines(text, result)


@settings(max_examples=100, deadline=None)
@given(text=calls(), choice=st.integers(0, 1000))
def test_a_removed_argument_is_gone_and_nothing_else(text: str, choice: int) -> None:
    script = Script(text)
    node, call = script.call()
    assume(node.args)
    number = choice % len(node.args)
    result = script.after(script.editor.remove_argument(node, node.args[number]))
    if number < len(call.args):
        del call.args[number]
    else:
        del call.keywords[number - len(call.args)]
    assert ast.dump(ast.parse(result)) == ast.dump(script.tree)
    # The comments behind the argument and behind its comma may go with it.
    assert (_comments(text) - _comments(result)).total() <= 2
    assert _comments(result) <= _comments(text)
