"""Fixes of a run: which are made, what is reported, what happens when a file cannot be written."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from ddplint.config import Settings
from ddplint.engine.fix import Fixed, FixPolicy, fix, fixable_sources, patch, write
from ddplint.engine.outcomes import Report
from ddplint.engine.run import Linter, lint_files
from ddplint.errors import SourceError

HEAD = """
from ddplint.rulekit import Applicability, Edit, Fix, Found, Impact, Position, Rule
def rule(code, promise="SAFE", impact="SLOW"):
    return Rule(code, "name-" + code[3:], Impact[impact], "0.1.0", (), applicability=Applicability[promise])
def calls(script, name):
    return [Found(call, name) for call in script.calls if getattr(call.callee, "id", None) == name]
def renamed(found, edits, name, promise="SAFE"):
    return Fix(Applicability[promise], name, edits.replace(found.at.callee.node, name))
"""
PACK = {
    "safe": """
        RULE = rule("FIX101")
        def check(script, project): return calls(script, "old")
        def fix(found, edits): return renamed(found, edits, "new")
    """,
    "unsafe": """
        RULE = rule("FIX102", "UNSAFE")
        def check(script, project): return calls(script, "bold")
        def fix(found, edits): return renamed(found, edits, "bolder", "UNSAFE")
    """,
    "waking": """
        RULE = rule("FIX103")
        def check(script, project): return calls(script, "first")
        def fix(found, edits): return renamed(found, edits, "old")
    """,
    "stubborn": """
        RULE = rule("FIX104")
        def check(script, project): return calls(script, "same")
        def fix(found, edits): return renamed(found, edits, "same")
    """,
    "far": """
        RULE = rule("FIX105")
        def check(script, project): return calls(script, "far")
        def fix(found, edits):
            start, end = Position(1, 1), Position(1, 1)
            return Fix(Applicability.SAFE, "both files", (
                *edits.replace(found.at.callee.node, "near"), Edit("other.py", start, end, "import near\\n")))
    """,
}


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packs")
    package = folder / "fix_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name, code in PACK.items():
        (package / f"{name}.py").write_text(HEAD + textwrap.dedent(code))
    return folder


@pytest.fixture
def folder(tmp_path: Path, packs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(packs))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


def run(folder: Path, *names: str, unsafe: bool = False, **settings: Any) -> Fixed:
    """Lint and fix files of the folder, all of them unless some are named; nothing is written."""
    linter = Linter(Settings(plugins=("fix_rules",), select=("FIX",), root=folder, **settings))
    files = [Path(name) for name in names] or sorted(folder.glob("*.py"))
    report = Report(tuple(lint_files(linter, files, folder, jobs=1)))
    policy = FixPolicy.of(linter, unsafe)
    return fix(linter, report, policy, fixable_sources(report, policy))


def texts(fixed: Fixed) -> dict[str, str]:
    return {change.source.path: change.text for change in fixed.changes}


@pytest.mark.parametrize(
    ("code", "options", "after"),
    [
        pytest.param("old()\nbold()\n", {}, "new()\nbold()\n", id="safe fixes"),
        pytest.param("old()\nbold()\n", {"unsafe": True}, "new()\nbolder()\n", id="unsafe fixes too"),
        pytest.param("old()\nfirst()\n", {"fixable": ("FIX103",)}, "old()\nold()\n", id="only what is fixable"),
        pytest.param("old()\nfirst()\n", {"unfixable": ("name-103",)}, "new()\nfirst()\n", id="not what is unfixable"),
        pytest.param("first()\n", {}, "new()\n", id="a fix that wakes another rule"),
        pytest.param("same()\nold()\n", {}, "same()\nnew()\n", id="a fix that does not help is held back"),
    ],
)
def test_what_is_fixed(folder: Path, code: str, options: dict[str, Any], after: str) -> None:
    (folder / "a.py").write_text(code)
    assert texts(run(folder, **options)) == {"a.py": after}
    assert (folder / "a.py").read_text() == code


def test_the_report_says_what_remains_and_what_was_fixed(folder: Path) -> None:
    (folder / "a.py").write_text("old()\nbold()\n")
    (folder / "clean.py").write_text("x = 1\n")
    fixed = run(folder)
    assert [finding.code for finding in fixed.report.fixed] == ["FIX101"]
    assert [finding.code for finding in fixed.report.findings] == ["FIX102"]
    assert [outcome.path for outcome in fixed.report.linted] == ["a.py", "clean.py"]


def test_nothing_to_fix_is_the_report_as_it_was(folder: Path) -> None:
    (folder / "a.py").write_text("bold()\n")
    fixed = run(folder)
    assert (fixed.changes, fixed.report, patch(fixed)) == ((), fixed.before, b"")


def test_a_fix_that_does_not_help_is_a_defect(folder: Path) -> None:
    (folder / "a.py").write_text("same()\n")
    fixed = run(folder)
    assert fixed.changes == ()
    [defect] = fixed.report.defects
    assert (defect.rule, defect.path) == ("FIX104", "a.py")
    assert [finding.code for finding in fixed.report.findings] == ["FIX104"]
    assert fixed.report.exit_code() == 3


def test_a_fix_may_touch_a_file_that_was_not_linted(folder: Path) -> None:
    (folder / "a.py").write_text("far()\n")
    (folder / "other.py").write_text("x = 1\n")
    fixed = run(folder, "a.py")
    assert texts(fixed) == {"a.py": "near()\n", "other.py": "import near\nx = 1\n"}
    assert [outcome.path for outcome in write(fixed).linted] == ["a.py"]
    assert (folder / "other.py").read_text() == "import near\nx = 1\n"


def test_a_fix_that_touches_a_file_that_is_not_there_is_not_made(folder: Path) -> None:
    (folder / "a.py").write_text("far()\nold()\n")
    fixed = run(folder)
    assert texts(fixed) == {"a.py": "far()\nnew()\n"}
    assert [finding.code for finding in fixed.report.findings] == ["FIX105"]


def test_a_file_that_cannot_be_written_fails_and_keeps_its_findings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.py").write_text("old()\n")
    (folder / "b.py").write_text("old()\n")
    fixed = run(folder)

    def write_only_b(path: Path, data: bytes) -> None:
        if path.name != "b.py":
            raise SourceError("cannot be written: it is read-only")
        path.write_bytes(data)

    monkeypatch.setattr("ddplint.engine.fix.write_atomically", write_only_b)
    report = write(fixed)
    assert [(outcome.path, outcome.reason) for outcome in report.failed] == [
        ("a.py", "cannot be written: it is read-only")
    ]
    assert [finding.path for finding in report.findings] == ["a.py"]
    assert [finding.path for finding in report.fixed] == ["b.py"]
    assert report.exit_code() == 1


def test_a_patch_of_several_files_is_one_patch(folder: Path) -> None:
    (folder / "a.py").write_text("old()\n")
    (folder / "b.py").write_text("old()\n")
    assert patch(run(folder)).count(b"+new()\n") == 2
