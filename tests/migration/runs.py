"""Training scripts run by processes of their own, as python and as torchrun start them, and what they leave behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

# Seconds for all processes of one run.
PATIENCE = 100
# What a process says that gloo aborts while Python ends: a thread of gloo still waits to let go of its last tensor.
# Everything is written by then. That is torch's own race (seen with 2.13, https://github.com/pytorch/pytorch/pull/179291
# tells of it); the barrier at the end of a migrated script makes it rare, not impossible.
GLOO_ABORT = "terminate called without an active exception"
# The scripts wrap their model where there are several GPUs; DataParallel hands everything through where there are none.
TWO_GPUS = "import torch\ntorch.cuda.device_count = lambda: 2\n"
# Ranks that share one GPU: NCCL takes none twice, gloo does. What a script asks for is rewritten on the way.
SHARED_GPU = """import torch.cuda, torch.distributed as dist
init = dist.init_process_group
dist.init_process_group = lambda backend, **how: init("gloo", **how)
torch.cuda.set_device = lambda device: None
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What a script printed, and the states that it saved, by their paths."""

    printed: str
    saved: dict[str, dict[str, Any]]


def run(text: str, folder: Path, ranks: int | None, *options: str, before: str = TWO_GPUS, gpus: str = "") -> Run:
    """Run a script in a new folder, with ``ranks`` processes as torchrun starts them, None: by python alone.

    ``before`` is run before the script; ``gpus`` are those that it sees, as in CUDA_VISIBLE_DEVICES. Raises
    AssertionError with what it wrote to the standard error when it fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(text)
    (folder / "sitecustomize.py").write_text(before)
    command = [sys.executable, "train.py", *options]
    processes = [
        subprocess.Popen(command, cwd=folder, env=environment, stdout=PIPE, stderr=PIPE, text=True)
        for environment in _environments(folder, ranks, gpus)
    ]
    try:
        printed = [process.communicate(timeout=PATIENCE) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, error) in zip(processes, printed, strict=True):
        assert process.returncode == 0 or _is_gloo_abort(process.returncode, error), error[-2000:]
    saved = {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*.pt"))}
    return Run("".join(output for output, _ in printed), saved)


def _is_gloo_abort(code: int, error: str) -> bool:
    return code == -signal.SIGABRT and error.rstrip().endswith(GLOO_ABORT)


def _environments(folder: Path, ranks: int | None, gpus: str) -> list[dict[str, str]]:
    """Return what each process finds in its environment."""
    own = {**os.environ, "PYTHONPATH": str(folder), "PYTHONUNBUFFERED": "1"}
    own |= {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": gpus}
    if ranks is None:
        return [own]
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(found.getsockname()[1]), "WORLD_SIZE": str(ranks)}
    return [{**own, **meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)]


def largest_difference(one: Run, other: Run) -> float:
    """Return the largest difference between saved numbers; raises AssertionError where other things differ."""
    assert one.saved.keys() == other.saved.keys()
    found = 0.0
    for path, state in one.saved.items():
        assert state.keys() == other.saved[path].keys()
        for key, value in state.items():
            found = max(found, _difference(value, other.saved[path][key]))
    return found


def _difference(value: Any, other: Any) -> float:
    if hasattr(value, "numel"):
        assert value.shape == other.shape
        return float((value.double() - other.double()).abs().max()) if value.numel() else 0.0
    if isinstance(value, float):
        return abs(value - float(other))
    assert value == other
    return 0.0


def _state(path: Path) -> dict[str, Any]:
    import torch  # noqa: TID251 - the states that runs saved are read with what wrote them

    return dict(_flat(torch.load(path, map_location="cpu"), ""))


def _flat(value: Any, prefix: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [item for key, inner in value.items() for item in _flat(inner, f"{prefix}.{key}")]
    if isinstance(value, list | tuple):
        return [item for number, inner in enumerate(value) for item in _flat(inner, f"{prefix}.{number}")]
    return [(prefix, value)]
