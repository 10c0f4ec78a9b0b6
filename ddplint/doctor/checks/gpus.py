"""The GPUs, one by one and in pairs."""

from __future__ import annotations

from collections.abc import Iterable

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, unknown, warn

_GIB = 1 << 30
# GPUs of one model differ by some megabytes.
_ALIKE = 0.97
# What a GPU that nobody uses has taken for itself, in bytes.
_IDLE = 1 * _GIB
_PROHIBITED, _EXCLUSIVE = 2, 3
_NVML = "pip install nvidia-ml-py"


def alike(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV903: whether the GPUs are of one kind: every step takes as long as on the slowest."""
    gpus = facts.gpus
    if len(gpus) < 2:
        return None
    models = sorted({gpu.text("name") or "?" for gpu in gpus})
    memory = [gpu.number("memory") or 0 for gpu in gpus]
    remedy = "leave the slower ones out with CUDA_VISIBLE_DEVICES, or give them smaller batches by hand"
    if len(models) > 1:
        return warn(", ".join(models), "one model", remedy)
    if min(memory) < _ALIKE * max(memory):
        return warn(f"memory from {_gib(min(memory))} to {_gib(max(memory))}", "the same memory", remedy)
    return ok(f"{len(gpus)} of {models[0]}, {_gib(memory[0])} each")


def peers(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV904: whether the GPUs reach each other's memory, and what is copied arrives as it was."""
    pairs = list(facts.each("pairs"))
    if len(facts.gpus) < 2:
        return None
    if not pairs:
        return unknown(facts.missing.get("pairs", "no pair of GPUs was tried"))
    broken = [_pair(pair) for pair in pairs if pair.get("correct") is False]
    if broken:
        remedy = "switch off ACS and the IOMMU for the GPUs in the BIOS; until then NCCL_P2P_DISABLE=1"
        return fail(f"wrong data from {_list(broken)}", "a copy arrives as it was sent", remedy)
    apart = [_pair(pair) for pair in pairs if pair.get("access") is False]
    if apart:
        remedy = "look at the links with the command; some cards and virtual machines don't allow it"
        return warn(f"no direct access for {_list(apart)}", "direct access between all pairs", remedy)
    return ok(f"direct access and right data between all {len(pairs)} pairs")


def links(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV905: whether the links are as wide as they can be. Idle links slow down: only their width is judged."""
    gpus, cards = facts.gpus, facts.cards
    if not gpus:
        return None
    widths = [(card.number("link_width"), card.number("link_width_possible")) for card in cards]
    if not any(now for now, _ in widths):
        return unknown("the links were not read", _NVML)
    narrow = [f"GPU {n}: x{now} of x{most}" for n, (now, most) in enumerate(widths) if now and most and now < most]
    if narrow:
        remedy = "move the card to a slot with all lanes; risers and shared slots cost lanes"
        return warn("; ".join(narrow), "as many PCIe lanes as the card has", remedy)
    lanes = ", ".join(sorted({f"x{now}" for now, _ in widths if now}))
    active = [card.number("nvlinks") or 0 for card in cards]
    if len(gpus) > 1 and not any(active):
        remedy = "nothing, where the cards have none; large gradients then cost a visible share of the step"
        return warn(f"PCIe {lanes}, no NVLink", "NVLink between GPUs that train together", remedy)
    return ok(f"PCIe {lanes}" + (f", {min(active)} NVLinks a GPU" if any(active) else ""))


def shared(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV913: whether others hold memory, and whether several processes may use a GPU."""
    gpus, cards = facts.gpus, facts.cards
    if not gpus:
        return None
    modes = {card.number("compute_mode") for card in cards}
    if _PROHIBITED in modes:
        return fail("compute mode prohibited", "compute mode default", "nvidia-smi -c DEFAULT")
    held = [
        f"GPU {number}: {_gib((gpu.number('memory') or 0) - (gpu.number('free') or 0))} in use"
        for number, gpu in enumerate(gpus)
        if gpu.number("memory") and (gpu.number("memory") or 0) - (gpu.number("free") or 0) > _IDLE
    ]
    processes = [str(pid) for card in cards for pid in card.get("processes") or ()]
    if held:
        who = f" by {', '.join(processes)}" if processes else ""
        return warn("; ".join(held) + who, "all memory free before the start", "end what is left of earlier runs")
    if _EXCLUSIVE in modes:
        remedy = "nvidia-smi -c DEFAULT, unless each rank has a GPU of its own"
        return warn("compute mode exclusive", "compute mode default", remedy)
    return ok("no memory in use")


def health(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV914: memory errors since the driver was loaded, and clocks that are held down now."""
    cards = facts.cards
    if not facts.gpus:
        return None
    if not any("uncorrected_errors" in card.tree or "throttled" in card.tree for card in cards):
        return unknown("neither errors nor clocks were read", _NVML)
    errors = [f"GPU {n}: {count}" for n, card in enumerate(cards) if (count := card.number("uncorrected_errors"))]
    if errors:
        remedy = "reset the GPU, and have it replaced when the errors come back"
        return fail(f"uncorrected memory errors: {'; '.join(errors)}", "none", remedy)
    slow = [f"GPU {n}: {', '.join(card.get('throttled'))}" for n, card in enumerate(cards) if card.get("throttled")]
    if slow:
        return warn(f"clocks held down by {'; '.join(slow)}", "full clocks", "look at cooling and power supply")
    return ok("no memory errors, full clocks")


def _pair(pair: Facts) -> str:
    return f"{pair.number('from')} to {pair.number('to')}"


def _list(names: Iterable[str], most: int = 6) -> str:
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return "GPU " + ", ".join(known[:most]) + more


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
