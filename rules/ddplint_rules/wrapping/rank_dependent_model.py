"""A wrapped model that has another shape on each rank

## What it finds

DistributedDataParallel around a model that is made

- by different calls on different ranks: another class, or other numbers, under a test of the rank;
- with a number that is made from the rank, as a size: an argument of a layer of torch, or one that is called `width`,
  `num_classes`, `depth` or the like.

It is silent for ranks that only say where the model goes (`device`, `gpu`), for weights that one rank loads before they
are broadcast, where the ranks exchange the number, and in tests.

## Why it matters

The wrapper compares the shapes of all parameters with those of the first rank. Seen on two ranks with torch 2.13: the
second rank fails ("params[0] in this process with sizes [2, 4] appears not to match sizes of the same param in process
0"), and the first waits for it until the time limit.

## Example

```python bad
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build():
    if dist.get_rank() == 0:
        model = nn.Linear(8, 16)
    else:
        model = nn.Linear(8, 8)
    return DistributedDataParallel(model)  #~ DDP116
```

```python good
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(path):
    model = nn.Linear(8, 16)
    if dist.get_rank() == 0:
        model.load_state_dict(torch.load(path))
    return DistributedDataParallel(model)
```

## Fix

None: which shape is meant, only the author knows. A number of the data has to be the same on all ranks: take the
maximum with `all_reduce`, or read it from one file.

## At run time

Confirmed when the names or shapes of the parameters differ between the ranks as they are wrapped. Refuted when they are
the same.

## References

- How DDP begins: https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from ddplint.rulekit import (
    UNKNOWN_NAME,
    Attribute,
    Call,
    Constant,
    Expression,
    Found,
    Function,
    Impact,
    Missing,
    Name,
    Project,
    RankSet,
    Role,
    Rule,
    Script,
    last_name,
    shown,
    written,
)

RULE = Rule(
    code="DDP116",
    name="rank-dependent-model",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
SIZES = re.compile(
    r"(?:n|num|n_?um_?ber)_\w+|\w*(?:width|depth|hidden|layers|classes|channels|features|vocab|dim|size|heads)(?:_size)?",
    re.IGNORECASE,
)
LAYERS = tuple(f"torch.nn.{layer}" for layer in ("Linear", "Conv", "Embedding", "LSTM", "GRU", "RNN", "LayerNorm"))
PLACES = re.compile(r"rank|device|gpu|world", re.IGNORECASE)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the models whose shape the rank decides."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        module = project.argument(wrap, "module")
        if isinstance(module, Missing) or not project.certainly(wrap.callee, WRAP):
            continue
        made = [origin for origin in project.origins(module) if isinstance(origin, Call)]
        reason = _by_branches(made, project) or next(filter(None, (_by_number(call, project) for call in made)), None)
        if reason is not None:
            message = (
                f"{reason}: the wrapper finds other shapes on the other ranks and fails there, while the first waits; "
                "make the same model on all ranks"
            )
            here = [call for call in made if call.scope.script is script]
            yield Found(wrap, message, related=tuple((call, "made here") for call in here))


def _by_branches(made: list[Call], project: Project) -> str | None:
    """Return what differs between two calls of which each is made by some ranks only."""
    for one, other in combinations(made, 2):
        some = [project.ranks(call).which in (RankSet.ONE, RankSet.SOME) for call in (one, other)]
        if any(some) and one.region.excludes(other.region) and _differ(one, other, project):
            return f"some ranks make `{shown(one)}` and others `{shown(other)}`"
    return None


def _differ(one: Call, other: Call, project: Project) -> bool:
    """Whether two calls certainly make models of different shapes."""
    if not all(project.parts.has_parameters(call) for call in (one, other)):
        return False
    names = [project.names(call.callee) for call in (one, other)]
    if UNKNOWN_NAME in names[0] | names[1]:
        return False
    if names[0] != names[1]:
        return True
    given = [[argument.value for argument in call.arguments] for call in (one, other)]
    return any(
        isinstance(left, Constant) and isinstance(right, Constant) and _is_other_number(left, right)
        for left, right in zip(given[0], given[1], strict=False)
    )


def _is_other_number(left: Constant, right: Constant) -> bool:
    numbers = [type(value) is int for value in (left.value, right.value)]
    return all(numbers) and left.value != right.value


def _by_number(made: Call, project: Project) -> str | None:
    """Return the argument that makes a size from the rank."""
    if not project.models.is_made_module(made):
        return None
    layer = all(name.startswith(LAYERS) for name in project.names(made.callee))
    for number, argument in enumerate(made.arguments):
        name = argument.keyword or _parameter(made, number, project)
        is_size = layer if name is None else SIZES.fullmatch(name) is not None and PLACES.search(name) is None
        if is_size and not _is_rank_itself(argument.value) and project.rank_parts.computes(argument.value):
            return f"`{written(argument.value)}` in `{shown(made)}` is another number on each rank"
    return None


def _parameter(made: Call, number: int, project: Project) -> str | None:
    function = project.resolver.function_of(made)
    if not isinstance(function, Function) or number + 1 >= len(function.parameters):
        return None
    return function.parameters[number + 1].name


def _is_rank_itself(value: Expression) -> bool:
    """Whether an argument is called as a rank is, and may be meant for something else than a size."""
    return isinstance(value, Name | Attribute) and PLACES.search(last_name(value)) is not None
