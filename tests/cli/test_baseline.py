"""Starting on old code: findings that are put off, and impacts that make a run fail."""

from __future__ import annotations

import json

import pytest

from ddplint.config import IMPACTS
from ddplint.findings import Impact
from tests.cli.sandbox import Sandbox

FILE = ".ddplint-baseline.json"


def put_off(sandbox: Sandbox, *arguments: str) -> list[str]:
    done = sandbox.run("--update-baseline", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def shown(sandbox: Sandbox, *arguments: str) -> list[tuple[str, int]]:
    content = json.loads(sandbox.run(*arguments, "--format", "json").stdout)
    return [(finding["path"], finding["line"]) for finding in content["findings"]]


def test_what_is_put_off_is_no_longer_shown(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\nmendable()\n")
    assert put_off(sandbox) == [f"2 findings put off in {sandbox.folder / FILE}"]
    done = sandbox.run()
    assert (done.stdout, done.returncode) == ("All clear: no findings in 1 file; 2 in the baseline\n", 0)


def test_the_file_can_be_reviewed(sandbox: Sandbox) -> None:
    sandbox.write("b.py", "plain()\n")
    sandbox.write("a.py", "if True:\n    plain()\nplain()\n")
    put_off(sandbox)
    assert json.loads(sandbox.read(FILE)) == {
        "version": 1,
        "findings": [
            {"path": "a.py", "code": "DDP991", "line": "plain()", "count": 2},
            {"path": "b.py", "code": "DDP991", "line": "plain()", "count": 1},
        ],
    }
    assert len(sandbox.read(FILE).splitlines()) == 7


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        pytest.param("x = 1\n\nplain()\n", [], id="a line that has moved"),
        pytest.param("if x:\n    plain()\n", [], id="a line that is indented"),
        pytest.param("plain()\nplain()\n", [2], id="one more of the same"),
        pytest.param("plain(1)\n", [1], id="a line that has changed"),
        pytest.param("mendable()\nplain()\n", [1], id="another rule"),
    ],
)
def test_only_what_is_new_is_shown(sandbox: Sandbox, after: str, lines: list[int]) -> None:
    sandbox.write("train.py", "plain()\n")
    put_off(sandbox)
    sandbox.write("train.py", after)
    assert [line for _, line in shown(sandbox)] == lines


def test_what_is_mended_is_named_and_dropped(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\nmendable()\n")
    put_off(sandbox)
    sandbox.write("train.py", "plain()\n")
    assert put_off(sandbox)[0] == "no longer found: train.py: DDP992 mendable()"
    assert put_off(sandbox) == [f"1 finding put off in {sandbox.folder / FILE}"]


def test_files_that_did_not_run_stay_in_it(sandbox: Sandbox) -> None:
    sandbox.write("a.py", "plain()\n")
    sandbox.write("b.py", "plain()\n")
    put_off(sandbox)
    put_off(sandbox, "a.py")
    assert shown(sandbox) == []
    (sandbox.folder / "b.py").unlink()
    assert put_off(sandbox, "a.py")[0] == "no longer found: b.py: DDP991 plain()"


def test_it_does_not_depend_on_where_the_run_starts(sandbox: Sandbox) -> None:
    sandbox.write("src/train.py", "plain()\n")
    put_off(sandbox)
    inner = Sandbox(sandbox.folder / "src", sandbox.packs)
    assert shown(inner) == []
    assert shown(inner, "--no-baseline") == [("train.py", 1)]


def test_the_cache_and_workers_keep_what_is_put_off(sandbox: Sandbox) -> None:
    for number in range(4):
        sandbox.write(f"file_{number}.py", "plain()\n" + "x = 1\n" * 20_000)
    put_off(sandbox, "--jobs", "2")
    assert [shown(sandbox, "--jobs", "2"), shown(sandbox, "--jobs", "1")] == [[], []]


def test_fixes_are_made_all_the_same(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\nmendable()\n")
    put_off(sandbox)
    done = sandbox.run("--fix")
    assert (sandbox.read("train.py"), done.returncode) == ("plain()\nmended()\n", 0)


def test_a_file_of_another_name(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    put_off(sandbox, "--baseline", "known.json")
    assert shown(sandbox) == [("train.py", 1)]
    assert shown(sandbox, "--baseline", "known.json") == []
    sandbox.write("ddplint.toml", 'plugins = ["tryout_rules"]\nselect = ["DDP99"]\nbaseline = "known.json"\n')
    assert shown(sandbox) == []


@pytest.mark.parametrize(
    ("content", "options", "line"),
    [
        pytest.param("{", [], "is no baseline of this version; write it anew with --update-baseline", id="no JSON"),
        pytest.param('{"version": 9}', [], "is no baseline of this version", id="another version"),
        pytest.param(b"\xff", [], "not UTF-8", id="other bytes"),
        pytest.param(None, ["--baseline", "none.json"], "no such baseline: none.json", id="a file that is not there"),
        pytest.param(None, ["--update-baseline", "--fix"], "goes neither with fixes", id="fixes beside"),
        pytest.param(None, ["--update-baseline", "-"], "nor with standard input", id="standard input"),
    ],
)
def test_what_cannot_be_done(sandbox: Sandbox, content: str | bytes | None, options: list[str], line: str) -> None:
    sandbox.write("train.py", "plain()\n")
    if content is not None:
        sandbox.write(FILE, content)
    done = sandbox.run(*options)
    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("code", "options", "exit_code"),
    [
        pytest.param("plain()\n", ["--fail-on", "hang,crash"], 1, id="an impact that counts"),
        pytest.param("mendable()\n", ["--fail-on", "hang,crash"], 0, id="one that does not"),
        pytest.param("mendable()\nplain()\n", ["--fail-on", "hang"], 1, id="one of both"),
        pytest.param("mendable()\n", [], 1, id="all count where nothing is said"),
        pytest.param("mendable()\n", ["--fail-on", "hang", "--fail-on", "slow"], 1, id="the option given twice"),
        pytest.param("plain()\n", ["--fail-on", "hang", "--exit-zero"], 0, id="none with --exit-zero"),
        pytest.param("mendable()\n", ["--fail-on", "hang", "--fix"], 0, id="beside fixes"),
        pytest.param("plain()\n", ["--fail-on", "hung"], 2, id="no impact at all"),
    ],
)
def test_impacts_that_make_a_run_fail(sandbox: Sandbox, code: str, options: list[str], exit_code: int) -> None:
    sandbox.write("train.py", code)
    done = sandbox.run(*options)
    assert done.returncode == exit_code, done.stderr
    assert exit_code == 2 or "finding" in done.stdout


def test_impacts_that_make_a_run_fail_can_be_set(sandbox: Sandbox) -> None:
    sandbox.write("ddplint.toml", 'plugins = ["tryout_rules"]\nselect = ["DDP99"]\nfail-on = ["hang"]\n')
    sandbox.write("train.py", "mendable()\n")
    assert sandbox.run().returncode == 0
    assert sandbox.run("--fail-on", "slow").returncode == 1


def test_the_settings_know_all_impacts() -> None:
    assert {impact.value for impact in Impact} == set(IMPACTS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("plain()\n", "plain()  # ddplint: ignore[DDP991]\n", id="a line"),
        pytest.param(
            "plain()  # why\n", "plain()  # why  # ddplint: ignore[DDP991]\n", id="a line with a comment of its own"
        ),
        pytest.param("plain(\n    1,\n)\n", "plain(\n    1,\n)  # ddplint: ignore[DDP991]\n", id="several lines"),
        pytest.param(
            "plain(); mendable()\n", "plain(); mendable()  # ddplint: ignore[DDP991, DDP992]\n", id="two findings"
        ),
        pytest.param(
            "plain(); mendable()  # ddplint: ignore[DDP991] so\n",
            "plain(); mendable()  # ddplint: ignore[DDP991, DDP992] so\n",
            id="a comment of ours",
        ),
        pytest.param("if plain():\n    x = 1\n", "if plain():  # ddplint: ignore[DDP991]\n    x = 1\n", id="a test"),
        pytest.param("plain('''\n''')\n", "plain('''\n''')  # ddplint: ignore[DDP991]\n", id="a string of two lines"),
        pytest.param("plain() + \\\n    1\n", "plain() + \\\n    1  # ddplint: ignore[DDP991]\n", id="a backslash"),
        pytest.param("plain()\r\nx = 1\r\n", "plain()  # ddplint: ignore[DDP991]\r\nx = 1\r\n", id="CRLF"),
        pytest.param("plain()", "plain()  # ddplint: ignore[DDP991]", id="no newline at the end"),
    ],
)
def test_findings_are_left_as_they_are(sandbox: Sandbox, before: str, after: str) -> None:
    sandbox.write("train.py", before)
    done = sandbox.run("--add-ignore")
    assert (sandbox.read("train.py"), done.returncode) == (after, 0)
    assert done.stdout.startswith("Left ")
    assert shown(sandbox) == []


def test_what_the_baseline_knows_gets_no_comment(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    put_off(sandbox)
    sandbox.write("train.py", "plain()\nmendable()\n")
    sandbox.run("--add-ignore")
    assert sandbox.read("train.py") == "plain()\nmendable()  # ddplint: ignore[DDP992]\n"


def test_a_file_that_cannot_be_written_stays(sandbox: Sandbox) -> None:
    path = sandbox.write("train.py", "plain()\n")
    path.chmod(0o444)
    done = sandbox.run("--add-ignore")
    assert (sandbox.read("train.py"), done.returncode) == ("plain()\n", 1)
    assert "read-only" in done.stdout
