"""What names say of a process by the conventions of the field, where nothing better is known."""

from __future__ import annotations

import re

from ddplint.project.lanes import GPUS_PER_NODE, PROCESSES, WORLD_SIZE, DeviceIndex, Row, same
from ddplint.semantics.rank_values import RankValue
from ddplint.semantics.ranks import names_rank

_LOCAL = re.compile(r"(?:^|_)(?:local_?rank|localid|local_process_index)$")
_DEVICE = re.compile(r"(?:local_)?(?:gpu|gpu_?id|device_id)|current_device")
_NODE = re.compile(r"(?:node|machine|group)_?(?:rank|id|index)$")
_GLOBAL = re.compile(r"(?:^|_)(?:get_)?(?:rank|proc_?id|process_index|process_rank|rank_id)$")
_WORLD = re.compile(r"(?:^|_)(?:get_)?(?:world_size|num_replicas|n_?procs|num_processes|num_procs)$")
_GPUS = re.compile(r"(?:^|_)n(?:um)?_?gpus?(?:_per_node)?$|nprocs?_per_node$|local_(?:world_)?size$|device_count$")
# The place of a process in one dimension of a grid: others in the same place are others' first ranks, too.
_GRID = re.compile(
    r"(?:^|_)(?:pp|tp|mp|dp|ep|cp|sp|model|tensor|pipe|pipeline|expert|sequence|context|data|shard|replica|group|stage)"
    r"_(?:model_)?(?:parallel_)?(?:local_|global_)?rank"
)
_SEVERAL = re.compile(
    r"distribut|ddp|multi_?(?:gpu|proc)|is_initialized|is_available|(?:^|_)dist(?:_|$)", re.IGNORECASE
)
# Names of switches that forbid what a run with several processes does otherwise: `skip_ddp_sync`.
_FORBIDS = re.compile(r"prevent|block|skip|disable|suppress", re.IGNORECASE)
_LAST = re.compile(r"(?:^|_)last_(?:rank|process)")
_NO_NUMBER = re.compile(r"^(?:is|if|am|on)_|^(?:lora|low|full|matrix|tensor|svd|tucker|page|reduced)_rank")
# How names say that they are a test of the first rank, rather than something that belongs to it: `primary_loss`.
_FIRST = re.compile(
    r"^(?:is|if|am|on|in)_|(?:process|proc|rank|rank_?0|zero|node|only|worker|master|primary|chief|leader|root|\d)$"
)
# The rank of somebody else, of which a process knows the number, or ranks at large: the same on all ranks.
_PEER = re.compile(
    r"(?:^|_)(?:src|source|dst|dest|target|peer|prev|next|other|owner|sender|receiver|root|main|master|first|all|any|each|every|per|cross)_rank$"
)

_KINDS = (
    (_WORLD, RankValue.WORLD_SIZE),
    (_GPUS, RankValue.GPUS),
    (_LOCAL, RankValue.LOCAL),
    (_NODE, RankValue.NODE),
    (_GLOBAL, RankValue.GLOBAL),
)


def names_distribution(identifier: str) -> bool:
    """Whether a name asks if there are several processes at all, which holds on the runs that are looked at."""
    return bool(_SEVERAL.search(identifier)) and not _FORBIDS.search(identifier)


def row_of_kind(kind: RankValue) -> Row:
    """Return a number of the sample processes."""
    if kind is RankValue.GLOBAL:
        return tuple(process.rank for process in PROCESSES)
    if kind is RankValue.LOCAL:
        return tuple(process.local for process in PROCESSES)
    if kind is RankValue.NODE:
        return tuple(process.node for process in PROCESSES)
    return same(WORLD_SIZE if kind is RankValue.WORLD_SIZE else GPUS_PER_NODE)


def row_by_name(identifier: str) -> Row | None:
    """Return what a variable, attribute or function of this name holds or returns on the samples, None: no idea."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier).lower()
    if _GRID.search(word) or _PEER.search(word):
        return None
    if _LAST.search(word):
        return tuple(process is PROCESSES[-1] for process in PROCESSES)
    if _DEVICE.fullmatch(word):
        return tuple(DeviceIndex(process.local) for process in PROCESSES)
    for pattern, kind in () if _NO_NUMBER.search(word) else _KINDS:
        if pattern.search(word):
            return row_of_kind(kind)
    if not names_rank(word) or not _FIRST.search(word) or word.endswith("ranks") or "not" in word.split("_"):
        return None
    return tuple(process.rank == 0 for process in PROCESSES)
