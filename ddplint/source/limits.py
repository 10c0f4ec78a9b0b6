"""Why some bytes are not given to the parser.

LibCST overflows the stack of the process, which kills it, on some thousand nested brackets or ``elif`` branches. Its
time grows with the square of the length of a sum or a chain of calls, and fourfold with each level of a nested pattern.
Its trees are walked by recursion. A megabyte of code costs it some ten seconds and more than a gigabyte of memory.
No limit here is near what people write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, islice

from ddplint.source.scan import COMMENT, STRING

LARGEST_MEGABYTES = 2
MOST_BRACKETS = 100
MOST_BRACES = 1000
MOST_PATTERNS = 8
MOST_LINKS = 500
MOST_BRANCHES = 500

_LINK_WORDS = ("and", "await", "for", "if", "lambda", "not", "or")
# A newline takes a word with it that only a statement starts with. Every alternative starts with a literal character,
# which lets the search leap to the next of them: a word's left edge is looked at behind it.
_TOKEN = re.compile(
    " | ".join(
        (
            *(re.escape(character) for character in "()[]{},;:.+-%@&|^~"),
            *(r"\* \*?", r"/ /?", r"<<", r">>"),
            *(rf"{word} \b (?<! \w{word} )" for word in _LINK_WORDS),
            # The soft keyword, unless it is somebody's variable.
            r"case \b (?<! \wcase ) (?! [ \t]* [=.] )",
            r"\n (?: [ \t]* (?: class | def | import | return ) \b )?",
            r"\\ \r? \n",
            STRING,
            COMMENT,
        )
    ),
    re.VERBOSE | re.DOTALL,
)
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_BRANCH = re.compile(r"^([ \t]*)(if|elif)\b", re.MULTILINE)


def refusal(data: bytes) -> str | None:
    """Return why these bytes are not parsed, in one line, or None when they are."""
    if len(data) > LARGEST_MEGABYTES * 1_000_000:
        return f"larger than {LARGEST_MEGABYTES} MB"
    # What counts here is ASCII in every encoding of source files.
    text = data.decode("latin-1")
    tokens = _TOKEN.findall(text)
    problem = _deep_expression(tokens) or (_deep_pattern(tokens) if "case" in tokens else None)
    if problem is None:
        return _many_branches(text) if text.count("elif") > MOST_BRANCHES else None
    number, reason = problem
    start = next(islice(_TOKEN.finditer(text), number, None)).start()
    return f"line {text.count(chr(10), 0, start) + 1}: {reason}"


def _deep_expression(tokens: Sequence[str]) -> tuple[int, str] | None:
    """The first token below which the tree gets too deep, and why.

    What makes it deep are brackets and the links of the chains around and between them: operators, attributes, calls,
    strings side by side.
    """
    links = 0
    links_outside: list[int] = []
    for number, token in enumerate(tokens):
        first = token[0]
        if first in _CLOSING:
            links = links_outside.pop() if links_outside else 0
        elif first in ",;":
            links = links_outside[-1] if links_outside else 0
        elif first == "\n":
            if len(token) > 1:
                # A statement starts here: what is still open will never be closed.
                links_outside.clear()
            links = links if links_outside else 0
        elif first not in ":#\\":
            links += 1
            if links > MOST_LINKS:
                return number, f"a chain of more than {MOST_LINKS} operators, calls or strings"
            if first in _OPENING:
                links_outside.append(links)
                if len(links_outside) > MOST_BRACKETS:
                    return number, f"brackets nested more than {MOST_BRACKETS} deep"
            elif first in "\"'" and _depth_of_braces(token) > MOST_BRACES:
                return number, f"braces nested more than {MOST_BRACES} deep"
    return None


def _deep_pattern(tokens: Sequence[str]) -> tuple[int, str] | None:
    """The first token of a ``case`` below which its pattern gets too deep, and why."""
    depth = 0
    in_pattern = False
    for number, token in enumerate(tokens):
        first = token[0]
        if token == "case" and tokens[number - 1][0] == "\n":
            depth = 0
            in_pattern = True
        elif first in _OPENING:
            depth += 1
            if in_pattern and depth > MOST_PATTERNS:
                return number, f"patterns nested more than {MOST_PATTERNS} deep"
        elif first in _CLOSING:
            depth -= 1
        elif first == ":" and depth == 0:
            in_pattern = False
    return None


def _many_branches(text: str) -> str | None:
    """Why one of the ``if`` statements has too many branches, if one has."""
    branches: dict[str, int] = {}
    for indent, word in _BRANCH.findall(text):
        branches[indent] = branches.get(indent, 0) + 1 if word == "elif" else 0
        if branches[indent] > MOST_BRANCHES:
            return f"more than {MOST_BRANCHES} elif branches of one if"
    return None


def _depth_of_braces(text: str) -> int:
    """How deep the braces of a string are nested, which in an f-string is code."""
    if text.count("{") <= MOST_BRACES:
        return 0
    steps = ((character == "{") - (character == "}") for character in text)
    return max(accumulate(steps))
