from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_sarif.model import (  # type: ignore[import-untyped]  # it ships no py.typed
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)

from ddplint.engine.outcomes import Failed, Report, RuleDefect, Skipped
from ddplint.findings import Applicability, Edit, Fix, Impact, Place, Status, Verdict
from ddplint.reporting.sarif import render_sarif
from ddplint.source import Position
from tests.unit.reporting.builders import finding, fix, place, report, rule

RULES = (
    rule(),
    rule("DDP401", "hardcoded-port", Impact.CRASH, documentation=None),
    rule("DDP601", "print-every-rank", Impact.NOISE),
)
EVERYTHING = report(
    finding(fix=fix(), related=(place("data.py", 12, note="sampler built here"),)),
    finding("DDP401", "hardcoded-port", Impact.CRASH, verdict=Verdict(Status.CONFIRMED, "in use", ("rank 0",))),
    finding("DDP999", "of-another-pack", Impact.SLOW, at=place("/tmp/a b.py")),
    others=(Skipped("big.py", "larger than 4 MB"), Failed("latin.py", "not UTF-8", ours=False)),
    defects=(RuleDefect("DDP401", "a.py", "KeyError: 'x'"),),
)


def run_of(outcome: Report) -> dict[str, Any]:
    """The only run of the log, after a reader that knows the schema took it without complaint."""
    text = render_sarif(outcome, RULES)
    SarifLog.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    assert isinstance(run, dict)
    return run


def at(content: Any, *keys: str | int) -> Any:
    for key in keys:
        content = content[key]
    return content


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(EVERYTHING, id="a run with one of everything"),
        pytest.param(report(), id="a clean run"),
        pytest.param(Report(()), id="a run without files"),
    ],
)
def test_a_reader_that_knows_the_schema_takes_the_log(outcome: Report) -> None:
    log = SarifLog.model_validate_json(render_sarif(outcome, RULES))
    assert log.version.value == "2.1.0"
    assert len(log.runs[0].results) == len(outcome.findings)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        pytest.param(("columnKind",), "unicodeCodePoints", id="columns count code points"),
        pytest.param(("results", 1, "ruleId"), "DDP202", id="a result names its rule"),
        pytest.param(("results", 1, "ruleIndex"), 0, id="a result points to its rule"),
        pytest.param(("results", 0, "ruleIndex"), -1, id="a rule that is not listed has no index"),
        pytest.param(("results", 1, "level"), "error", id="wrong numbers are an error"),
        pytest.param(
            ("results", 1, "locations", 0, "physicalLocation", "region"),
            {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 6},
            id="a place is a region whose end is not part of it",
        ),
        pytest.param(
            ("results", 1, "relatedLocations", 0, "message", "text"),
            "sampler built here",
            id="a related place says what it is",
        ),
        pytest.param(
            ("results", 1, "properties"),
            {"impact": "wrong", "confidence": "likely", "applicability": "safe"},
            id="what SARIF has no word for",
        ),
        pytest.param(
            ("results", 2, "properties", "verdict"),
            {"status": "confirmed", "summary": "in use", "evidence": ["rank 0"]},
            id="a verdict is a property",
        ),
        pytest.param(("tool", "driver", "rules", 0, "name"), "MissingSetEpoch", id="a rule has a name"),
        pytest.param(("tool", "driver", "rules", 2, "defaultConfiguration", "level"), "note", id="a rule has a level"),
        pytest.param(
            ("tool", "driver", "rules", 0, "shortDescription", "text"),
            "The sampler deals the same order in every epoch.",
            id="a rule has a summary",
        ),
        pytest.param(("invocations", 0, "executionSuccessful"), False, id="a rule defect makes the run a failure"),
    ],
)
def test_values(keys: tuple[str | int, ...], value: object) -> None:
    assert at(run_of(EVERYTHING), *keys) == value


def test_the_help_of_a_rule_is_markdown_with_labelled_examples() -> None:
    markdown = at(run_of(report()), "tool", "driver", "rules", 0, "help", "markdown")
    assert (
        "## Example\n\n**Bad**\n\n```python\nfor epoch in range(9):\n    train(loader)\n```\n\nThen:\n\n**Fixed**"
        in markdown
    )
    assert "#~" not in markdown


def test_a_rule_without_documentation_has_no_help() -> None:
    assert sorted(at(run_of(report()), "tool", "driver", "rules", 1)) == [
        "defaultConfiguration",
        "id",
        "name",
        "properties",
    ]


def test_files_that_were_not_linted_and_defects_are_notifications() -> None:
    told = at(run_of(EVERYTHING), "invocations", 0, "toolExecutionNotifications")
    assert [(one["level"], one["message"]["text"], one.get("associatedRule")) for one in told] == [
        ("error", "This file could not be linted: not UTF-8", None),
        ("note", "This file was skipped: larger than 4 MB", None),
        ("error", "Rule DDP401 broke its promise: KeyError: 'x'", {"id": "DDP401"}),
    ]


@pytest.mark.parametrize(
    ("outcome", "successful"),
    [
        pytest.param(report(finding()), True, id="findings are no failure of the run"),
        pytest.param(
            report(others=(Failed("a.py", "not UTF-8", ours=False),)), True, id="nor is a file that cannot be read"
        ),
        pytest.param(report(others=(Failed("a.py", "the worker died", ours=True),)), False, id="a dead worker is"),
    ],
)
def test_whether_the_run_succeeded(outcome: Report, successful: bool) -> None:
    assert at(run_of(outcome), "invocations", 0, "executionSuccessful") is successful


@pytest.mark.parametrize(
    ("path", "artifact"),
    [
        pytest.param(
            "src/train.py", {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"}, id="below the working directory"
        ),
        pytest.param(
            "a b/c:d%.py",
            {"uri": "a%20b/c%3Ad%25.py", "uriBaseId": "%SRCROOT%"},
            id="with characters that a URI reserves",
        ),
        pytest.param("训.py", {"uri": "%E8%AE%AD.py", "uriBaseId": "%SRCROOT%"}, id="with letters beyond ASCII"),
        pytest.param("caf\udce9.py", {"uri": "caf%E9.py", "uriBaseId": "%SRCROOT%"}, id="with a byte that is no UTF-8"),
        pytest.param("/tmp/a b.py", {"uri": "file:///tmp/a%20b.py"}, id="elsewhere"),
        pytest.param("D:/x/train.py", {"uri": "file:///D:/x/train.py"}, id="elsewhere on Windows"),
    ],
)
def test_paths_are_uris(path: str, artifact: dict[str, str]) -> None:
    run = run_of(report(finding(at=place(path))))
    assert at(run, "results", 0, "locations", 0, "physicalLocation", "artifactLocation") == artifact


def test_a_fix_changes_each_file_once_and_removes_or_inserts() -> None:
    def edit(path: str, start: tuple[int, int], end: tuple[int, int], content: str) -> Edit:
        return Edit(path, Position(*start), Position(*end), content)

    edits = (edit("b.py", (2, 1), (3, 1), ""), edit("a.py", (9, 1), (9, 1), "x\n"), edit("a.py", (1, 2), (1, 5), "y"))
    (change,) = at(run_of(report(finding(fix=Fix(Applicability.UNSAFE, "Do it", edits)))), "results", 0, "fixes")
    assert change["description"] == {"text": "Do it"}
    assert [(one["artifactLocation"]["uri"], one["replacements"]) for one in change["artifactChanges"]] == [
        (
            "a.py",
            [
                {
                    "deletedRegion": {"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 5},
                    "insertedContent": {"text": "y"},
                },
                {
                    "deletedRegion": {"startLine": 9, "startColumn": 1, "endLine": 9, "endColumn": 1},
                    "insertedContent": {"text": "x\n"},
                },
            ],
        ),
        ("b.py", [{"deletedRegion": {"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 1}}]),
    ]


def test_a_message_cannot_carry_escape_sequences_to_the_reader() -> None:
    region = Place("train.py", Position(4, 1), Position(4, 2))
    run = run_of(report(finding(message="\x1b[2Jgone\nnext", at=region, related=(place(note="\x07"),))))
    assert at(run, "results", 0, "message", "text") == "\\x1b[2Jgone\nnext"
    assert at(run, "results", 0, "relatedLocations", 0, "message", "text") == "\\x07"
