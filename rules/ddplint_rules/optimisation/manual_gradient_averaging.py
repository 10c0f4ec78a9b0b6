"""Gradients are summed over the ranks by hand and never made a mean, or although DDP has averaged them

## What it finds

`all_reduce(parameter.grad)` for the parameters of a model, as a sum over all ranks, where nothing divides by the number
of processes; and such a sum for the parameters of a model in DistributedDataParallel.

It is silent for `ReduceOp.AVG`, for sums in a group of some ranks, and where the function divides or scales anything,
or the program divides anything by the number of processes (the loss, the learning rate) or adds its loss up
(`reduction="sum"`). Where the model is in DDP and the sum is divided, it is merely a waste of time.

## Why it matters

Each rank's gradient is a mean over its own batch. The sum over eight ranks is eight times the gradient of the whole
batch: every step is eight times as long, clipping cuts in earlier, and the run depends on the number of GPUs. Behind
DDP the ranks hold the mean already, and the sum multiplies it.

## Symptoms

- gradients are divided by the world size twice
- training is slower to learn on more GPUs

## Example

```python bad
import torch.distributed as dist


def exchange_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  #~ DDP308


def train(model, loader, optimizer, criterion):
    dist.init_process_group("nccl")
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        exchange_gradients(model)
        optimizer.step()
```

```python fixed
import torch.distributed as dist


def exchange_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def train(model, loader, optimizer, criterion):
    dist.init_process_group("nccl")
    for inputs, targets in loader:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        exchange_gradients(model)
        optimizer.step()
```

```python good
import torch.distributed as dist


def exchange_gradients(model):
    for parameter in model.parameters():
        if parameter.grad is not None:
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
```

## Fix

Unsafe, for a model that is not in DDP: the gradient is divided by the number of processes behind the sum. Every step
gets shorter, and a learning rate that was found with the sum is too small then. Behind DDP there is none: the exchange
as a whole can go.

## At run time

Confirmed when the gradient after the exchange is not the mean of what the ranks had. Refuted when it is. Not exercised
in a run of one process.

## References

- `all_reduce`: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_reduce
- What DDP does with gradients: https://docs.pytorch.org/docs/stable/notes/ddp.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Attribute,
    Editor,
    Fix,
    Found,
    GradientExchange,
    Impact,
    Missing,
    Project,
    Role,
    Rule,
    Script,
    is_whole_statement,
    written,
)

RULE = Rule(
    code="DDP308",
    name="manual-gradient-averaging",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("all_reduce",),
    discharged_by=LOOP_DRIVERS | {"deepspeed"},
    applicability=Applicability.UNSAFE,
)


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the sums of gradients that are no mean."""
    if project.role(script) is Role.TEST:
        return
    for exchange in project.gradient_exchanges.of(script):
        gradient = written(exchange.gradient)
        if exchange.by_ddp:
            what = "sums it once more" if exchange.divided else "multiplies it by the number of processes"
            yield Found(
                exchange.call,
                f"DistributedDataParallel has averaged `{gradient}` over the ranks already, and this {what}; leave the "
                "exchange of gradients to it",
                impact=Impact.SLOW if exchange.divided else None,
            )
        elif not exchange.divided:
            alone = project.argument(exchange.call, "async_op") is Missing.ABSENT and is_whole_statement(exchange.call)
            yield Found(
                exchange.call,
                f"`{gradient}` becomes the sum over all ranks: the step grows with the number of processes; divide by "
                "the world size after it",
                subject=exchange if alone else None,
            )


def fix(found: Found, edits: Editor) -> Fix | None:
    """Divide behind the sum."""
    exchange = found.subject
    if not isinstance(exchange, GradientExchange) or not isinstance(exchange.call.callee, Attribute):
        return None
    module = edits.source_text(exchange.call.callee.base.node)
    line = f"{edits.source_text(exchange.gradient.node)} /= {module}.get_world_size()"
    changes = edits.insert_statements_after(exchange.call.statement.node, [line])
    return Fix(Applicability.UNSAFE, "Divide the sum by the world size; every step gets shorter", changes)
