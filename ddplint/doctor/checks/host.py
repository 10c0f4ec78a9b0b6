"""The machine around the GPUs: memory shared between processes, cores, limits."""

from __future__ import annotations

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, unknown, warn

_MIB, _GIB = 1 << 20, 1 << 30
# What containers get when nobody asks for more.
_CONTAINER = 64 * _MIB
# Workers of several ranks keep some files open for each tensor that they hand over.
_FILES = 4096


def shared_memory(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV907: the room in which loader workers hand batches over; where it is full, they die of a bus error."""
    size = facts.number("host.shared_memory")
    if size is None:
        return unknown("/dev/shm was not read")
    read = f"/dev/shm of {_readable(size)}"
    remedy = "start the container with --ipc=host or --shm-size=8g"
    if size <= _CONTAINER:
        return fail(read, "a gibibyte or more for loaders with workers", remedy)
    return warn(read, "a gibibyte or more", remedy) if size < _GIB else ok(read)


def _readable(size: int) -> str:
    return f"{size / _GIB:.0f} GiB" if size >= _GIB else f"{size / _MIB:.0f} MiB"


def threads(facts: Facts, asked: Asked) -> Verdict | None:
    """ENV909: whether the threads of all ranks together are more than the cores."""
    cores = facts.number("host.usable_cores")
    if cores is None:
        return unknown("the number of cores was not read")
    ranks = asked.processes or max(1, len(facts.gpus))
    if ranks > cores:
        return warn(f"{ranks} processes on {cores} cores", "a core for each process", "start fewer processes")
    given = facts.variable("OMP_NUM_THREADS")
    if given is None:
        return ok(f"{cores} cores; OMP_NUM_THREADS is not set: torchrun gives each process one thread")
    if not given.isdigit() or int(given) == 0:
        return fail(f"OMP_NUM_THREADS={given}", "a number", f"export OMP_NUM_THREADS={max(1, cores // ranks)}")
    read = f"{ranks} processes of {given} threads on {cores} cores"
    if int(given) * ranks > cores:
        remedy = f"export OMP_NUM_THREADS={max(1, cores // ranks)}"
        return warn(read, "no more threads than cores", remedy)
    return ok(read)


def limits(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV916: open files, and memory that may be locked, which InfiniBand needs."""
    files, locked = facts.number("host.open_files"), facts.number("host.locked_memory")
    if files is None:
        return unknown("the limits were not read")
    if 0 <= files < _FILES:
        remedy = f"ulimit -n {_FILES}, or torch.multiprocessing.set_sharing_strategy('file_system')"
        return warn(f"{files} open files", f"{_FILES} for loaders with many workers", remedy)
    if facts.get("host.has_infiniband") and locked is not None and 0 <= locked < _GIB:
        remedy = "ulimit -l unlimited, in the service or container as well"
        return warn(f"{locked // 1024} KiB of locked memory beside InfiniBand", "unlimited", remedy)
    return ok("open files: " + ("unlimited" if files < 0 else str(files)))


def memory_nodes(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV918: whether GPUs hang on several sockets, where a process on the wrong one copies across."""
    found = {card.number("numa_node") for card in facts.cards} - {None, -1}
    nodes = facts.number("host.nodes_of_memory")
    if not facts.gpus or nodes is None or nodes < 2:
        return None
    if not found:
        return unknown(f"{nodes} memory nodes; those of the GPUs were not read", "nvidia-smi topo -m shows them")
    if len(found) > 1:
        remedy = "bind each rank to the cores of its GPU: numactl, or torchrun --numa-binding=node on newer torch"
        return warn(f"GPUs on memory nodes {sorted(map(str, found))}", "each rank on its GPU's node", remedy)
    return ok(f"all GPUs on one of {nodes} memory nodes")
