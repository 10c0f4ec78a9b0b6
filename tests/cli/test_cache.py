"""The cache through real processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.sandbox import Sandbox
from tests.cli.test_startup import imported

FOLDER = ".ddplint_cache"


def test_a_second_run_says_the_same_without_the_parser(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\nmendable()\n")
    assert "libcst" in imported(sandbox, ".", code=1)
    first = sandbox.run("--format", "json", "--no-cache", ".")
    assert "libcst" not in imported(sandbox, ".", code=1)
    second = sandbox.run("--format", "json", ".")
    assert (second.returncode, second.stdout) == (first.returncode, first.stdout)


def test_a_run_without_cache_reads_and_writes_none(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    assert "libcst" in imported(sandbox, "--no-cache", ".", code=1)
    assert not (sandbox.folder / FOLDER).exists()


def test_what_is_known_can_be_fixed(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "mendable()\n")
    assert sandbox.run(".").returncode == 1
    fixed = sandbox.run("--fix", ".")
    assert (fixed.returncode, sandbox.read("train.py")) == (0, "mended()\n")
    assert sandbox.run(".").returncode == 0


def test_clean_removes_the_cache(sandbox: Sandbox) -> None:
    sandbox.write("train.py", "plain()\n")
    sandbox.run(".")
    assert (sandbox.folder / FOLDER).is_dir()
    cleaned = sandbox.run("clean")
    assert (cleaned.returncode, cleaned.stdout) == (0, f"removed {sandbox.folder / FOLDER}\n")
    assert not (sandbox.folder / FOLDER).exists()
    again = sandbox.run("clean")
    assert (again.returncode, again.stdout) == (0, "nothing to remove\n")


def test_clean_leaves_alone_what_is_not_ours(sandbox: Sandbox) -> None:
    sandbox.write(f"{FOLDER}/precious", "mine")
    refused = sandbox.run("clean")
    assert refused.returncode == 2
    assert "was not made by ddplint and is left alone" in refused.stderr
    assert sandbox.read(f"{FOLDER}/precious") == "mine"


@pytest.mark.timeout(100)
def test_runs_at_the_same_time_do_not_disturb_each_other(sandbox: Sandbox) -> None:
    for number in range(20):
        sandbox.write(f"train{number}.py", "plain()\n" * (number + 1))
    command = [sys.executable, "-m", "ddplint", "--format", "json", "."]
    alone = sandbox.run("--format", "json", "--no-cache", ".")
    runs = [
        subprocess.Popen(command, cwd=sandbox.folder, env=sandbox.environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [run.communicate()[0] for run in runs] == [alone.stdout] * 4
    assert sandbox.run("--format", "json", ".").stdout == alone.stdout
    assert not list((sandbox.folder / FOLDER).glob("*.new"))
