"""Facts are read by processes of their own, which are ended when they take too long."""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path

import pytest

from ddplint.doctor.gather import gather, time_all_reduce
from ddplint.errors import OptionError


def interpreter(folder: Path, text: str) -> str:
    """Return a program in the place of an interpreter."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_facts_of_this_machine() -> None:
    pytest.importorskip("torch", reason="the facts are those of torch")
    facts = gather(sys.executable, [29500], 60)
    assert facts.text("python.executable")
    assert facts.number("host.usable_cores") in range(1, 4096)
    assert facts.text("torch.version")
    assert set(facts.get("ports")) == {"29500"}


def test_what_was_read_before_a_crash_is_kept(tmp_path: Path) -> None:
    facts = gather(interpreter(tmp_path, """echo '{"host": {"usable_cores": 3}}'; kill -SEGV $$"""), [], 20)
    assert facts.number("host.usable_cores") == 3
    assert facts.missing == {"the rest": "the process ended with SIGSEGV"}


def test_noise_of_libraries_is_no_fact(tmp_path: Path) -> None:
    facts = gather(interpreter(tmp_path, """echo warning; echo '[1]'; echo '{"host": {"name": "x"}}'"""), [], 20)
    assert (facts.text("host.name"), dict(facts.missing)) == ("x", {})


def test_a_process_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    program = interpreter(tmp_path, f"""echo '{{"host": {{}}}}'; sleep 300 & echo $! > {tmp_path}/pid; wait""")
    before = time.monotonic()
    facts = gather(program, [], 1)
    assert time.monotonic() - before < 20
    assert facts.missing == {"the rest": "not done after 1 s"}
    assert not runs(int((tmp_path / "pid").read_text()))


def test_no_such_interpreter(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="No such file"):
        gather(str(tmp_path / "nothing"), [], 1)


def test_an_all_reduce_over_two_gloo_processes() -> None:
    pytest.importorskip("torch", reason="it sums with torch")
    found = time_all_reduce(sys.executable, 2, 60)
    assert (found["ranks"], found["correct"]) == (2, True)
    assert found["seconds"] > 0


def test_an_all_reduce_that_fails_says_why(tmp_path: Path) -> None:
    found = time_all_reduce(interpreter(tmp_path, "echo 'no torch here' >&2; exit 3"), 2, 20)
    assert found == {"error": "no torch here"}


def test_an_all_reduce_that_hangs_is_ended(tmp_path: Path) -> None:
    assert time_all_reduce(interpreter(tmp_path, "sleep 300"), 2, 1) == {"error": "not done after 1 s"}
