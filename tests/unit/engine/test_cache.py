"""What earlier runs found, kept for as long as it holds and not longer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from ddplint.config import Settings
from ddplint.engine.cache import FOLDER, OutcomeCache, clean
from ddplint.engine.cache.records import from_record, to_record
from ddplint.engine.gate import Assignment
from ddplint.engine.outcomes import Linted, Outcome
from ddplint.engine.run import Linter, lint_files
from ddplint.errors import PathError
from ddplint.findings import Finding
from tests.unit.reporting.test_laws import WILD, findings

RULE = """
from ddplint.rulekit import Found, Impact, Rule
RULE = Rule("KEP101", "kept-name", Impact.SLOW, "0.1.0", ("found",))
def check(script, project):
    for call in script.calls:
        if call.callee.id == "found":
            yield Found(call, "found")
        if call.callee.id == "broken":
            raise ValueError("broken")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "packs" / "kept_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "kept_name.py").write_text(RULE)
    monkeypatch.syspath_prepend(str(package.parent))
    for name in ("kept_rules", "kept_rules.kept_name"):  # of the test before
        monkeypatch.delitem(sys.modules, name, raising=False)
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "setup.py").write_text("")
    (folder / "alone.py").write_text("found()\n")
    (folder / "main.py").write_text("import helper\nfound()\nfound()\n")
    (folder / "helper.py").write_text("import base\n")
    (folder / "base.py").write_text("x = 1\n")
    return folder


class NotingLinter(Linter):
    """Knows which files it was asked about."""

    asked: set[str]

    def assign(self, path: Path, shown: str, data: bytes) -> Assignment:
        self.asked.add(shown)
        return super().assign(path, shown, data)


class Run:
    """One run over a folder: what it found, and which files it really looked at."""

    def __init__(self, folder: Path, **options: object) -> None:
        linter = NotingLinter(a_settings(folder).with_options(**options))
        self.asked = linter.asked = set()
        outcomes = lint_files(linter, sorted(folder.glob("*.py")), folder, 1, cache=OutcomeCache(linter, folder))
        self.outcomes = sorted(outcomes, key=lambda outcome: outcome.path)
        linted = [outcome for outcome in self.outcomes if isinstance(outcome, Linted)]
        self.found = {outcome.path: len(outcome.findings) for outcome in linted if outcome.findings}


def a_settings(folder: Path) -> Settings:
    return Settings(plugins=("kept_rules",), select=("KEP",), root=folder)


def the_cache(folder: Path) -> Path:
    [path] = (folder / FOLDER).glob("*.json")
    return path


EVERY_FILE = {"alone.py", "base.py", "helper.py", "main.py", "setup.py"}


def test_an_unchanged_tree_is_not_looked_at_again(folder: Path) -> None:
    first = Run(folder)
    again = Run(folder)
    assert first.asked == EVERY_FILE
    assert first.found == {"alone.py": 1, "main.py": 2}
    assert again.asked == set()
    assert again.outcomes == first.outcomes


CHANGES = [
    pytest.param({"alone.py": "found()\nfound()\n"}, {"alone.py"}, id="a file on its own concerns only itself"),
    pytest.param({"base.py": "x = 2\n"}, {"base.py", "helper.py", "main.py"}, id="what others import concerns them"),
    pytest.param(
        {"main.py": "import helper\n"}, {"base.py", "helper.py", "main.py"}, id="importers concern what they import"
    ),
    pytest.param({"new.py": "found()\n"}, {"new.py"}, id="a new file concerns nobody"),
    pytest.param({"new.py": "import alone\n"}, {"new.py", "alone.py"}, id="a new importer concerns what it imports"),
    pytest.param({"requirements.txt": "torch==2.1\n"}, EVERY_FILE, id="another torch concerns all"),
]


@pytest.mark.parametrize(("files", "asked"), CHANGES)
def test_a_change_is_seen_where_it_matters(folder: Path, files: dict[str, str], asked: set[str]) -> None:
    Run(folder)
    for name, text in files.items():
        (folder / name).write_text(text)
    changed = Run(folder)
    assert changed.asked == asked
    assert Run(folder).asked == set()


def test_a_change_taken_back_is_known_no_more_but_found_again(folder: Path) -> None:
    first = Run(folder)
    (folder / "alone.py").write_text("nothing()\n")
    assert Run(folder).found == {"main.py": 2}
    (folder / "alone.py").write_text("found()\n")
    assert Run(folder).outcomes == first.outcomes


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"pedantic": True}, id="pedantic"),
        pytest.param({"torch_version": (2, 1)}, id="another torch"),
        pytest.param({"per_file_ignores": (("alone.py", ("KEP",)),)}, id="ignores for a file"),
    ],
)
def test_other_settings_get_other_answers(folder: Path, options: dict[str, object]) -> None:
    Run(folder)
    assert Run(folder, **options).asked == EVERY_FILE
    assert Run(folder).asked == set()


def test_another_working_folder_gets_its_own_paths(folder: Path) -> None:
    Run(folder)
    linter = Linter(a_settings(folder))
    cache = OutcomeCache(linter, folder.parent)
    outcomes = list(lint_files(linter, [folder / "alone.py"], folder.parent, jobs=1, cache=cache))
    assert [outcome.path for outcome in outcomes] == ["files/alone.py"]


def test_a_rule_that_changes_is_asked_again(folder: Path) -> None:
    Run(folder)
    rule = folder.parent / "packs" / "kept_rules" / "kept_name.py"
    rule.write_text(RULE + "\n# changed\n")
    assert Run(folder).asked == EVERY_FILE


def test_a_file_on_which_a_rule_broke_is_asked_again(folder: Path) -> None:
    (folder / "alone.py").write_text("broken() or found()\n")
    Run(folder)
    again = Run(folder)
    assert again.asked == {"alone.py"}
    assert any(isinstance(outcome, Linted) and outcome.defects for outcome in again.outcomes)


def test_a_part_of_the_files_leaves_the_others_known(folder: Path) -> None:
    Run(folder)
    (folder / "alone.py").write_text("found()\nfound()\n")
    linter = Linter(a_settings(folder))
    list(lint_files(linter, [folder / "alone.py"], folder, jobs=1, cache=OutcomeCache(linter, folder)))
    assert Run(folder).asked == set()


DAMAGE: list[object] = [
    pytest.param(b"", id="empty"),
    pytest.param(b"\x00\xff", id="no text"),
    pytest.param(b"[" * 100_000, id="endless nesting"),
    pytest.param(b"{}", id="something else"),
    pytest.param(b"[1, 2]", id="too short"),
    pytest.param(b'[0, "", {}]', id="another layout"),
]


@pytest.mark.parametrize("content", DAMAGE)
def test_a_damaged_cache_is_no_cache(folder: Path, content: bytes) -> None:
    first = Run(folder)
    the_cache(folder).write_bytes(content)
    assert Run(folder).outcomes == first.outcomes
    assert Run(folder).asked == set()


ENTRIES: list[object] = [
    pytest.param(None, id="nothing"),
    pytest.param([], id="too short"),
    pytest.param("text", id="text"),
    pytest.param(lambda entry: [*entry[:3], []], id="no record"),
    pytest.param(lambda entry: [*entry[:3], ["alone.py", 0, [["KEP101"]]]], id="half a finding"),
    pytest.param(lambda entry: [*entry[:3], ["alone.py", 0, 7]], id="a number for the findings"),
    pytest.param(lambda entry: [*entry[:3], ["main.py", 0, []]], id="the record of another file"),
]


@pytest.mark.parametrize("damage", ENTRIES)
def test_a_damaged_entry_is_worked_out_again(folder: Path, damage: object) -> None:
    first = Run(folder)
    layout, stamp, entries = json.loads(the_cache(folder).read_bytes())
    entries["alone.py"] = damage(entries["alone.py"]) if callable(damage) else damage
    the_cache(folder).write_text(json.dumps([layout, stamp, entries]))
    again = Run(folder)
    assert again.asked == {"alone.py"}
    assert again.outcomes == first.outcomes


def test_a_cache_that_can_not_be_written_is_done_without(folder: Path) -> None:
    (folder / FOLDER).write_text("a file where the folder should be")
    assert Run(folder).found == Run(folder).found == {"alone.py": 1, "main.py": 2}
    assert (folder / FOLDER).is_file()


def test_two_runs_at_once_lose_nothing(folder: Path) -> None:
    """The second is started before the first has written, and each looks at another file."""
    linter = Linter(a_settings(folder))
    runs = [
        lint_files(linter, [folder / name], folder, jobs=1, cache=OutcomeCache(linter, folder))
        for name in ("alone.py", "main.py")
    ]
    first: list[Outcome] = [next(run) for run in runs]
    for run in runs:
        assert list(run) == []
    assert [outcome.path for outcome in first] == ["alone.py", "main.py"]
    assert Run(folder).asked == EVERY_FILE - {"alone.py", "main.py"}


def test_no_part_of_a_write_stays_behind(folder: Path) -> None:
    Run(folder)
    assert {path.name for path in (folder / FOLDER).iterdir()} == {
        "CACHEDIR.TAG",
        ".gitignore",
        the_cache(folder).name,
    }


def test_cleaning_removes_the_folder_and_nothing_else(folder: Path) -> None:
    Run(folder)
    assert clean(folder) == folder / FOLDER
    assert not (folder / FOLDER).exists()
    assert (folder / "main.py").exists()
    assert clean(folder) is None


def test_a_folder_of_that_name_that_is_not_ours_is_left_alone(folder: Path) -> None:
    (folder / FOLDER).mkdir()
    (folder / FOLDER / "precious").write_text("mine")
    with pytest.raises(PathError, match="was not made by ddplint"):
        clean(folder)
    assert (folder / FOLDER / "precious").read_text() == "mine"


@settings(deadline=None)
@given(findings(WILD))
def test_a_finding_comes_back_as_it_went(finding: Finding) -> None:
    outcome = Linted("train.py", (finding,), hidden=3)
    if finding.verdict is None:
        assert from_record(json.loads(json.dumps(to_record(outcome)))) == outcome
