"""A number that Python reads from the GPU in every training step

## What it finds

With `--pedantic`: `.item()`, `.tolist()`, `.cpu()`, `.numpy()`, `float(loss)` and `print(loss)` in the loop of training
steps, or in a function that it calls, where every step comes to it, on the loss or on what a model in
DistributedDataParallel returned. One line is reported for each loop: those behind it wait for little.

It is silent under a test such as `step % 100 == 0`, in loops without a backward pass, for runs on the CPU (`gloo`), and
in tests.

## Why it matters

Python runs ahead of the GPU and prepares the launches of the next step while the GPU works on this one. To read a
number it waits until the GPU is done; the GPU then waits for the launches. Seen on an H200 with torch 2.11, 60 small
layers: 7.3 ms a step without, 7.9 ms with one `.item()`. Where the GPU is busy for long and launches are few, it costs
nothing; so only a run can say what it costs.

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    total = 0.0
    for inputs, targets in loader:
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()  #~ DDP703
    return total / len(loader)
```

```python good
import torch
from torch.nn.parallel import DistributedDataParallel


def train(model, loader, optimizer):
    model = DistributedDataParallel(model)
    total = 0.0
    for step, (inputs, targets) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % 100 == 0:
            print(step, loss.item())
    return float(total) / len(loader)
```

## Fix

None: what the number is used for says whether it can be read later.

## At run time

Confirmed when the time that is spent in the line is a notable part of a step. Refuted when it is not. Not exercised on
the CPU.

## References

- Asynchronous execution: https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution
- "Avoid unnecessary CPU-GPU synchronization":
  https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    FORWARD,
    Attribute,
    Call,
    Confidence,
    Constant,
    Expression,
    Found,
    Impact,
    Name,
    Project,
    Role,
    Rule,
    Script,
    shown,
)

RULE = Rule(
    code="DDP703",
    name="sync-every-step",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("item", "tolist", "cpu", "numpy", "float", "print"),
    everyday=True,
    pedantic=True,
)
START = "torch.distributed.init_process_group"
READS = frozenset({"item", "tolist", "cpu", "numpy"})
FUNCTIONS = ("builtins.float", "builtins.int", "builtins.bool", "builtins.print")
# What has these in it is no tensor of the GPU any more.
SEEN = READS | {"size", "numel", "dim"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the first line of each loop of training steps that waits for the GPU."""
    if project.role(script) is Role.TEST or _is_for_cpu(script, project):
        return
    said: set[int] = set()
    for call in script.calls:
        read = _read(call, project)
        loop = None if read is None else project.training_steps.loop_of(call)
        if read is None or loop is None or id(loop) in said or not _is_of_step(read, call, project):
            continue
        said.add(id(loop))
        message = (
            f"`{shown(call)}` in every training step waits for the GPU, which then waits for the next launches; gather "
            "`.detach()` on the GPU, and read it every so many steps"
        )
        yield Found(call, message, Confidence.POSSIBLE)


def _is_for_cpu(script: Script, project: Project) -> bool:
    backends = [project.argument(start, "backend") for start in project.calls(script, START)]
    return any(isinstance(backend, Constant) and backend.value == "gloo" for backend in backends)


def _read(call: Call, project: Project) -> Expression | None:
    """Return the value of which a call reads the numbers."""
    if isinstance(call.callee, Attribute) and call.callee.name in READS and not call.arguments:
        return call.callee.base
    if call.arguments and isinstance(call.arguments[-1].value, Name) and project.certainly(call.callee, *FUNCTIONS):
        return call.arguments[-1].value
    return None


def _is_of_step(read: Expression, call: Call, project: Project) -> bool:
    """Whether a value is made by the wrapped model, and still is on the GPU."""
    if any(isinstance(part, Call) and _is_seen(part) for part in read.walk()):
        return False
    pieces = project.dependence.pieces(read, stop=lambda piece, _: isinstance(piece, Call) and _is_seen(piece))
    forwards = (piece for piece, frame in pieces if isinstance(piece, Call) and _is_forward(piece, project))
    return any(forward.order < call.order or forward.scope is not call.scope for forward in forwards)


def _is_seen(part: Call) -> bool:
    return isinstance(part.callee, Attribute) and part.callee.name in SEEN


def _is_forward(piece: Call, project: Project) -> bool:
    return project.collectives.own(piece) == FORWARD
