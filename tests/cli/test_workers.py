"""Runs of many files, in worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from ddplint.engine.run import SMALL_RUN
from tests.cli.sandbox import Sandbox

FILLER = "# " + "x" * 1000 + "\n"


def write_many(sandbox: Sandbox) -> int:
    """Write more than is linted without workers; return the number of files."""
    count = SMALL_RUN // 20_000 + 2
    for number in range(count):
        sandbox.write(f"file{number}.py", FILLER * 20 + "plain()\n")
    return count


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_files_that_kill_a_worker_fail_and_the_rest_goes_on(sandbox: Sandbox, jobs: str) -> None:
    count = write_many(sandbox)
    sandbox.write("deadly1.py", "deadly()\n")
    sandbox.write("deadly2.py", "deadly()\n")
    done = sandbox.run("--jobs", jobs, "--format", "json")
    report = json.loads(done.stdout)
    assert (done.stderr, done.returncode) == ("", 3)
    assert len(report["findings"]) == count
    assert [failed["path"] for failed in report["files"]["failed"]] == ["deadly1.py", "deadly2.py"]
    assert "SIGSEGV" in done.stdout


def test_the_order_of_the_report_does_not_depend_on_the_workers(sandbox: Sandbox) -> None:
    write_many(sandbox)
    sandbox.write("broken.py", b"plain()\0")
    assert sandbox.run("--jobs", "3").stdout == sandbox.run("--jobs", "1").stdout


def test_fixes_after_workers(sandbox: Sandbox) -> None:
    count = write_many(sandbox)
    sandbox.write("train.py", "mendable()\n")
    done = sandbox.run("--fix")
    assert sandbox.read("train.py") == "mended()\n"
    assert done.stdout.count("DDP991") == count


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to a process group")
def test_an_interrupted_run_ends_in_one_line(sandbox: Sandbox) -> None:
    write_many(sandbox)
    for number in range(20):
        sandbox.write(f"slow{number}.py", "slow()\n")
    with subprocess.Popen(
        [sys.executable, "-m", "ddplint"],
        cwd=sandbox.folder,
        env=sandbox.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        while not (sandbox.folder / "started").exists():
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C: to the workers too
        output, errors = process.communicate(timeout=20)
    assert (output, errors.strip(), process.returncode) == (b"", b"ddplint: interrupted", 130)
