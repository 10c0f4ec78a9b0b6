"""Changes to a file that change nothing of what it does. Marks at the ends of lines move with their lines."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Iterator, Sequence


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
