"""The documentation of a rule, cut into headings, text and code, and as Markdown that every viewer understands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ddplint.rulekit.documentation import Documentation, without_marks

_FENCE = "```"


class BlockKind(Enum):
    """What a block of a documentation is."""

    HEADING = "heading"
    TEXT = "text"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a stretch of text, or code with its language and what it shows ("Bad", "Fixed", "Good" or nothing)."""

    kind: BlockKind
    text: str
    language: str = ""
    label: str = ""


def documentation_blocks(documentation: Documentation) -> Iterator[Block]:
    """Yield the sections of a rule's documentation as blocks; nothing when the docstrings were stripped."""
    for heading, text in documentation.sections.items():
        yield Block(BlockKind.HEADING, heading)
        yield from _blocks(text)


def documentation_markdown(documentation: Documentation) -> str:
    """Return a rule's documentation as plain Markdown: summary, sections, examples under a label each."""
    parts = [documentation.summary, *map(_markdown, documentation_blocks(documentation))]
    return "\n\n".join(part for part in parts if part)


def _markdown(block: Block) -> str:
    if block.kind is BlockKind.HEADING:
        return f"## {block.text}"
    if block.kind is BlockKind.TEXT:
        return block.text
    label = f"**{block.label}**\n\n" if block.label else ""
    return f"{label}{_FENCE}{block.language}\n{block.text}\n{_FENCE}"


def _blocks(markdown: str) -> Iterator[Block]:
    lines: list[str] = []
    fence: str | None = None  # what follows the backticks of the block that is open
    for line in markdown.split("\n"):
        if not line.startswith(_FENCE):
            lines.append(line)
            continue
        yield from _block(lines, fence)
        lines, fence = [], (line.removeprefix(_FENCE) if fence is None else None)
    yield from _block(lines, fence)


def _block(lines: list[str], fence: str | None) -> Iterator[Block]:
    if fence is None:
        text = "\n".join(lines).strip("\n")
        if text.strip():
            yield Block(BlockKind.TEXT, text)
        return
    language, _, label = fence.strip().partition(" ")
    yield Block(BlockKind.CODE, without_marks("\n".join(lines)), language, label.capitalize())
