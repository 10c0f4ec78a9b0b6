"""Linting: what is reported, where it goes, and the exit code."""

from __future__ import annotations

import json

import pytest

from tests.cli.sandbox import Sandbox


def codes(sandbox: Sandbox, *arguments: str) -> list[str]:
    """The codes of the findings of a run, in the order of the report."""
    return [finding["code"] for finding in json.loads(sandbox.run(*arguments, "--format", "json").stdout)["findings"]]


def test_a_clean_file(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "x = 1\n")
    done = sandbox.run("train.py")
    assert (done.stdout, done.stderr, done.returncode) == ("All clear: no findings in 1 file\n", "", 0)


def test_a_finding_is_shown_in_its_line(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "x = 1\nplain()\n")
    done = sandbox.run("train.py")
    assert (done.stderr, done.returncode) == ("", 1)
    assert done.stdout.splitlines()[:3] == [
        "train.py:2:1: DDP991 [plain-call] plain is called",
        "  2 | plain()",
        "    | ^^^^^^^",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="no path is the current folder"),
        pytest.param(["."], id="the current folder"),
        pytest.param(["check"], id="the command by its name"),
        pytest.param(["check", "sub", "train.py"], id="a folder and a file"),
        pytest.param(["sub/", "train.py", "./train.py"], id="a file that is named twice"),
    ],
)
def test_paths(sandbox: Sandbox, arguments: list[str]) -> None:
    sandbox.write("train.py", "plain()\n")
    sandbox.write("sub/other.py", "mendable()\n")
    assert codes(sandbox, *arguments) == ["DDP992", "DDP991"]


def test_the_name_of_a_command_wins_over_a_path(sandbox: Sandbox) -> None:
    sandbox.write("rules/train.py", "plain()\n")
    assert "plain-call" in sandbox.run("rules").stdout
    assert codes(sandbox, "./rules") == ["DDP991"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([], ["DDP991", "DDP992", "DDP993"], id="all that the settings select"),
        pytest.param(["--select", "DDP991"], ["DDP991"], id="one code"),
        pytest.param(["--select", "DDP991,risky-call"], ["DDP991", "DDP993"], id="a list with a name in it"),
        pytest.param(["--select", "DDP991", "--select", "DDP992"], ["DDP991", "DDP992"], id="the option twice"),
        pytest.param(["--select", "hang"], ["DDP991"], id="an impact"),
        pytest.param(["--ignore", "DDP991"], ["DDP992", "DDP993"], id="all but one"),
        pytest.param(["--select", "ALL", "--ignore", "DDP99"], [], id="all but a family"),
        pytest.param(["--select", "DDP992", "--extend-select", "DDP993"], ["DDP992", "DDP993"], id="one more"),
    ],
)
def test_selection(sandbox: Sandbox, arguments: list[str], expected: list[str]) -> None:
    sandbox.write("train.py", "plain()\nmendable()\nrisky()\n")
    assert codes(sandbox, "train.py", *arguments) == expected


def test_select_takes_the_place_of_the_settings(sandbox: Sandbox) -> None:
    sandbox.write(
        "ddplint.toml",
        'plugins = ["tryout_rules"]\nselect = ["DDP991"]\nextend-select = ["DDP993"]\nignore = ["DDP992"]\n',
    )
    sandbox.write("train.py", "plain()\nmendable()\nrisky()\n")
    assert codes(sandbox, "train.py") == ["DDP991", "DDP993"]
    assert codes(sandbox, "train.py", "--select", "DDP992") == ["DDP992"]


def test_the_settings_of_what_is_linted_count_when_it_lies_elsewhere(sandbox: Sandbox) -> None:
    sandbox.write("project/train.py", "plain()\nmendable()\n")
    sandbox.write("project/ddplint.toml", 'plugins = ["tryout_rules"]\nselect = ["DDP992"]\n')
    sandbox.write("elsewhere/notes.txt", "")
    here = Sandbox(sandbox.folder / "elsewhere", sandbox.packs)
    assert codes(here, "../project/train.py") == ["DDP992"]


def test_rules_that_are_off_for_some_files(sandbox: Sandbox) -> None:
    sandbox.write(
        "ddplint.toml",
        'plugins = ["tryout_rules"]\nselect = ["DDP99"]\n'
        '[per-file-ignores]\n"old/" = ["hang"]\n"*_test.py" = ["ALL"]\n',
    )
    for name in ("train.py", "old/train.py", "sub/a_test.py"):
        sandbox.write(name, "plain()\nmendable()\n")
    findings = json.loads(sandbox.run("--format", "json").stdout)["findings"]
    assert [(finding["path"], finding["code"]) for finding in findings] == [
        ("old/train.py", "DDP992"),
        ("train.py", "DDP991"),
        ("train.py", "DDP992"),
    ]


def test_possible_findings_are_for_the_pedantic(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "possible()\n")
    done = sandbox.run("train.py")
    assert (done.stdout, done.returncode) == ("All clear: no findings in 1 file; 1 possible with --pedantic\n", 0)
    assert codes(sandbox, "train.py", "--pedantic") == ["DDP996"]


def test_exit_zero_hides_findings_from_the_exit_code(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    done = sandbox.run("train.py", "--exit-zero")
    assert ("DDP991" in done.stdout, done.returncode) == (True, 0)


def test_a_rule_that_raises_is_our_defect_and_the_rest_goes_on(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "raising()\nplain()\n")
    done = sandbox.run("train.py", "--exit-zero")
    assert (done.stderr, done.returncode) == ("", 3)
    assert "DDP991 [plain-call]" in done.stdout
    assert "defect in rule DDP995 on train.py: ValueError: this rule is broken (" in done.stdout


@pytest.mark.parametrize(
    ("content", "word", "reason", "code"),
    [
        pytest.param(
            "plain()\nx = '\xe9'\n".encode("latin-1"), "failed", "line 2: 0xe9 is not utf-8", 1, id="wrong bytes"
        ),
        pytest.param(b"plain()\n\0", "failed", "line 2: NUL byte", 1, id="a NUL byte"),
        pytest.param(
            b"plain()\n" + b"(" * 5000 + b")" * 5000 + b"\n", "skipped", "nested", 0, id="brackets without end"
        ),
        pytest.param(b"plain()\n" + b"#" * 5_000_000, "skipped", "larger than", 0, id="a file of 5 MB"),
    ],
)
def test_a_file_that_cannot_be_linted_is_one_line(
    sandbox: Sandbox, content: bytes, word: str, reason: str, code: int
) -> None:
    sandbox.write("a.py", content)
    sandbox.write("b.py", "x = 1\n")
    done = sandbox.run()
    [line] = [line for line in done.stdout.splitlines() if "a.py" in line]
    assert line.startswith(f"{word} a.py: ")
    assert reason in line
    assert (done.stderr, done.returncode) == ("", code)


def test_the_report_goes_to_a_file(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    on_screen = sandbox.run("train.py").stdout
    done = sandbox.run("train.py", "--output", "report.txt")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 1)
    assert sandbox.read("report.txt") == on_screen


def test_statistics(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\nmendable()\nplain()\n")
    lines = sandbox.run("train.py", "--statistics").stdout.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["2", "DDP991"], ["1", "DDP992"]]


def test_only_named_files_escape_the_excludes(sandbox: Sandbox) -> None:
    sandbox.write("build/train.py", "plain()\n")
    assert codes(sandbox, "build/train.py") == ["DDP991"]
    assert codes(sandbox, "build/train.py", "--force-exclude") == []


def test_rules_and_their_explanations(sandbox: Sandbox) -> None:
    listed = sandbox.run("rules").stdout
    assert "DDP991  plain-call" in listed
    as_json = json.loads(sandbox.run("rules", "--format", "json").stdout)["rules"]
    assert {"DDP991", "DDP997"} <= {rule["code"] for rule in as_json}
    by_code, by_name = sandbox.run("explain", "ddp991"), sandbox.run("explain", "Plain-Call")
    assert by_code.stdout == by_name.stdout
    assert "Calls of plain." in by_code.stdout
    assert "DDP992 mendable-call" in sandbox.run("explain", "DDP991", "DDP992").stdout


def test_help_and_version(sandbox: Sandbox) -> None:
    shown = sandbox.run("--help").stdout
    assert all(word in shown for word in ("Examples:", "--select", "--torch-version", "explain", "--version"))
    assert sandbox.run("-h").stdout == shown
    version = sandbox.run("--version").stdout
    assert version.startswith("ddplint ")
