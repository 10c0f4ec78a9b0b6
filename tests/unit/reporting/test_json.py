from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ddplint import __version__
from ddplint.engine.outcomes import Failed, Linted, Report, RuleDefect, Skipped
from ddplint.findings import Applicability, Confidence, Edit, Fix, Impact, Status, Verdict
from ddplint.reporting.json import render_json
from ddplint.reporting.rules_table import render_rules_json
from ddplint.source import Position
from tests.unit.reporting.builders import finding, fix, place, report, rule

DOCUMENT = Path(__file__).parents[3] / "docs" / "json.md"
EPOCH = finding(
    at=place("train.py", 41, (5, 32), "    for epoch in range(epochs):"),
    message="`sampler` shuffles, but nothing calls its set_epoch(): every epoch sees the same order.",
    related=(place("data.py", 12, (15, 40), note="sampler built here"),),
    fix=Fix(
        Applicability.SAFE,
        "Call sampler.set_epoch(epoch) at the top of the loop",
        (Edit("train.py", Position(42, 1), Position(42, 1), "        sampler.set_epoch(epoch)\n"),),
    ),
)
EXAMPLE = Report(
    (
        Linted("train.py", (EPOCH,)),
        Linted("launch.py", (), (RuleDefect("DDP401", "launch.py", "KeyError: 'port'"),)),
        Skipped("generated.py", "larger than 4 MB"),
        Failed("latin.py", "not UTF-8 at byte 17", ours=False),
    )
)


def rendered(run: Report) -> dict[str, Any]:
    content = json.loads(render_json(run))
    assert isinstance(content, dict)
    return content


def documented(heading: str) -> Any:
    """The JSON block under a heading of the documentation."""
    section = DOCUMENT.read_text("utf-8").split(f"\n## {heading}\n")[1]
    block = re.search(r"```json\n(.*?)\n```\n", section, re.DOTALL)
    assert block
    return json.loads(block[1]) | {"ddplint": __version__}


def test_the_example_of_the_documentation_is_what_comes_out() -> None:
    assert rendered(EXAMPLE) == documented("The report")


def test_the_example_of_the_rules_is_what_comes_out() -> None:
    shown = documented("The rules")
    assert json.loads(render_rules_json([rule(torch=(2, 4))])) == shown


def test_the_keys_are_those_of_version_1_in_their_order() -> None:
    content = rendered(EXAMPLE)
    assert list(content) == ["version", "ddplint", "findings", "files"]
    assert (content["version"], content["ddplint"]) == (1, __version__)
    assert list(content["findings"][0]) == [
        *("path", "line", "column", "end_line", "end_column", "code", "name", "message", "impact", "confidence"),
        *("related", "fix", "verdict"),
    ]
    assert list(content["files"]) == ["linted", "skipped", "failed"]


@pytest.mark.parametrize(
    ("run", "keys", "value"),
    [
        pytest.param(report(finding()), ("findings", 0, "fix"), None, id="no fix is null"),
        pytest.param(report(finding()), ("findings", 0, "verdict"), None, id="no verdict is null"),
        pytest.param(report(finding()), ("findings", 0, "related"), [], id="no related place is an empty list"),
        pytest.param(report(), ("findings",), [], id="no finding is an empty list"),
        pytest.param(
            report(finding(impact=Impact.HANG)), ("findings", 0, "impact"), "hang", id="an impact is its word"
        ),
        pytest.param(
            report(finding(confidence=Confidence.CERTAIN)),
            ("findings", 0, "confidence"),
            "certain",
            id="a confidence is its word",
        ),
        pytest.param(
            report(finding(fix=fix(Applicability.UNSAFE))),
            ("findings", 0, "fix"),
            {
                "applicability": "unsafe",
                "message": "Call set_epoch at the top of the loop",
                "edits": [
                    {
                        "path": "train.py",
                        "start": {"line": 5, "column": 1},
                        "end": {"line": 5, "column": 1},
                        "content": "    sampler.set_epoch(epoch)\n",
                    }
                ],
            },
            id="a fix is its edits, with points as line and column",
        ),
        pytest.param(
            report(finding(verdict=Verdict(Status.NOT_EXERCISED, "one epoch only", ("epoch 0",)))),
            ("findings", 0, "verdict"),
            {"status": "not_exercised", "summary": "one epoch only", "evidence": ["epoch 0"]},
            id="a verdict is its status, summary and evidence",
        ),
        pytest.param(
            report(others=(Failed("a.py", "the worker died", ours=True),)),
            ("files", "failed"),
            [{"path": "a.py", "rule": None, "reason": "the worker died", "defect": True}],
            id="a file that failed as a whole names no rule",
        ),
        pytest.param(
            report(finding(message="\x1b[31m训\x7f")),
            ("findings", 0, "message"),
            "\x1b[31m训\x7f",
            id="a message arrives as it was",
        ),
    ],
)
def test_values(run: Report, keys: tuple[str | int, ...], value: object) -> None:
    content: Any = rendered(run)
    for key in keys:
        content = content[key]
    assert content == value


def test_the_text_is_ascii_and_ends_with_a_newline() -> None:
    text = render_json(report(finding(message="\x1b[31m训\x7f\x9b")))
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert text.endswith("}\n")
