"""Reentrant activation checkpointing in a model whose wrapper looks for unused parameters

## What it finds

`torch.utils.checkpoint.checkpoint` and `checkpoint_sequential` with `use_reentrant=True`, or without it, which means
the same, in a model that is wrapped in DistributedDataParallel with `find_unused_parameters=True`. Where an option
switches checkpointing on, or the model around the call is not known for certain, it is shown with `--pedantic`.

It is silent with `use_reentrant=False`, with `static_graph=True` or `_set_static_graph()`, where the wrapper does not
look for unused parameters or an option decides, and in tests. A part that is checkpointed twice in one forward fails as
well, without the search; it is not found.

## Why it matters

The reentrant form runs the part again inside the backward pass, in a graph of its own. The wrapper, which walks the
graph after the forward pass, does not see it, takes its parameters for unused, and is told of their gradients later.
Seen on two ranks with torch 2.13: the first backward pass fails on every rank ("Expected to mark a variable ready only
once"). With `use_reentrant=False`, or with `static_graph=True`, it does not. One process alone trains without an error.

## Example

```python bad
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.body = nn.Linear(8, 8)

    def forward(self, inputs):
        return checkpoint(self.body, self.stem(inputs), use_reentrant=True)  #~ DDP113


model = DistributedDataParallel(Net(), find_unused_parameters=True)
```

```python fixed
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.body = nn.Linear(8, 8)

    def forward(self, inputs):
        return checkpoint(self.body, self.stem(inputs), use_reentrant=False)


model = DistributedDataParallel(Net(), find_unused_parameters=True)
```

```python good
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 8)
        self.body = nn.Linear(8, 8)

    def forward(self, inputs):
        return checkpoint(self.body, self.stem(inputs), use_reentrant=True)


model = DistributedDataParallel(Net())
```

## Fix

Safe: `use_reentrant=False`. The numbers are the same, and torch recommends it. It is unsafe where the project allows a
torch before 2.0, in which that form was young.

## At run time

Confirmed by the RuntimeError of the first backward pass. Refuted when a backward pass ends without it. Not exercised
when no checkpointed part ran.

## References

- `use_reentrant`: https://docs.pytorch.org/docs/stable/checkpoint.html
- `static_graph`: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Call,
    Class,
    Confidence,
    Constant,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    RegionKind,
    Role,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP113",
    name="reentrant-checkpoint",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("checkpoint",),
    everyday=True,
    applicability=Applicability.SAFE,
)
CHECKPOINTS = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")
SETTLED_IN = (2, 0)
# The method by which a program says the same as `static_graph=True`.
SETS_GRAPH = (b"_set_static_graph(",)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report reentrant checkpoints below a wrapper that searches."""
    if project.role(script) is Role.TEST or project.mentions(script, SETS_GRAPH):
        return
    for call in project.calls(script, *CHECKPOINTS):
        if not project.certainly(call.callee, *CHECKPOINTS) or not _is_reentrant(call, project):
            continue
        cls = _class_around(call)
        known = [] if cls is None else list(project.parts.wraps_around(cls))
        searching = [wrap for wrap in known or project.parts.wraps(script) if _searches(wrap, project)]
        if searching:
            certain = bool(known) and not _is_optional(call)
            here = [wrap for wrap in searching if wrap.scope.script is script]
            yield Found(
                call,
                "reentrant checkpointing runs a graph that `find_unused_parameters=True` does not see: the first "
                'backward pass fails with "Expected to mark a variable ready only once"; write `use_reentrant=False`',
                Confidence.LIKELY if certain else Confidence.POSSIBLE,
                related=tuple((wrap, "the wrapper looks for unused parameters") for wrap in here),
                subject=(call, project),
            )


def _is_reentrant(call: Call, project: Project) -> bool:
    given = project.argument(call, "use_reentrant")
    return given is Missing.ABSENT or (isinstance(given, Constant) and given.value in (True, None))


def _class_around(call: Call) -> Class | None:
    function = call.scope.function
    return None if function is None else function.outermost.cls


def _searches(wrap: Call, project: Project) -> bool:
    """Whether a wrapper always looks for unused parameters, and not only once."""
    fixed = project.argument(wrap, "static_graph")
    off = fixed is Missing.ABSENT or (isinstance(fixed, Constant) and fixed.value is False)
    return off and _is_true(project.argument(wrap, "find_unused_parameters"))


def _is_true(given: Expression | Missing) -> bool:
    return isinstance(given, Constant) and given.value is True


def _is_optional(call: Call) -> bool:
    return any(region.kind is RegionKind.BRANCH for region in call.region.chain())


def fix(found: Found, edits: Editor) -> Fix | None:
    """Ask for the other form."""
    assert isinstance(found.subject, tuple)
    call, project = found.subject
    assert isinstance(call, Call)
    assert isinstance(project, Project)
    given = next((argument for argument in call.arguments if argument.keyword == "use_reentrant"), None)
    if given is not None:
        changes = edits.replace(given.value.node, "False")
    elif project.argument(call, "use_reentrant") is Missing.ABSENT:
        changes = edits.insert_argument(call.node, "use_reentrant=False")
    else:
        return None
    settled = project.torch.guarantees(SETTLED_IN)
    applicability = Applicability.SAFE if settled else Applicability.UNSAFE
    return Fix(applicability, "Checkpoint without a graph of its own", changes)
