"""A linter that is small enough to see through: each toy rule looks for a word and may write another in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Place
from ddplint.fixes import Settled, settle
from ddplint.source import SourceFile


@dataclass(frozen=True)
class Toy:
    """Finds every match of a pattern.

    ``write`` replaces the match, ``above`` is a line that goes to the top of the file, ``elsewhere`` makes the fix
    replace a word in another file too.
    """

    code: str
    pattern: str
    write: str | None = None
    impact: Impact = Impact.NOISE
    above: str = ""
    elsewhere: tuple[str, str, str] | None = None
    message: str = "do not write this"

    def findings(self, source: SourceFile, sources: Mapping[str, SourceFile]) -> Iterable[Finding]:
        for match in re.finditer(self.pattern, source.text):
            start, end = source.position(match.start()), source.position(match.end())
            place = Place(source.path, start, end, source.line(start.line))
            message = self.message.format(line=start.line)
            yield Finding(
                self.code,
                "toy",
                self.impact,
                Confidence.CERTAIN,
                message,
                place,
                (start.line, end.line),
                fix=self._fix(place, sources),
            )

    def _fix(self, place: Place, sources: Mapping[str, SourceFile]) -> Fix | None:
        if self.write is None:
            return None
        edits = [Edit(place.path, place.start, place.end, self.write)]
        if self.above:
            top = sources[place.path].position(0)
            edits.append(Edit(place.path, top, top, self.above))
        if self.elsewhere is not None:
            path, old, new = self.elsewhere
            edits += [word_edit(sources[path], old, new)] if old in sources[path].text else []
        return Fix(Applicability.SAFE, "write another", tuple(edits))


@dataclass
class ToyLint:
    """Lints with toy rules and remembers which files it was handed; files with ``drop`` in them it cannot lint."""

    rules: tuple[Toy, ...]
    calls: list[dict[str, str]] = field(default_factory=list)

    def __call__(self, sources: Mapping[str, SourceFile]) -> dict[str, list[Finding]]:
        self.calls.append({path: source.text for path, source in sources.items()})
        return {
            path: [finding for rule in self.rules for finding in rule.findings(source, sources)]
            for path, source in sources.items()
            if "drop" not in source.text
        }


def word_edit(source: SourceFile, old: str, new: str) -> Edit:
    """Replace the first occurrence of a word."""
    start = source.text.index(old)
    return Edit(source.path, source.position(start), source.position(start + len(old)), new)


def settle_toys(texts: dict[str, str], *rules: Toy, encoding: str = "utf-8") -> Settled:
    sources = {path: SourceFile(path, text, encoding) for path, text in texts.items()}
    return settle(sources, ToyLint(rules), lambda _: True)
