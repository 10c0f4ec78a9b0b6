"""The facts of this machine, read by child processes that are ended when they take too long."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from ddplint.doctor.asked import Asked
from ddplint.doctor.checks.network import wanted_ports
from ddplint.doctor.facts import Facts
from ddplint.errors import OptionError

_SCRIPTS = Path(__file__).parent / "collect"
# Bytes of the all-reduce that is timed: what torch's documentation calls a large bucket, and NCCL's tests use.
REDUCED = 64 << 20


def gather_for(asked: Asked, python: str, seconds: float, *, nccl_test: bool) -> Facts:
    """Read the facts that judge what is asked; each of the children gets so many seconds.

    Raises OptionError where the interpreter can't be started.
    """
    ports = wanted_ports(os.environ.get("MASTER_PORT"), asked.needs.ports)
    facts = gather(python, ports, seconds)
    if not nccl_test:
        return facts
    ranks = asked.processes or len(facts.gpus) or 2
    return Facts({**facts.tree, "all_reduce": time_all_reduce(python, ranks, seconds)})


def gather(python: str, ports: Iterable[int], seconds: float) -> Facts:
    """Read the facts with an interpreter; what is not read after so many seconds is missing.

    Raises OptionError where the interpreter can't be started.
    """
    command = [python, str(_SCRIPTS / "machine.py"), *map(str, ports)]
    try:
        child = subprocess.Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, text=True, start_new_session=True)
    except OSError as error:
        raise OptionError(f"--python {python}: {error.strerror or error}") from None
    printed, why = _outcome(child, seconds)
    tree: dict[str, Any] = {"missing": {}}
    for line in printed.splitlines():
        part = _content(line)
        tree["missing"].update(part.pop("missing", {}))
        tree.update(part)
    if why:
        tree["missing"]["the rest"] = why
    return Facts(tree)


def time_all_reduce(python: str, ranks: int, seconds: float) -> Mapping[str, Any]:
    """Time an all-reduce of 64 MiB over so many processes of this machine; return what rank 0 saw, or ``error``."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    own = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks)}
    command = [python, str(_SCRIPTS / "allreduce.py"), str(REDUCED)]
    with tempfile.TemporaryFile("w+") as errors:
        children = [
            subprocess.Popen(
                command,
                env={**own, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            for rank in range(ranks)
        ]
        try:
            printed, why = _outcome(children[0], seconds)
        finally:
            for child in children:
                _end(child)
        errors.seek(0)
        last = errors.read().strip().splitlines()[-1:]
    return _content(printed) or {"error": why if why.startswith("not done") or not last else last[0]}


def _outcome(child: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    """Return what a child printed until it ended or was ended, and why there is no more."""
    try:
        printed, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(child)
        printed, _ = child.communicate()
        return printed, f"not done after {seconds:g} s"
    return printed, f"the process ended with {_code(child.returncode)}" if child.returncode else ""


def _code(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _end(child: subprocess.Popen[str]) -> None:
    """End a child and what it started: it leads a session of its own."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _content(line: str) -> dict[str, Any]:
    """Return the JSON object of a line, an empty one where it holds none: a library may print, too."""
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
