"""``ddplint -``: a file from standard input."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.sandbox import Sandbox


def test_findings_have_the_name_of_the_file(sandbox: Sandbox) -> None:
    done = sandbox.run("-", "--stdin-filename", "sub/train.py", stdin=b"plain()\n")
    assert (done.stdout.startswith("sub/train.py:1:1: DDP991"), done.returncode) == (True, 1)


def test_findings_of_a_file_without_a_name(sandbox: Sandbox) -> None:
    done = sandbox.run("-", stdin=b"plain()\n")
    assert (done.stdout.startswith("<stdin>:1:1: DDP991"), done.returncode) == (True, 1)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        pytest.param(b"mendable()\n", b"mended()\n", 0, id="fixed"),
        pytest.param(b"mendable()\r\nplain()", b"mended()\r\nplain()", 1, id="other bytes as they are"),
        pytest.param(b"x = 1\n", b"x = 1\n", 0, id="nothing to fix"),
        pytest.param(b"plain() \xff\n", b"plain() \xff\n", 1, id="bytes that are no text"),
        pytest.param(b"", b"", 0, id="nothing at all"),
    ],
)
def test_the_fixed_text_goes_to_standard_output(sandbox: Sandbox, before: bytes, after: bytes, code: int) -> None:
    done = sandbox.run_bytes("-", "--fix", stdin=before)
    assert (done.stdout, done.returncode) == (after, code)
    assert done.stderr


def test_findings_that_remain_go_to_standard_error(sandbox: Sandbox) -> None:
    done = sandbox.run("-", "--fix", stdin=b"mendable()\nplain()\n")
    assert "DDP991 [plain-call]" in done.stderr
    assert "Fixed 1 finding" in done.stderr


def test_a_patch_of_standard_input(sandbox: Sandbox) -> None:
    done = sandbox.run("-", "--diff", "--stdin-filename", "train.py", stdin=b"mendable()\n")
    assert ("+mended()" in done.stdout, done.returncode) == (True, 1)


def test_excluded_standard_input_passes_through(sandbox: Sandbox) -> None:
    sandbox.write("build/train.py", "")
    arguments = ["-", "--fix", "--force-exclude", "--stdin-filename", "build/train.py"]
    done = sandbox.run(*arguments, stdin=b"mendable()\n")
    assert (done.stdout, done.returncode) == ("mendable()\n", 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_file_that_can_be_read_only_once(sandbox: Sandbox) -> None:
    pipe = sandbox.folder / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"echo 'plain()' > '{pipe}'"]):
        done = sandbox.run("pipe")
    assert (done.stdout.startswith("pipe:1:1: DDP991"), done.returncode) == (True, 1)
