"""Many files: read, gated, linted here or in workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.config import Settings
from ddplint.engine import run
from ddplint.engine.outcomes import Failed, Linted
from ddplint.engine.run import Linter, lint_files
from ddplint.errors import OptionError, PackError

RULE = """
import time
from ddplint.rulekit import Found, Impact, Rule
RULE = Rule("RUN101", "slow-name", Impact.SLOW, "0.1.0", ("found", "hang"))
def check(script, project):
    for call in script.calls:
        if call.callee.id == "hang":
            time.sleep(600)
        yield Found(call, "found")
"""

NEW_RULE = """
from ddplint.rulekit import Found, Impact, Rule
RULE = Rule("RUN102", "new-name", Impact.SLOW, "0.1.0", ("modern",), torch=(2, 4))
def check(script, project):
    return [Found(call, "modern") for call in script.calls if call.callee.id == "modern"]
"""

OLD_RULE = """
from ddplint.rulekit import Found, Impact, Rule
RULE = Rule("RUN103", "old-name", Impact.SLOW, "0.1.0", ("ancient",), torch_before=(2, 4))
def check(script, project):
    return [Found(call, "ancient") for call in script.calls if call.callee.id == "ancient"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "packs" / "run_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "slow_name.py").write_text(RULE)
    (package / "new_name.py").write_text(NEW_RULE)
    (package / "old_name.py").write_text(OLD_RULE)
    monkeypatch.syspath_prepend(str(package.parent))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.py").write_text("found()\n")
    (folder / "b.py").write_text("nothing()\n")
    (folder / "c.py").write_text("found()\nfound()\n")
    return folder


def a_linter(folder: Path, **options: object) -> Linter:
    return Linter(Settings(plugins=("run_rules",), select=("RUN",), root=folder).with_options(**options))


def found(folder: Path, linter: Linter | None = None, time_limit: float = 60.0) -> dict[str, int | str]:
    """The number of findings of each file, or why it failed."""
    files = sorted(folder.glob("*.py"))
    outcomes = lint_files(linter or a_linter(folder), files, folder, jobs=2, time_limit=time_limit)
    return {
        outcome.path: len(outcome.findings) if isinstance(outcome, Linted) else outcome.reason for outcome in outcomes
    }


def test_a_small_run_starts_no_worker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_lint_in_workers", None)
    assert found(folder) == {"a.py": 1, "b.py": 0, "c.py": 2}


def test_workers_say_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SMALL_RUN", 0)
    assert found(folder) == {"a.py": 1, "b.py": 0, "c.py": 2}


def test_a_file_that_takes_too_long_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SMALL_RUN", 0)
    (folder / "slow.py").write_text("hang()\n")
    assert found(folder, time_limit=8) == {"a.py": 1, "b.py": 0, "c.py": 2, "slow.py": "no answer within 8 seconds"}


def test_a_file_that_is_not_there_any_more_fails(folder: Path) -> None:
    outcomes = list(lint_files(a_linter(folder), [folder / "gone.py"], folder, jobs=1))
    assert outcomes == [Failed("gone.py", "cannot be read: No such file or directory", ours=False)]


def test_paths_are_shown_from_the_working_directory(folder: Path) -> None:
    [outcome] = lint_files(a_linter(folder), [folder / "a.py"], folder.parent, jobs=1)
    assert outcome.path == "files/a.py"


@pytest.mark.parametrize(
    ("required", "option", "findings"),
    [
        pytest.param("torch==2.3", None, 0, id="the project is for an older torch"),
        pytest.param("torch==2.4", None, 1, id="the project is for that torch"),
        pytest.param("torch>=2.1", None, 1, id="the project may run on that torch"),
        pytest.param("torch==2.3", (2, 10), 1, id="the option wins for a newer torch"),
        pytest.param("torch==2.4", (2, 3), 0, id="the option wins for an older torch"),
    ],
)
def test_a_rule_speaks_from_its_torch_version_on(
    folder: Path, required: str, option: tuple[int, int] | None, findings: int
) -> None:
    (folder / "setup.py").write_text("")
    (folder / "requirements.txt").write_text(required)
    (folder / "a.py").write_text("modern()\n")
    assert found(folder, a_linter(folder, torch_version=option))["a.py"] == findings


@pytest.mark.parametrize(
    ("required", "option", "findings"),
    [
        pytest.param("torch==2.3", None, 1, id="the project is for an older torch"),
        pytest.param("torch==2.4", None, 0, id="the project is for that torch"),
        pytest.param("torch>=2.1", None, 1, id="the project may run on an older torch"),
        pytest.param("torch>=2.4", None, 0, id="the project may run on newer ones alone"),
        pytest.param("torch==2.3", (2, 4), 0, id="the option wins for that torch"),
        pytest.param("torch==2.4", (2, 3), 1, id="the option wins for an older torch"),
    ],
)
def test_a_rule_speaks_up_to_a_torch_version(
    folder: Path, required: str, option: tuple[int, int] | None, findings: int
) -> None:
    (folder / "setup.py").write_text("")
    (folder / "requirements.txt").write_text(required)
    (folder / "a.py").write_text("ancient()\n")
    assert found(folder, a_linter(folder, torch_version=option))["a.py"] == findings


def test_broken_settings_are_refused_before_a_file_is_read(folder: Path) -> None:
    with pytest.raises(OptionError, match="select: no rule 'RUN9'"):
        a_linter(folder, select=("RUN9",))
    with pytest.raises(OptionError, match="unfixable: no rule 'RUN9'"):
        a_linter(folder, unfixable=("RUN9",))
    with pytest.raises(PackError, match="no_such_pack"):
        a_linter(folder, plugins=("no_such_pack",))
