"""Fixing: what is written, what is only shown, and the exit code."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.sandbox import Sandbox

CODE = "mendable()\nrisky()\nplain()\n"


@pytest.mark.parametrize(
    ("arguments", "after", "code"),
    [
        pytest.param(["--fix"], "mended()\nrisky()\nplain()\n", 1, id="safe fixes only"),
        pytest.param(["--fix", "--unsafe-fixes"], "mended()\ndared()\nplain()\n", 1, id="unsafe fixes too"),
        pytest.param(["--fix-only"], "mended()\nrisky()\nplain()\n", 0, id="what remains does not count"),
        pytest.param(["--fix", "--unfixable", "DDP992"], CODE, 1, id="a rule that must not be fixed"),
        pytest.param(
            ["--fix", "--unsafe-fixes", "--fixable", "risky-call"],
            "mendable()\ndared()\nplain()\n",
            1,
            id="only one rule",
        ),
        pytest.param(["--fix", "--ignore", "DDP992"], CODE, 1, id="a rule that does not run"),
        pytest.param(["--diff"], CODE, 1, id="a patch writes nothing"),
        pytest.param(["--fix", "--diff"], CODE, 1, id="a patch instead of a fix"),
        pytest.param(["--fix", "--exit-zero"], "mended()\nrisky()\nplain()\n", 0, id="findings that do not count"),
        pytest.param([], CODE, 1, id="no fix unless asked for"),
    ],
)
def test_what_is_written(sandbox: Sandbox, arguments: list[str], after: str, code: int) -> None:
    sandbox.write("train.py", CODE)
    done = sandbox.run("train.py", *arguments)
    assert (sandbox.read("train.py"), done.returncode) == (after, code)


def test_all_fixed_is_success(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "mendable()\n")
    done = sandbox.run("--fix")
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == ["Fixed 1 finding in 1 file.", "All clear: no findings in 1 file"]


def test_fix_only_says_nothing_of_what_remains(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CODE)
    assert "DDP991" not in sandbox.run("--fix-only").stdout


def test_a_patch_for_git(sandbox: Sandbox) -> None:
    content = b"# \xc3\xa9\r\nmendable()\r\nx = 1"
    sandbox.write("sub/train it.py", content)
    done = sandbox.run_bytes("--diff")
    assert done.returncode == 1
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=sandbox.folder, check=True)
    assert (sandbox.folder / "sub/train it.py").read_bytes() == content.replace(b"mendable", b"mended")


def test_a_patch_stands_alone_on_standard_output(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CODE)
    done = sandbox.run("--diff")
    assert done.stdout.startswith("diff --git a/train.py b/train.py\n") or done.stdout.startswith("--- a/train.py\n")
    assert "DDP991 [plain-call]" in done.stderr
    assert "Would fix 1 finding in 1 file." in done.stderr


def test_no_patch_and_no_finding(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "x = 1\n")
    done = sandbox.run("--diff")
    assert (done.stdout, done.returncode) == ("", 0)


def test_a_patch_alone_makes_the_exit_code(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "mendable()\n")
    assert sandbox.run("--diff").returncode == 1
    assert sandbox.run("--diff", "--exit-zero").returncode == 0


def test_a_fix_that_breaks_the_file_is_our_defect(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "spoiling()\nmendable()\n")
    done = sandbox.run("--fix")
    assert (sandbox.read("train.py"), done.returncode) == ("spoiling()\nmended()\n", 3)
    assert "defect in rule DDP994 on train.py: " in done.stdout


def test_files_without_a_fix_are_not_touched(sandbox: Sandbox) -> None:
    path = sandbox.write("clean.py", "plain()\n")
    sandbox.write("train.py", "mendable()\n")
    before = path.stat()
    sandbox.run("--fix")
    after = path.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
