"""A model wrapped twice: DistributedDataParallel in itself, or together with DataParallel

## What it finds

DistributedDataParallel around a model that already is in DistributedDataParallel or in DataParallel, and DataParallel
around DistributedDataParallel, also where the two are in different functions. It is reported where the model is wrapped
twice on every run, or on every run that takes the branch of the first wrapper.

It is silent in branches that exclude each other, for DataParallel on a single GPU of its own, which hands its inputs
straight on, and for models that come from code that can't be read.

## Why it matters

Both wrappers of a model in two DistributedDataParallel exchange all gradients: twice the communication for the same
result, and a checkpoint in which every key begins with `module.module.`. DataParallel in a process of its own takes all
GPUs of the machine, which belong to the other processes. It wants the model on the first of them and fails on every
rank whose model is elsewhere.

## Symptoms

- training is slower after wrapping twice
- state dict keys begin with module.module.

## Example

```python bad
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Linear(8, 2).to(local_rank)
    model = nn.DataParallel(model)
    return DistributedDataParallel(model, device_ids=[local_rank])  #~ DDP110
```

```python fixed
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Linear(8, 2).to(local_rank)
    return DistributedDataParallel(model, device_ids=[local_rank])
```

```python good
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank, distributed):
    model = nn.Linear(8, 2).to(local_rank)
    if distributed:
        return DistributedDataParallel(model, device_ids=[local_rank])
    return nn.DataParallel(model)
```

## Fix

Unsafe: DataParallel is taken away, or the outer one of two DistributedDataParallel. What reads the model through two
`.module`, or loads a checkpoint that was saved through them, has to be changed by hand.

## At run time

Confirmed when a wrapper holds a wrapper. Refuted when none does by the first step.

## References

- The two compared: https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-nn-ddp-instead
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Call,
    Constant,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Missing,
    Name,
    Project,
    Role,
    Rule,
    Script,
    Sequence,
    Trace,
    Verdict,
    Wrapper,
    shown,
)

RULE = Rule(
    code="DDP110",
    name="double-wrap",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DataParallel",),
    applicability=Applicability.UNSAFE,
)
DDP = "torch.nn.parallel.DistributedDataParallel"
DATA_PARALLEL = "torch.nn.DataParallel"
WRAPPED = {DDP: (Wrapper.DDP, Wrapper.DATA_PARALLEL), DATA_PARALLEL: (Wrapper.DDP,)}


@dataclass(frozen=True, slots=True)
class TwoWraps:
    """A wrapper around a wrapper; ``needless`` is the one of them to take away, ``module`` what it wraps."""

    outer: Call
    inner: Call
    needless: Call
    module: Expression


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what is wrapped although it is a wrapper."""
    if project.role(script) is Role.TEST:
        return
    for name, held in WRAPPED.items():
        for outer in project.calls(script, name):
            module = project.argument(outer, "module")
            if isinstance(module, Missing) or not project.certainly(outer.callee, name):
                continue
            inner = _inner(outer, module, held, project)
            if inner is not None:
                yield _found(outer, inner, module, project)


def _inner(outer: Call, module: Expression, held: tuple[Wrapper, ...], project: Project) -> Call | None:
    """Return the call that wraps a model before another one certainly does it again."""
    for wrapper in held:
        is_always = project.models.wrappers(module) <= frozenset(held)
        for inner, _ in project.models.wraps(module, wrapper):
            if inner is outer or _runs_on_one_gpu(inner, project) or _runs_on_one_gpu(outer, project):
                continue
            if is_always or _always_comes_to(inner, outer, module):
                return inner
    return None


def _always_comes_to(inner: Call, outer: Call, module: Expression) -> bool:
    """Whether a run that wraps once always wraps the same object again."""
    if inner.scope is not outer.scope or inner.order > outer.order or not inner.region.within(outer.region):
        return False
    return not isinstance(module, Attribute) or not any(
        inner.order < store.order < outer.order and (store.value is None or inner not in store.value.walk())
        for store in outer.scope.script.attribute_stores.get(module.name, ())
    )


def _runs_on_one_gpu(wrap: Call, project: Project) -> bool:
    """Whether a DataParallel, by what it is told, is for one GPU or for what is not known."""
    if not project.certainly(wrap.callee, DATA_PARALLEL):
        return False
    ids = project.argument(wrap, "device_ids")
    if isinstance(ids, Missing):
        return ids is Missing.UNKNOWN
    if isinstance(ids, Constant):
        return ids.value is not None
    return not isinstance(ids, Sequence) or len(ids.items) < 2


def _found(outer: Call, inner: Call, module: Expression, project: Project) -> Found:
    both = [outer, inner]
    mixed = [wrap for wrap in both if project.certainly(wrap.callee, DATA_PARALLEL)]
    needless = mixed[0] if mixed else outer
    inside = project.argument(needless, "module")
    subject = None if isinstance(inside, Missing) else TwoWraps(outer, inner, needless, inside)
    return Found(
        outer,
        _message(module, bool(mixed)),
        related=((inner, "the first wrapper"),) if inner.scope.script is outer.scope.script else (),
        subject=subject,
        impact=Impact.CRASH if mixed else Impact.SLOW,
    )


def _message(module: Expression, mixed: bool) -> str:
    model = f"`{shown(module)}`" if isinstance(module, Name | Attribute) else "the model"
    if mixed:
        return (
            f"{model} is wrapped in DataParallel and in DistributedDataParallel: each process takes the GPUs of all "
            "others, and every rank but the first fails; wrap it in DistributedDataParallel only"
        )
    return (
        f"{model} is wrapped in DistributedDataParallel already: a second wrapper exchanges all gradients once more "
        "for the same result; wrap it once"
    )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Take the needless wrapper away."""
    wraps = found.subject
    if not isinstance(wraps, TwoWraps) or wraps.needless.scope.script is not wraps.outer.scope.script:
        return None
    needless, inside = wraps.needless, edits.source_text(wraps.module.node)
    line = edits.source_text(needless.statement.node).strip()
    if line == f"{inside} = {edits.source_text(needless.node)}":
        changes = edits.remove_statement(needless.statement.node)
    else:
        changes = edits.replace(needless.node, inside)
    return Fix(Applicability.UNSAFE, "Wrap the model once", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for a wrapper around a wrapper."""
    wrappers = trace.below(finding.lines, Kind.DDP, Kind.DP)
    twice = [event for event in wrappers if str(event["module"]).endswith("DataParallel")]
    if twice:
        return Verdict.confirmed(f"the wrapper holds a {twice[0]['module']}")
    return (
        Verdict.refuted("no wrapper holds a wrapper") if wrappers else Verdict.not_exercised("no wrapper was made here")
    )
