"""Changes to a file that change nothing of what it does. Marks at the ends of lines move with their lines."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Iterator, Sequence

_DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What a statement that goes into a helper must not hold.
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
_BINDING = (ast.Lambda, ast.NamedExpr, ast.comprehension, ast.Delete, ast.AugAssign, ast.FunctionDef, ast.With)
_OPEN = (*_LEAVING, *_BINDING)


def ends_of_statements(text: str) -> list[int]:
    """Return the lines, from 1, after which blank lines can stand."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted({token.start[0] for token in tokens if token.type == tokenize.NEWLINE})


def ends_of_outer_statements(text: str) -> list[int]:
    """Return the lines, from 1, after which a statement can stand at the outermost level."""
    return sorted({statement.end_lineno or statement.lineno for statement in ast.parse(text).body})


def with_unrelated_statements(text: str, after: Sequence[int]) -> str:
    """Return the text with a comment and a statement that nobody needs after each of the given lines."""
    lines = text.splitlines(keepends=True)
    unrelated = "# nobody needs this\nunrelated_number = len([1, 2, 3])\n"
    return "".join(line + unrelated * (number in after) for number, line in enumerate(lines, 1))


def parses(text: str) -> bool:
    """Whether this Python reads a text."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def with_blank_lines(text: str, after: Sequence[int], count: int) -> str:
    """Return the text with ``count`` blank lines after each of the given lines."""
    lines = text.splitlines(keepends=True)
    return "".join(line + "\n" * count * (number in after) for number, line in enumerate(lines, 1))


def import_blocks(text: str) -> list[tuple[int, int]]:
    """Return first and last line of each import at the top of the file, those from ``__future__`` left out."""
    blocks = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import) or (
            isinstance(statement, ast.ImportFrom) and statement.module != "__future__"
        ):
            blocks.append((statement.lineno, statement.end_lineno or statement.lineno))
        elif blocks:
            break
    # Statements that share a line cannot change places.
    return blocks if all(one[1] < two[0] for one, two in itertools.pairwise(blocks)) else []


def with_imports_in_order(text: str, order: Sequence[int]) -> str:
    """Return the text with its first imports in another order: ``order`` holds their numbers."""
    lines = text.splitlines(keepends=True)
    blocks = import_blocks(text)
    moved = []
    done = 0
    for (first, last), number in zip(blocks, order, strict=True):
        source_first, source_last = blocks[number]
        moved += lines[done : first - 1] + lines[source_first - 1 : source_last]
        done = last
    return "".join(moved + lines[done:])


def renameable(text: str) -> list[str]:
    """Return the variables that are only ever assigned: no parameters, imports, attributes of classes or globals."""
    tree = ast.parse(text)
    assigned = {node.id for node in _names(tree) if isinstance(node.ctx, ast.Store)}
    return sorted(assigned - set(_bound_otherwise(tree)))


def with_name(text: str, old: str, new: str) -> str:
    """Return the text with a variable renamed everywhere."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    places = [(node.lineno, node.col_offset) for node in _names(ast.parse(text)) if node.id == old]
    for line, column in sorted(places, reverse=True):
        before, after = lines[line - 1][:column], lines[line - 1][column + len(old.encode()) :]
        lines[line - 1] = before + new.encode() + after
    return b"".join(lines).decode()


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def _bound_otherwise(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield node.name
            yield from (name.id for statement in node.body for name in _names(statement))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.JoinedStr):
            yield from (name.id for name in _names(node))  # before Python 3.12 these have no place


def in_a_function(text: str) -> str | None:
    """Return the text with its outermost statements, but imports and definitions, in a function that it calls.

    None where definitions read a variable that would be the function's own, or an import comes late.
    """
    tree = ast.parse(text)
    kept = [statement for statement in tree.body if isinstance(statement, _DEFINING)]
    moved = [statement for statement in tree.body if not isinstance(statement, _DEFINING) and not _is_text(statement)]
    imports = [statement.lineno for statement in kept if isinstance(statement, ast.Import | ast.ImportFrom)]
    own = {node.id for statement in moved for node in _names(statement) if isinstance(node.ctx, ast.Store)}
    needed = {node.id for statement in kept for node in _names(statement)}
    late = any(lineno > statement.lineno for lineno in imports for statement in moved)
    shared = any(one.end_lineno == two.lineno for one, two in itertools.pairwise(tree.body))
    if not moved or late or shared or own & needed or any(isinstance(node, ast.Global) for node in ast.walk(tree)):
        return None
    lines = text.splitlines(keepends=True)
    places = [range(statement.lineno - 1, statement.end_lineno or statement.lineno) for statement in moved]
    taken = {number for place in places for number in place}
    inside = "".join(_indented(lines, place, text) for place in places)
    return "".join(line for number, line in enumerate(lines) if number not in taken) + (
        f"\n\ndef whole_script():\n{inside}\n\nwhole_script()\n"
    )


def extractable(text: str) -> list[int]:
    """Return the first lines of the statements of functions that can be put into a helper of their own."""
    tree = ast.parse(text)
    return [
        statement.lineno
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and not function.decorator_list
        for statement in _statements(function)
        if isinstance(statement, ast.Expr | ast.Assign | ast.For | ast.If) and _is_closed(statement)
    ]


def with_helper(text: str, lineno: int) -> str:
    """Return the text with the statement that begins at a line of a function in a helper that is called there."""
    tree = ast.parse(text)
    functions = [function for function in tree.body if isinstance(function, ast.FunctionDef)]
    function = next(one for one in functions if one.lineno < lineno <= (one.end_lineno or lineno))
    statement = next(one for one in _statements(function) if one.lineno == lineno)
    local = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)} | _stored(function)
    read = {node.id for node in _names(statement) if isinstance(node.ctx, ast.Load)}
    given = sorted(read & local & (_stored(function, before=statement) | _parameters(function)))
    made = sorted(_stored(statement))
    lines = text.splitlines(keepends=True)
    place = range(lineno - 1, statement.end_lineno or lineno)
    indent = " " * statement.col_offset
    call = f"extracted({', '.join(given)})"
    body = "".join(lines[number][statement.col_offset - 4 :] for number in place)
    helper = (
        f"def extracted({', '.join(given)}):\n{body}" + (f"    return {', '.join(made)}\n" if made else "") + "\n\n"
    )
    replaced = [f"{indent}{', '.join(made)} = {call}\n" if made else f"{indent}{call}\n"]
    start = function.lineno - 1
    return "".join([*lines[:start], helper, *lines[start : lineno - 1], *replaced, *lines[place.stop :]])


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _indented(lines: Sequence[str], place: range, text: str) -> str:
    """Return lines with one more level; those that a string goes on in stay as they are."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    inner = {
        number for token in tokens if "\n" in token.string for number in range(token.start[0] + 1, token.end[0] + 1)
    }
    return "".join(lines[number] if number + 1 in inner else "    " + lines[number] for number in place)


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Yield the statements of a function in any of its blocks, but for those that share lines with others."""
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop()
        for block in ("body", "orelse"):
            statements = getattr(node, block, [])
            for statement in statements if isinstance(statements, list) else ():
                if statement.lineno > getattr(node, "lineno", 0):
                    yield statement
                    pending.append(statement)


def _is_closed(statement: ast.stmt) -> bool:
    """Whether a statement neither leaves what is around it nor binds a name on some ways only."""
    bare = not isinstance(statement, ast.For | ast.If) or not _stored(statement)
    strings = any(isinstance(node, ast.Constant) and "\n" in str(node.value) for node in ast.walk(statement))
    return bare and not strings and not any(isinstance(node, _OPEN) for node in ast.walk(statement))


def _stored(inside: ast.AST, before: ast.stmt | None = None) -> set[str]:
    stores = (node for node in _names(inside) if isinstance(node.ctx, ast.Store))
    return {node.id for node in stores if before is None or node.lineno < before.lineno}


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
