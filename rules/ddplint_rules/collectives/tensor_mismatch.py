"""A tensor whose size depends on the data of the rank, in a collective that wants one size on all ranks

## What it finds

A tensor given to `all_gather`, `all_reduce`, `gather` or `reduce`, itself or through a function of the project, that

- holds the entries which fulfil a condition: `x[x > 0]`, `masked_select`, `nonzero`, `unique`;
- is made from a list into which a loop puts the items that pass a test.

It is silent where the ranks exchange something before in the same function, such as the sizes, and for collectives of
objects.

## Why it matters

The ranks have to bring tensors of one shape and one type. NCCL does not compare them: with other sizes it hangs, or
writes beside the place, and the numbers are those of somebody else. gloo ends with an error on some ranks. On a small
sample the counts happen to be equal.

## Example

```python bad
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def collect(scores):
    kept = scores[scores > 0.5]  #~ DDP509
    gathered = [torch.zeros_like(kept) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, kept)
    return torch.cat(gathered)
```

```python good
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def collect(scores):
    kept = scores[scores > 0.5]
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, kept.cpu())
    return torch.cat(gathered)
```

```python good
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def collect(scores):
    kept = scores[scores > 0.5]
    longest = torch.tensor([len(kept)], device=kept.device)
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    padded = torch.nn.functional.pad(kept, (0, longest.item() - len(kept)), value=float("nan"))
    gathered = [torch.zeros_like(padded) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, padded)
    everything = torch.cat(gathered)
    return everything[~everything.isnan()]
```

## Fix

None: pad to the longest, after the sizes were exchanged, gather objects, or reduce the sum and the count.

## At run time

Confirmed when the ranks bring tensors of different shape or type to one collective. Refuted when they are equal in the
traced run. Not exercised when the line was not reached.

## References

- `all_gather`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather
- Finding mismatches with TORCH_DISTRIBUTED_DEBUG:
  https://docs.pytorch.org/docs/stable/distributed.html#torch-distributed-debug
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Found, Impact, Project, RaggedTensor, Role, Rule, Script, shown, written

RULE = Rule(
    code="DDP509",
    name="tensor-mismatch",
    impact=Impact.HANG,
    since="0.1.0",
    triggers=("gather", "reduce"),
    everyday=True,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the tensors whose size is another one on each rank."""
    if project.role(script) is Role.TEST:
        return
    for ragged in project.ragged_tensors.of(script):
        yield _found(ragged)


def _found(ragged: RaggedTensor) -> Found:
    message = (
        f"`{written(ragged.cause)}` makes the size of the tensor depend on the data of the rank, and "
        f"`{shown(ragged.call)}` wants one size on all ranks: it hangs or mixes the numbers up; exchange the sizes and "
        "pad, or gather objects"
    )
    return Found(ragged.cause, message, related=((ragged.call, "it comes to the collective here"),))
