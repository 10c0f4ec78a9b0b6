"""Terminals, pipes and encodings that are not what one would wish."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from ddplint.cli import progress
from ddplint.cli.progress import with_progress
from tests.cli.sandbox import Sandbox

COLOR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(sandbox: Sandbox, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """What a run writes to a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ddplint", *arguments],
        cwd=sandbox.folder,
        env={**sandbox.environment, "TERM": "xterm", **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    try:
        while block := os.read(leader, 65536):
            shown += block
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(leader)
    assert process.wait(100) in (0, 1)
    return shown.decode()


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        pytest.param([], {}, True, id="a terminal has colours"),
        pytest.param([], {"NO_COLOR": "1"}, False, id="NO_COLOR takes them away"),
        pytest.param([], {"TERM": "dumb"}, False, id="a dumb terminal has none"),
        pytest.param(["--color", "never"], {}, False, id="never"),
        pytest.param(["--color", "always"], {"NO_COLOR": "1"}, True, id="always, whatever the environment says"),
    ],
)
def test_colour_on_a_terminal(
    sandbox: Sandbox, arguments: list[str], environment: dict[str, str], colored: bool
) -> None:
    sandbox.write("train.py", "plain()\n")
    shown = on_terminal(sandbox, "train.py", *arguments, environment=environment)
    assert "DDP991" in shown
    assert bool(COLOR.search(shown)) is colored


def test_colour_in_a_pipe(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    assert not COLOR.search(sandbox.run("train.py").stdout)
    assert COLOR.search(sandbox.run("train.py", "--color", "always").stdout)
    sandbox.run("train.py", "--output", "report.txt")
    assert not COLOR.search(sandbox.read("report.txt"))


def test_a_reader_that_leaves_early(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n" * 5000)
    with subprocess.Popen(
        [sys.executable, "-m", "ddplint", "train.py"],
        cwd=sandbox.folder,
        env=sandbox.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"train.py:1:1")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(100) in (0, 1)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_that_knows_few_characters(sandbox: Sandbox, encoding: str) -> None:
    sandbox.write("trän/训练.py", "plain('é', '训练')\n")
    done = sandbox.run_bytes(environment={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
    assert (done.stderr, done.returncode) == (b"", 1)
    assert b"\\u8bad\\u7ec3.py:1:1: DDP991" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_file_name_that_is_no_text(sandbox: Sandbox) -> None:
    path = os.fsencode(sandbox.folder) + b"/\xff.py"
    with open(path, "wb") as file:
        file.write(b"plain()\n")
    done = sandbox.run()
    assert (done.stderr, done.returncode) == ("", 1)
    assert "udcff.py:1:1: DDP991" in done.stdout


def test_a_bar_waits_until_people_do(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(with_progress("abc", 3)) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0)
    assert list(with_progress("abc", 3)) == ["a", "b", "c"]
    assert "linting" in capsys.readouterr().err


def test_a_bar_for_a_long_run(sandbox: Sandbox) -> None:
    for number in range(6):
        sandbox.write(f"slow{number}.py", "slow()\n")
    assert "linting" in on_terminal(sandbox)
    assert "linting" not in on_terminal(sandbox, "--format", "json")
    assert "linting" not in on_terminal(sandbox, environment={"TERM": "dumb"})
