"""Variables that change what torch, CUDA and NCCL do."""

from __future__ import annotations

import re

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, warn

# What torch's allocator knows: https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf
_ALLOCATOR = frozenset(
    {"backend", "expandable_segments", "garbage_collection_threshold", "graph_capture_record_stream_reuse"}
    | {"max_non_split_rounding_mb", "max_split_size_mb", "per_process_memory_fraction", "pinned_num_register_threads"}
    | {"pinned_reserve_segment_size_mb", "pinned_use_background_threads", "pinned_use_cuda_host_register"}
    | {"release_lock_on_cudamalloc", "roundup_power2_divisions", "throw_on_cudamalloc_oom"}
)
_ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
# Ways that NCCL is told not to take.
_SWITCHED_OFF = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE")
# Since torch 2.2 these begin with TORCH_.
_RENAMED = (
    *("NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT", "NCCL_DESYNC_DEBUG", "NCCL_ENABLE_TIMING"),
    "NCCL_USE_COMM_NONBLOCKING",
)
_OFF = ("", "0")
_DEVICE = re.compile(r"\d+|(?:GPU|MIG)-[0-9a-fA-F-]+(?:/\d+/\d+)?")


def visible_devices(facts: Facts, asked: Asked) -> Verdict | None:
    """ENV910: whether CUDA_VISIBLE_DEVICES can be read and leaves a GPU for each process."""
    given = facts.variable("CUDA_VISIBLE_DEVICES")
    gpus = len(facts.gpus)
    if given is not None:
        names = [name.strip() for name in given.split(",")] if given.strip() else []
        wrong = [name for name in names if not _DEVICE.fullmatch(name)]
        if wrong and names != ["-1"]:
            remedy = "numbers or identifiers with commas between; CUDA leaves out all from the first wrong one on"
            return fail(f"CUDA_VISIBLE_DEVICES={given}", "devices with commas between them", remedy)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            return fail(f"CUDA_VISIBLE_DEVICES={given}", "each device once", f"{', '.join(twice)} comes twice")
    shown = (f"{gpus} GPU" if gpus == 1 else f"{gpus} GPUs") + (
        "" if given is None else f" by CUDA_VISIBLE_DEVICES={given}"
    )
    if asked.processes is not None and gpus and asked.processes > gpus:
        should = f"a GPU for each of {asked.processes} processes"
        return fail(shown, should, f"--nproc-per-node={gpus}, or more in CUDA_VISIBLE_DEVICES")
    if not gpus and asked.needs.wants_gpus:
        return fail(f"no GPU, and {asked.needs.script} makes an NCCL group", "a GPU for each process", "see ENV902")
    return ok(shown)


def launch_blocking(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV911: whether Python waits for every kernel."""
    given = facts.variable("CUDA_LAUNCH_BLOCKING")
    if given is None or given in _OFF:
        return ok("CUDA_LAUNCH_BLOCKING is not set")
    remedy = "unset CUDA_LAUNCH_BLOCKING once the error is found"
    return warn(f"CUDA_LAUNCH_BLOCKING={given}", "not set: every kernel is waited for", remedy)


def allocator(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV912: whether torch knows the settings of its allocator."""
    for variable in _ALLOCATOR_VARIABLES:
        given = facts.variable(variable)
        if not given:
            continue
        words = [part.partition(":") for part in re.sub(r"\[[^\]]*\]", "", given).split(",") if part.strip()]
        wrong = [name.strip() for name, colon, _ in words if name.strip() not in _ALLOCATOR or not colon]
        if wrong:
            should = "settings that torch knows, as in expandable_segments:True"
            return fail(f"{variable}={given}", should, f"take out or correct {', '.join(wrong)}")
        return ok(f"{variable}={given}")
    return None


def nccl(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV915: switches of NCCL that cost bandwidth, that nobody reads any more, or that name nothing."""
    off = [f"{name}={value}" for name in _SWITCHED_OFF if (value := facts.variable(name)) and value not in _OFF]
    if off:
        remedy = f"unset {' '.join(name.partition('=')[0] for name in off)}, unless this machine hangs without"
        return warn(", ".join(off), "all ways open", remedy)
    old = [name for name in _RENAMED if facts.variable(name) is not None]
    if old:
        return warn(", ".join(old), "the names since torch 2.2", f"write {', '.join(f'TORCH_{name}' for name in old)}")
    wanted, present = facts.variable("NCCL_SOCKET_IFNAME"), facts.get("network.interfaces")
    if wanted and present and not _names_one(wanted, present):
        remedy = f"this machine has {', '.join(present)}"
        return fail(f"NCCL_SOCKET_IFNAME={wanted}", "an interface of this machine", remedy)
    return ok("no switch of NCCL costs bandwidth")


def _names_one(wanted: str, present: list[str]) -> bool:
    """Whether a list of names, or of beginnings of names, allows an interface; ^ excludes, = wants the whole name."""
    excludes, whole = wanted.startswith("^"), wanted.lstrip("^").startswith("=")
    names = [name.strip() for name in wanted.lstrip("^=").split(",")]
    hit = [any(one == name if whole else one.startswith(name) for name in names) for one in present]
    return not all(hit) if excludes else any(hit)
