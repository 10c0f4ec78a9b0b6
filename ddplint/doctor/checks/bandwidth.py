"""A timed all-reduce against what the links can carry."""

from __future__ import annotations

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, warn

# Bytes a second and direction of one PCIe lane, by generation, and of one NVLink of the third or fourth generation.
_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.97e9, 5: 3.94e9, 6: 7.56e9}
_NVLINK = 25e9
# A 64 MiB all-reduce reaches most of it on a healthy machine.
_SHARE = 0.3


def all_reduce(facts: Facts, _asked: Asked) -> Verdict | None:
    """ENV919: the time of a 64 MiB all-reduce over all GPUs, or gloo processes where there are none.

    Bus bandwidth: 2 (n - 1) / n times the bytes, over the time.
    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    """
    run = facts.get("all_reduce")
    if run is None:
        return None
    if "error" in run:
        remedy = "NCCL_DEBUG=INFO shows where it stops"
        return fail(f"the all-reduce failed: {run['error']}", "it comes to its end", remedy)
    ranks, seconds, size = run["ranks"], run["seconds"], run["bytes"]
    if not run["correct"]:
        return fail(f"wrong sums over {ranks} {run['backend']} ranks", "the same sum everywhere", "see ENV904")
    if ranks < 2:
        return ok(f"one {run['backend']} rank: {seconds * 1e3:.2f} ms, and no link to judge")
    rate = 2 * (ranks - 1) / ranks * size / seconds
    read = f"{size >> 20} MiB over {ranks} {run['backend']} ranks: {seconds * 1e3:.2f} ms, {rate / 1e9:.1f} GB/s"
    possible = _possible(facts)
    if possible is None or run["backend"] != "nccl":
        return ok(read)
    should = f"a good part of the {possible / 1e9:.0f} GB/s of the links"
    return warn(read, should, "see ENV904, ENV905 and ENV915") if rate < _SHARE * possible else ok(f"{read}; {should}")


def _possible(facts: Facts) -> float | None:
    """What the slowest GPU's links can carry, None where they were not read."""
    rates = []
    for card in facts.cards:
        nvlinks, lanes = card.number("nvlinks"), card.number("link_width_possible")
        generation = card.number("link_generation_possible")
        if nvlinks:
            rates.append(nvlinks * _NVLINK)
        elif lanes and generation in _LANE:
            rates.append(lanes * _LANE[generation])
    return min(rates, default=None)
