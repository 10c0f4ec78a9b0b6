"""The text of a rule, read: its docstring is the documentation, the examples and the tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ddplint.errors import PackError

SECTIONS = ("What it finds", "Why it matters", "Example", "Fix", "At run time", "References")
_HEADING = re.compile(r"^## (.+)$")
_FENCE = re.compile(r"^```python (bad|fixed|good)$")
_MARK = re.compile(r"#~ (DDP\d{3}(?: DDP\d{3})*)$")


class ExampleKind(Enum):
    """What a block of a rule's documentation shows."""

    BAD = "bad"
    FIXED = "fixed"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Example:
    """One code block of a rule's documentation; ``line`` is where it starts in the docstring, from 1."""

    kind: ExampleKind
    code: str
    line: int

    @property
    def marks(self) -> tuple[tuple[int, str], ...]:
        """The (line, code) pairs that the ``#~`` comments of this block announce."""
        return marks(self.code)


@dataclass(frozen=True, slots=True)
class Documentation:
    """A rule's docstring in parts. Empty when Python stripped the docstrings (``python -OO``)."""

    summary: str
    sections: Mapping[str, str]
    examples: tuple[Example, ...]


def marks(code: str) -> tuple[tuple[int, str], ...]:
    """Return the (line, code) pairs announced by ``#~ DDPnnn`` at the ends of lines; lines count from 1."""
    return tuple(
        (number, code_)
        for number, line in enumerate(code.split("\n"), 1)
        if (match := _MARK.search(line))
        for code_ in match[1].split()
    )


def without_marks(code: str) -> str:
    """Return the code as a user would write it, the ``#~`` comments taken off."""
    return "\n".join(_MARK.sub("", line).rstrip() if _MARK.search(line) else line for line in code.split("\n"))


def parse_documentation(docstring: str | None, where: str) -> Documentation:
    """Split a rule's docstring into summary, sections and examples.

    Raises PackError when a section is missing or empty, or an example contradicts its marks.
    """
    if docstring is None:
        return Documentation("", {}, ())
    summary, *_ = docstring.strip().split("\n", 1)
    sections = _sections(docstring)
    for name in SECTIONS:
        if not sections.get(name):
            raise PackError(f"{where}: the documentation has no section {name!r}")
    examples = _examples(docstring, where)
    if not any(example.kind is ExampleKind.BAD for example in examples):
        raise PackError(f"{where}: the documentation has no bad example")
    if not any(example.kind is ExampleKind.GOOD for example in examples):
        raise PackError(f"{where}: the documentation has no good example")
    return Documentation(summary.strip(), sections, examples)


def _sections(docstring: str) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    in_code = False
    for line in docstring.split("\n"):
        in_code ^= line.startswith("```")
        heading = None if in_code else _HEADING.match(line)
        if heading:
            lines = sections.setdefault(heading[1].strip(), [])
        else:
            lines.append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


def _examples(docstring: str, where: str) -> tuple[Example, ...]:
    examples = []
    lines = docstring.split("\n")
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        try:
            end = lines.index("```", number)
        except ValueError:
            raise PackError(f"{where}: a code block is not closed") from None
        example = Example(ExampleKind(fence[1]), "\n".join(lines[number:end]) + "\n", number + 1)
        if bool(example.marks) != (example.kind is ExampleKind.BAD):
            raise PackError(f"{where}: a {fence[1]} example {'without' if not example.marks else 'with'} a #~ mark")
        examples.append(example)
        number = end + 1
    return tuple(examples)
