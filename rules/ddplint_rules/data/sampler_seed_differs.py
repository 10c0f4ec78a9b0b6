"""Samplers that share a dataset out are seeded differently on each rank

## What it finds

A shuffling `DistributedSampler` whose `seed` is made from the rank, from the clock or the process id, or drawn from a
generator that nobody seeds; and a hand-made share of a random order, `order[rank::world_size]`, whose generator is
seeded in such a way.

It is silent where the ranks exchange the seed (a broadcast), where the program seeds its generators and draws from
them, and for seeds that are meant to differ: those of `torch.manual_seed` and the like.

## Why it matters

The ranks' shares fit together only when every rank deals out the same order. With another seed on each rank they
overlap: some samples are trained on several times in an epoch, others never. No warning tells of it.

## Symptoms

- the ranks draw overlapping samples

## Example

```python bad
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset, args):
    rank = dist.get_rank()
    sampler = DistributedSampler(dataset, seed=args.seed + rank)  #~ DDP215
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python fixed
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset, args):
    rank = dist.get_rank()
    sampler = DistributedSampler(dataset, seed=args.seed)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

Augmentation is to differ between the ranks, the order is not:

```python good
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build_loader(dataset, args):
    torch.manual_seed(args.seed + dist.get_rank())
    sampler = DistributedSampler(dataset, seed=args.seed)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

## Fix

Safe for a `DistributedSampler`: the part of the seed that differs is dropped, or the whole argument where nothing
else is left. Only the order of the samples changes. A hand-made share has no fix.

## At run time

Confirmed: the samplers' seeds differ between ranks, and their shares overlap. Refuted: the seeds are equal. Not
exercised: the run had one process.

## References

- https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Argument,
    Attribute,
    Call,
    Confidence,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Operation,
    Project,
    Rule,
    Script,
    Trace,
    Verdict,
)

RULE = Rule(
    code="DDP215",
    name="sampler-seed-differs",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("Sampler", "randperm", "permutation"),
    applicability=Applicability.SAFE,
)
_DISTRIBUTED_SAMPLER = "torch.utils.data.distributed.DistributedSampler"


@dataclass(frozen=True, slots=True)
class _Seeded:
    """A sampler, the argument that seeds it, and the part of the seed that is equal on all ranks."""

    sampler: Call
    argument: Argument
    equal: Expression | None


def check(script: Script, project: Project) -> Iterator[Found]:
    for call in project.calls(script, _DISTRIBUTED_SAMPLER):
        seed = project.argument(call, "seed")
        spread = project.seeds.spread(seed) if isinstance(seed, Expression) else None
        if spread is not None and project.samplers.shuffles(call) is not False:
            assert isinstance(seed, Expression)
            yield Found(
                call,
                f"the sampler's seed {spread.value}: each rank shuffles in its own order, so the ranks' shares "
                "overlap and other samples are never seen; give every rank the same seed",
                Confidence.LIKELY,
                subject=_seeded(call, seed, project),
            )
    for taken, seed in project.seeds.of_shards(script):
        spread = project.seeds.spread(seed)
        if spread is not None:
            yield Found(
                taken,
                f"the seed of the order that this share is taken from {spread.value}: the ranks' shares overlap and "
                "other samples are never seen; give every rank the same seed",
                related=((seed, "the seed"),),
            )


def _seeded(call: Call, seed: Expression, project: Project) -> _Seeded | None:
    argument = next((given for given in call.arguments if given.value is seed), None)
    if argument is None or (isinstance(seed, Attribute) and not project.rank_parts.differs(seed)):
        return None
    parts = seed.operands if isinstance(seed, Operation) and seed.operator == "+" else ()
    equal = [part for part in parts if project.seeds.spread(part) is None]
    return _Seeded(call, argument, equal[0] if len(equal) == 1 else None)


def fix(found: Found, edits: Editor) -> Fix | None:
    seeded = found.subject
    if not isinstance(seeded, _Seeded):
        return None
    if seeded.equal is not None:
        text = edits.source_text(seeded.equal.node)
        changes = edits.replace_argument(seeded.argument.node, text)
        return Fix(Applicability.SAFE, f"Seed with {text} on every rank", changes)
    if seeded.argument.keyword is None:
        return None
    changes = edits.remove_argument(seeded.sampler.node, seeded.argument.node)
    return Fix(Applicability.SAFE, "Leave the seed to the sampler: 0 on every rank", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Compare the seeds of the samplers that were made at the line."""
    seeds: dict[int, object] = {}
    for process in trace.processes:
        made = {event["sampler"] for event in process.of(Kind.SAMPLER) if event.is_below(finding.lines)}
        for event in process.of(Kind.SAMPLER_PASS):
            if event["sampler"] in made and process.rank is not None:
                seeds.setdefault(process.rank, event["seed"])
    if len(seeds) < 2:
        return Verdict.not_exercised("fewer than two ranks went through the sampler")
    evidence = [f"rank {rank}: seed {seed}" for rank, seed in sorted(seeds.items())]
    if len(set(seeds.values())) > 1:
        return Verdict.confirmed("the seeds of the samplers differ", *evidence)
    return Verdict.refuted("the samplers have one seed", *evidence)
