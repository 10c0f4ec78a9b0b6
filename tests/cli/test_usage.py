"""What is asked wrongly is refused in one line that names the nearest right thing, with exit code 2."""

from __future__ import annotations

import pytest

from tests.cli.sandbox import Sandbox

MISTAKES = [
    pytest.param(["--selct", "DDP99"], "no such option '--selct' (did you mean '--select'?)", id="a misspelled option"),
    pytest.param(["--verison"], "no such option '--verison' (did you mean '--version'?)", id="an option of the group"),
    pytest.param(["--zzzz"], "no such option '--zzzz'", id="an option like no other"),
    pytest.param(["--select"], "option '--select' requires an argument", id="an option without its value"),
    pytest.param(
        ["--format", "jsn"],
        "invalid value for '--format': 'jsn' is none of text, json, github, sarif (did you mean 'json'?)",
        id="a misspelled format",
    ),
    pytest.param(
        ["--color", "yes"],
        "invalid value for '--color': 'yes' is none of auto, always, never",
        id="a colour like no other",
    ),
    pytest.param(
        ["--torch-version", "two"],
        "invalid value for '--torch-version': must be a version such as \"2.4\", not 'two'",
        id="a torch version in words",
    ),
    pytest.param(["--jobs", "0"], "invalid value for '--jobs': 0 is not in the range x>=1", id="no process at all"),
    pytest.param(
        ["chek", "train.py"], "no such command or path 'chek' (did you mean 'check'?)", id="a misspelled command"
    ),
    pytest.param(["--select", "XYZ"], "select: no rule 'XYZ'", id="a rule that is not there"),
    pytest.param(
        ["--ignore", "plain-cal"], "ignore: no rule 'plain-cal' (did you mean 'plain-call'?)", id="a misspelled rule"
    ),
    pytest.param(
        ["--fixable", "mendable-cal"],
        "fixable: no rule 'mendable-cal' (did you mean 'mendable-call'?)",
        id="a misspelled rule to fix",
    ),
    pytest.param(
        ["explain", "plain-cal"], "no rule 'plain-cal' (did you mean 'plain-call'?)", id="a misspelled rule to explain"
    ),
    pytest.param(["explain"], "name rules, or give a --symptom", id="nothing to explain"),
    pytest.param(
        ["--unsafe-fixes", "train.py"],
        "--unsafe-fixes needs --fix, --fix-only or --diff beside it",
        id="unsafe fixes without fixes",
    ),
    pytest.param(
        ["--statistics", "--format", "json"],
        "--statistics is text: it does not go with --format json",
        id="statistics as JSON",
    ),
    pytest.param(["-", "train.py"], "- (standard input) does not go with other paths", id="standard input and a file"),
    pytest.param(
        ["--stdin-filename", "train.py"],
        "--stdin-filename needs - (standard input) as the path",
        id="a name for a standard input that is not read",
    ),
    pytest.param(
        ["train.py", "--output", "missing/report.txt"],
        "cannot write missing/report.txt: No such file or directory",
        id="a report into a folder that is not there",
    ),
]


@pytest.mark.parametrize(("arguments", "line"), MISTAKES)
def test_a_mistake_is_one_line(sandbox: Sandbox, arguments: list[str], line: str) -> None:
    sandbox.write("train.py", "x = 1\n")
    done = sandbox.run(*arguments)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"ddplint: {line}\n", 2)


def test_a_missing_path_names_its_neighbour(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "x = 1\n")
    done = sandbox.run("trian.py")
    assert done.returncode == 2
    assert done.stderr.startswith("ddplint: no such file or folder: ")
    assert done.stderr.endswith("trian.py (did you mean 'train.py'?)\n")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param('selct = ["DDP99"]', "unknown key 'selct' (did you mean 'select'?)", id="an unknown key"),
        pytest.param('select = "DDP99"', "select: must be a list of strings, not a string", id="a wrong type"),
        pytest.param("select = = 1", "(at line 1, column 10)", id="no TOML"),
        pytest.param(
            'plugins = ["no_such_pack"]', "rule pack module 'no_such_pack' cannot be imported", id="no such pack"
        ),
        pytest.param(
            'plugins = ["tryout_rules"]\n[per-file-ignores]\n"*.py" = ["DDP98"]',
            "per-file-ignores: no rule 'DDP98'",
            id="an unknown rule in per-file-ignores",
        ),
    ],
)
def test_broken_settings_are_one_line(sandbox: Sandbox, settings: str, expected: str) -> None:
    sandbox.write("ddplint.toml", settings)
    done = sandbox.run()
    assert (done.stdout, done.returncode, done.stderr.count("\n")) == ("", 2, 1)
    assert expected in done.stderr


def test_a_file_of_settings_that_is_not_there(sandbox: Sandbox) -> None:
    done = sandbox.run("--config", "missing.toml")
    assert (done.stdout, done.returncode, done.stderr.count("\n")) == ("", 2, 1)
    assert "missing.toml" in done.stderr
