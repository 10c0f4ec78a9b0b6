"""The commands that start a script, and the environment that they run in."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ddplint
from ddplint.runtime.probe.plan import OVERLAY
from ddplint.runtime.start import Start

HOME = Path(ddplint.__file__).parent
_INJECTED = HOME / "runtime" / "probe" / "inject"
LOGS = "logs"
_END = 1 << 16  # bytes of a log that are read
# A line of torchrun: failed (exitcode: -9) local_rank: 1 (pid: 77) of binary: ...
_CODE = re.compile(r"\(exitcode: (-?\d+)\) local_rank: (\d+)")
_RANK_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
# Trackers that would send what is only a test to a server.
_QUIET = {"WANDB_MODE": "disabled", "WANDB_SILENT": "true", "COMET_START_ONLINE": "false"}


@dataclass(frozen=True, slots=True)
class Launch:
    """A command to start: ``rank`` is the one that it becomes, None when it starts the ranks itself."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be run: ``python`` is the interpreter, ``launcher`` is torchrun or direct.

    ``stand_in``: the CPU takes the place of GPUs.
    """

    script: str
    arguments: tuple[str, ...]
    python: str
    nproc: int
    launcher: str
    start: Start
    write: bool
    stand_in: bool


def gpus() -> int:
    """Return how many GPUs a script may see: those of the driver, unless the environment hides some."""
    there = len([path for path in Path("/dev").glob("nvidia*") if path.name.removeprefix("nvidia").isdigit()])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return there
    return min(there, len([device for device in visible.split(",") if device.strip() not in ("", "-1")]))


def launches(request: Request, folder: Path) -> list[Launch]:
    """Return the commands of a run in its folder."""
    environment = _environment(request, folder)
    program = (request.script, *request.arguments)
    logs = folder / LOGS
    if request.start is not Start.LAUNCHER:
        return [Launch((request.python, *program), environment, logs / "script.log")]
    environment.setdefault("OMP_NUM_THREADS", "1")  # as torchrun does
    port = str(_free_port())
    if request.launcher == "direct":
        return [_direct(rank, request, environment, port, logs) for rank in range(request.nproc)]
    options = (
        "--nnodes=1",
        f"--nproc-per-node={request.nproc}",
        "--master-addr=127.0.0.1",
        f"--master-port={port}",
        "--max-restarts=0",
        "--redirects=3",
        f"--log-dir={logs}",
    )
    command = (request.python, "-m", "torch.distributed.run", *options, *program)
    return [Launch(command, environment, logs / "launcher.log")]


def last_lines(folder: Path, most: int) -> dict[int, tuple[str, ...]]:
    """Return the last lines that each rank wrote, by rank; those of a launcher, or of a script alone, under -1."""
    found: dict[int, list[str]] = {}
    for path in sorted((folder / LOGS).rglob("*.log")):
        rank = path.parent.name if path.stem in ("stdout", "stderr") else path.stem.removeprefix("rank")
        found.setdefault(int(rank) if rank.isdigit() else -1, []).extend(_end_of(path).splitlines())
    return {rank: tuple(lines[-most:]) for rank, lines in found.items()}


def codes_told(folder: Path) -> dict[int, int]:
    """Return the exit codes, by rank, of which torchrun says that they ended the run."""
    log = folder / LOGS / "launcher.log"
    if not log.exists():
        return {}
    told = _CODE.findall(_end_of(log))
    return {int(rank): int(code) for code, rank in told}


def _end_of(path: Path) -> str:
    """Return the end of a file, which may be long."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END))
        return file.read().decode("utf-8", "replace")


def _direct(rank: int, request: Request, environment: Mapping[str, str], port: str, logs: Path) -> Launch:
    own = {
        **environment,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(request.nproc),
        "LOCAL_WORLD_SIZE": str(request.nproc),
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }
    command = (request.python, request.script, *request.arguments)
    return Launch(command, own, logs / f"rank{rank}.log", rank)


def _environment(request: Request, folder: Path) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _RANK_VARIABLES}
    environment["PYTHONPATH"] = os.pathsep.join(_paths(environment.get("PYTHONPATH", "")))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    environment["PYTHONFAULTHANDLER"] = "1"
    environment["DDPLINT_RUN"] = str(folder)
    environment["DDPLINT_HOME"] = str(HOME)
    if request.stand_in:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    if not request.write:
        environment.update(_QUIET)
        environment["MLFLOW_TRACKING_URI"] = (folder / OVERLAY / "mlruns").as_uri()
    return environment


def _paths(old: str) -> Sequence[str]:
    return (str(_INJECTED), old) if old else (str(_INJECTED),)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
