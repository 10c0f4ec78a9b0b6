"""What holds for every report, whatever the linted files hold."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_sarif.model import (  # type: ignore[import-untyped]  # it ships no py.typed
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)

from ddplint.engine.outcomes import Failed, Linted, Report, RuleDefect, Skipped
from ddplint.findings import Applicability, Confidence, Edit, Finding, Fix, Impact, Place, Status, Verdict
from ddplint.reporting import render_statistics
from ddplint.reporting.github import render_github
from ddplint.reporting.json import render_json
from ddplint.reporting.sarif import render_sarif
from ddplint.reporting.text import render_text
from ddplint.source import Position
from tests.unit.reporting.builders import rule

SGR = re.compile(r"\x1b\[\d+m")
ACTING = (
    "\x1b[31mred",
    "\x9b2J",
    "a\r\n::error::b",
    "\u202edne",
    "\u2028",
    "\x00\x07\x08\x7f",
    "caf\udce9.py",
    "a,b:c%0A",
)
WILD = st.sampled_from(ACTING) | st.text(st.characters(), max_size=20)
TAME = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)  # what JSON can carry: no halves of a character


def positions() -> st.SearchStrategy[tuple[Position, Position]]:
    point = st.builds(Position, st.integers(1, 12), st.integers(1, 50))
    return st.tuples(point, point).map(lambda pair: (min(pair), max(pair)))


def places(text: st.SearchStrategy[str]) -> st.SearchStrategy[Place]:
    return st.builds(
        lambda path, span, line, note: Place(path, span[0], span[1], line, note), text, positions(), text, text
    )


def findings(text: st.SearchStrategy[str]) -> st.SearchStrategy[Finding]:
    edits = st.builds(lambda path, span, content: Edit(path, span[0], span[1], content), text, positions(), text)
    return st.builds(
        Finding,
        code=st.sampled_from(["DDP202", "DDP401"]) | text,
        name=text,
        impact=st.sampled_from(Impact),
        confidence=st.sampled_from(Confidence),
        message=text,
        place=places(text),
        statement=st.just((1, 1)),
        related=st.lists(places(text), max_size=2).map(tuple),
        fix=st.none()
        | st.builds(Fix, st.sampled_from(Applicability), text, st.lists(edits, min_size=1, max_size=3).map(tuple)),
        verdict=st.none() | st.builds(Verdict, st.sampled_from(Status), text, st.lists(text, max_size=2).map(tuple)),
    )


def reports(text: st.SearchStrategy[str]) -> st.SearchStrategy[Report]:
    defects = st.lists(st.builds(RuleDefect, text, text, text), max_size=2).map(tuple)
    linted = st.builds(Linted, text, st.lists(findings(text), max_size=3).map(tuple), defects)
    failed = st.builds(Failed, text, text, st.booleans())
    return st.lists(st.one_of(linted, st.builds(Skipped, text, text), failed), max_size=4).map(
        lambda outcomes: Report(tuple(outcomes))
    )


@settings(deadline=None)
@given(reports(WILD))
def test_text_holds_no_control_character_but_newlines(run: Report) -> None:
    assert render_text(run).replace("\n", "").isprintable()
    assert render_statistics(run).replace("\n", "").isprintable()


@settings(deadline=None)
@given(reports(WILD))
def test_colour_adds_colour_and_nothing_else(run: Report) -> None:
    assert SGR.sub("", render_text(run, color=True)) == render_text(run)
    assert SGR.sub("", render_statistics(run, color=True)) == render_statistics(run)


@settings(deadline=None)
@given(reports(WILD))
def test_every_line_for_github_is_one_command_without_control_characters(run: Report) -> None:
    lines = render_github(run).split("\n")
    assert lines.pop() == ""
    said = len(run.findings) + len(run.skipped) + len(run.failed) + len(run.defects)
    assert len(lines) == said
    assert all(re.match(r"::(error|warning|notice) file=[^,:]*,", line) and line.isprintable() for line in lines)


@settings(deadline=None)
@given(reports(TAME))
def test_the_schema_of_sarif_holds(run: Report) -> None:
    log = SarifLog.model_validate_json(render_sarif(run, [rule()]))
    assert len(log.runs[0].results) == len(run.findings)


@settings(deadline=None)
@given(reports(TAME))
def test_json_loses_nothing_of_a_finding_but_lines_of_code(run: Report) -> None:
    read = [_finding(content) for content in json.loads(render_json(run))["findings"]]
    assert read == [_as_json_knows_it(found) for found in run.findings]


def _as_json_knows_it(found: Finding) -> Finding:
    def bare(place: Place, note: str) -> Place:
        return Place(place.path, place.start, place.end, "", note)

    return Finding(
        *(found.code, found.name, found.impact, found.confidence, found.message, bare(found.place, ""), (1, 1)),
        *(tuple(bare(place, place.note) for place in found.related), found.fix, found.verdict),
    )


def _finding(content: Any) -> Finding:
    fix, verdict = content["fix"], content["verdict"]
    return Finding(
        *(
            content["code"],
            content["name"],
            Impact(content["impact"]),
            Confidence(content["confidence"]),
            content["message"],
        ),
        *(_place(content), (1, 1), tuple(map(_place, content["related"]))),
        fix and Fix(Applicability(fix["applicability"]), fix["message"], tuple(map(_edit, fix["edits"]))),
        verdict and Verdict(Status(verdict["status"]), verdict["summary"], tuple(verdict["evidence"])),
    )


def _place(content: Any) -> Place:
    start, end = Position(content["line"], content["column"]), Position(content["end_line"], content["end_column"])
    return Place(content["path"], start, end, "", "" if "code" in content else content["message"])


def _edit(content: Any) -> Edit:
    return Edit(content["path"], Position(**content["start"]), Position(**content["end"]), content["content"])
