"""A made-up machine that is in good order, and changes of its facts."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ddplint.doctor import Facts

GIB = 1 << 30
GPU = {"name": "A100", "memory": 40 * GIB, "free": 40 * GIB - (200 << 20), "capability": [8, 0], "uuid": "1"}
CARD = {
    "name": "A100",
    "processes": [],
    "compute_mode": 0,
    "link_width": 16,
    "link_width_possible": 16,
    "link_generation_possible": 4,
    "nvlinks": 12,
    "uncorrected_errors": 0,
    "throttled": [],
    "numa_node": 0,
}
GOOD: dict[str, Any] = {
    "python": {"executable": "/usr/bin/python3", "version": "3.12.3"},
    "environment": {},
    "host": {
        "name": "node1",
        "usable_cores": 32,
        "shared_memory": 64 * GIB,
        "open_files": 65536,
        "locked_memory": -1,
        "has_infiniband": False,
        "nodes_of_memory": 1,
    },
    "network": {"interfaces": ["eth0", "lo"], "master_address": None},
    "ports": {"29500": True},
    "packages": {"torch": "2.9.0", "nvidia-nccl-cu12": "2.27.3", "nvidia-cudnn-cu12": "9.10"},
    "libraries": [],
    "driver": {"version": "570.1", "cuda": [12, 8]},
    "cards": [{**CARD}, {**CARD}],
    "torch": {
        "version": "2.9.0+cu128",
        "cuda": "12.8",
        "hip": None,
        "backends": {"nccl": True, "gloo": True},
        "architectures": ["sm_70", "sm_80", "sm_90", "compute_90"],
        "nccl": "2.27.3",
    },
    "gpus": [{**GPU}, {**GPU}],
    "pairs": [{"from": 0, "to": 1, "access": True, "correct": True}],
    "missing": {},
}
LACKING = object()


def machine(changes: Mapping[str, Any]) -> Facts:
    """Return the good machine with other facts at some paths; LACKING takes a fact away."""
    tree = deepcopy(GOOD)
    for path, value in changes.items():
        *parents, last = path.split(".")
        at: Any = tree
        for name in parents:
            at = at[int(name)] if isinstance(at, list) else at[name]
        key = int(last) if isinstance(at, list) else last
        if value is LACKING:
            del at[key]
        else:
            at[key] = value
    return Facts(tree)
