r"""A DataLoader that is told to shuffle and given a sampler as well

## What it finds
A `DataLoader` with `shuffle=True` beside a `sampler`, and one with a `batch_sampler` beside `shuffle=True`, a
`sampler`, `drop_last=True` or a `batch_size` other than 1. The value has to be a constant True wherever it comes from,
and the sampler has to be one.

It is silent where the two can't be set together: `shuffle=(sampler is None)`, a value that another branch sets to
False, a loader that stands under a test of its sampler.

## Why it matters
The loader raises ValueError when it is built. In many scripts that is only the distributed path, so the mistake shows
when the job has waited for its GPUs and every process has loaded its data.

## Symptoms

- ValueError: sampler option is mutually exclusive with shuffle

## Example
```python bad
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")


def build_loader(dataset):
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, batch_size=32, shuffle=True, sampler=sampler)  #~ DDP203
```

```python fixed
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("nccl")


def build_loader(dataset):
    sampler = DistributedSampler(dataset)
    return DataLoader(dataset, batch_size=32, sampler=sampler)
```

```python good
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

distributed = dist.is_available() and dist.is_initialized()


def build_loader(dataset):
    sampler = DistributedSampler(dataset) if distributed else None
    return DataLoader(dataset, batch_size=32, shuffle=(sampler is None), sampler=sampler)
```

## Fix
Safe, since the loader could not be built. Beside a sampler that shuffles by itself the argument is dropped; where the
sampler may also be None it becomes `shuffle=sampler is None`, which keeps the path that worked. Beside a sampler that
does not shuffle, and for `batch_sampler`, there is no fix: what the author wants can't be told.

## At run time
Confirmed by the ValueError at the line; refuted when the loader is built; not exercised when the line is not reached.

## References
- <https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader>
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
    Loader,
    Name,
    Project,
    Rule,
    Sampler,
    SamplerKind,
    Script,
    Trace,
    Verdict,
    quoted,
)

RULE = Rule(
    code="DDP203",
    name="shuffle-with-sampler",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("sampler",),
    discharged_by=frozenset({"lightning", "transformers", "ray"}),
    applicability=Applicability.SAFE,
)


@dataclass(frozen=True)
class _Mend:
    """The argument that has to go, and the sampler whose absence it may follow instead."""

    call: Call
    shuffle: Argument
    sampler: Expression | None


def check(script: Script, project: Project) -> Iterator[Found]:
    if not project.is_distributed(script):
        return
    for loader in project.loaders(script):
        yield from _beside_sampler(loader, project)
        yield from _beside_batch_sampler(loader, project)


def _beside_sampler(loader: Loader, project: Project) -> Iterator[Found]:
    sampler = loader.argument("sampler")
    shuffle = _argument(loader, "shuffle")
    if not isinstance(sampler, Expression) or shuffle is None or not _always(shuffle.value, True, project):
        return
    kinds = {found.kind for found in project.samplers.of(sampler)}
    if not kinds - {SamplerKind.NONE, SamplerKind.UNKNOWN} or _depends_on(loader.call, sampler):
        return
    certain = loader.is_torchs and kinds.isdisjoint({SamplerKind.NONE, SamplerKind.UNKNOWN})
    script = loader.call.scope.script
    made = [found.made for found in project.samplers.of(sampler) if found.made is not None]
    yield Found(
        shuffle.value,
        "shuffle=True beside a sampler: DataLoader raises ValueError when it is built; leave the order to the sampler "
        "and drop shuffle",
        Confidence.CERTAIN if certain else Confidence.LIKELY,
        related=tuple((call, "the sampler is made here") for call in made if call.scope.script is script),
        subject=_mend(loader, shuffle, sampler, project),
    )


def _beside_batch_sampler(loader: Loader, project: Project) -> Iterator[Found]:
    batch_sampler = loader.argument("batch_sampler")
    if not isinstance(batch_sampler, Expression):
        return
    kinds = {found.kind for found in project.samplers.of(batch_sampler)}
    if kinds & {SamplerKind.NONE, SamplerKind.UNKNOWN} or not kinds:
        return
    for name in ("batch_size", "shuffle", "sampler", "drop_last"):
        given = _argument(loader, name)
        if given is not None and _excludes_batch_sampler(name, given.value, project):
            yield Found(
                given.value,
                f"{name} beside a batch_sampler: DataLoader raises ValueError when it is built; the batch "
                f"sampler decides it, so drop {name}",
                Confidence.CERTAIN if loader.is_torchs else Confidence.LIKELY,
            )


def _excludes_batch_sampler(name: str, given: Expression, project: Project) -> bool:
    if name == "sampler":
        return all(found.kind not in (SamplerKind.NONE, SamplerKind.UNKNOWN) for found in project.samplers.of(given))
    if name == "batch_size":
        values = project.constants(given)
        return values is not None and values.isdisjoint({1, None})
    return _always(given, True, project)


def _argument(loader: Loader, name: str) -> Argument | None:
    """Return the argument that stands in the call itself for a parameter."""
    value = loader.argument(name)
    return next((given for given in loader.call.arguments if given.value is value), None)


def _always(given: Expression, value: object, project: Project) -> bool:
    return project.constants(given) == frozenset([value])


def _depends_on(call: Call, sampler: Expression) -> bool:
    """Whether a test around the loader asks for its sampler."""
    if not isinstance(sampler, Name | Attribute):
        return False
    tests = [region.test for region in call.region.chain() if region.test is not None]
    word = sampler.id if isinstance(sampler, Name) else sampler.name
    return any(
        (isinstance(part, Name) and part.id == word) or (isinstance(part, Attribute) and part.name == word)
        for test in tests
        for part in test.walk()
    )


def _mend(loader: Loader, shuffle: Argument, sampler: Expression, project: Project) -> _Mend | None:
    found = project.samplers.of(sampler)
    kinds = {each.kind for each in found}
    if not all(_shuffles(each, project) for each in found if each.kind is not SamplerKind.NONE):
        return None
    if SamplerKind.NONE not in kinds:
        return _Mend(loader.call, shuffle, None)
    return _Mend(loader.call, shuffle, sampler) if isinstance(sampler, Name | Attribute) else None


def _shuffles(sampler: Sampler, project: Project) -> bool:
    """Whether a sampler brings the samples in a random order by itself."""
    if sampler.kind is SamplerKind.DISTRIBUTED and sampler.made is not None:
        return project.samplers.shuffles(sampler.made) is True
    return sampler.kind is SamplerKind.RANDOM


def fix(found: Found, edits: Editor) -> Fix | None:
    mend = found.subject
    if not isinstance(mend, _Mend):
        return None
    if mend.sampler is not None:
        value = f"{edits.source_text(mend.sampler.node)} is None"
        return Fix(Applicability.SAFE, f"Write shuffle={value}", edits.replace_argument(mend.shuffle.node, value))
    if mend.shuffle.keyword is None:
        return Fix(Applicability.SAFE, "Write False for shuffle", edits.replace_argument(mend.shuffle.node, "False"))
    return Fix(Applicability.SAFE, "Drop shuffle", edits.remove_argument(mend.call.node, mend.shuffle.node))


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for the error at the line."""
    failed = [error for error in trace.failures if error.is_below(finding.lines)]
    if failed:
        return Verdict.confirmed("the line fails", f"{failed[0]['error']}: {quoted(failed[0]['text'])}")
    return Verdict.refuted("the line was run without an error")
