from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ddplint.testing import fixture_problems, fixture_trials, project_trials
from tests.unit.testing.packs import BAD, FIXED, GOOD, pack_of

OWN = "DDP901_bad_call"
MARKED = "bad(1)  #~ DDP901\n"
ENOUGH = {
    **{f"{OWN}/bad_{number}.py": MARKED for number in range(3)},
    f"{OWN}/bad_0.fixed.py": "good(1)\n",
    **{f"{OWN}/good_{number}.py": "good(1)\n" for number in range(4)},
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, [], id="enough of both kinds"),
        pytest.param(
            {"DDP902_nobody/bad.py": MARKED}, ["DDP902_nobody: no rule of this code and name"], id="an orphan folder"
        ),
        pytest.param(
            {f"{OWN}/helper.py": ""}, [f"{OWN}/helper.py: neither bad*.py nor good*.py"], id="a file that nobody reads"
        ),
        pytest.param(
            {f"{OWN}/bad_9.fixed.py": ""},
            [f"{OWN}/bad_9.fixed.py: there is no bad fixture that it could be the fixed form of"],
            id="a fixed form of nothing",
        ),
        pytest.param(
            {f"{OWN}/good_0.py": MARKED},
            [f"{OWN}/good_0.py: a good fixture with a #~ mark"],
            id="a good fixture with a mark",
        ),
        pytest.param(
            {f"{OWN}/bad_1.py": "bad(1)\n"},
            [f"{OWN}/bad_1.py: a bad fixture without a #~ mark"],
            id="a bad fixture without a mark",
        ),
    ],
)
def test_the_shape_of_the_fixtures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: list[str]
) -> None:
    _, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD)
    folder = write(tmp_path / "fixtures", ENOUGH | files)
    assert fixture_problems(folder, [rule]) == expected


def test_a_rule_without_fixtures_is_told_how_many_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD)
    assert fixture_problems(tmp_path / "fixtures", [rule]) == [
        f"{OWN}: 0 bad fixtures, and 3 are the least",
        f"{OWN}: 0 good fixtures, and 4 are the least",
    ]


def test_each_fixture_is_tried_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD)
    trials = fixture_trials(write(tmp_path / "fixtures", ENOUGH), rule, pack)
    assert [str(trial) for trial in trials] == sorted(name for name in ENOUGH if ".fixed." not in name)
    assert [problem for trial in trials for problem in trial.problems()] == []


def test_what_a_fix_leaves_is_marked_in_the_fixed_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, rule = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD, into="bad and good")
    files = {f"{OWN}/bad.py": MARKED, f"{OWN}/bad.fixed.py": "bad and good(1)\n"}
    (trial,) = fixture_trials(write(tmp_path / "fixtures", files), rule, pack)
    assert trial.problems() == []


def test_a_project_is_tried_with_all_its_files_and_its_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, _ = pack_of(tmp_path, monkeypatch, BAD, FIXED, GOOD)
    files = {
        "one/pyproject.toml": '[tool.ddplint]\nper-file-ignores = {"quiet.py" = ["DDP901"]}\n',
        "one/package/train.py": MARKED,
        "one/package/train.fixed.py": "good(1)\n",
        "one/quiet.py": "bad(1)\n",
        "two/train.py": "bad(1)\n",
    }
    one, two = project_trials(write(tmp_path / "projects", files), pack)
    assert one.problems() == []
    assert two.problems() == ["train.py:1: DDP901 is said and not announced: bad is called"]
