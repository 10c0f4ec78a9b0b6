"""Which exits some ranks take while the others go on to a collective."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.locality import Divergence

HEAD = """import math
import sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

net = DDP(nn.Linear(1, 1))

"""


def loop(*lines: str) -> str:
    """A training loop: the lines stand between the loss and its backward pass."""
    inner = "".join(f"        {line}\n" for line in lines)
    return (
        f"def train(model, loader):\n    for i, (x, y) in enumerate(loader):\n        loss = crit(model(x), y)\n{inner}"
        "        loss.backward()\n        step()\ntrain(net, loader)"
    )


def epochs(*lines: str, sampler: str = "DistributedSampler(data)") -> str:
    """Epochs of training and validation with early stopping: the lines follow the validation."""
    inner = "".join(f"        {line}\n" for line in lines)
    return (
        "def validate(model, loader):\n    total = 0\n    model.eval()\n    with torch.no_grad():\n"
        "        for x, y in loader:\n            total += crit(model(x), y).item()\n    return total\n"
        f"def fit(model):\n    val_loader = DataLoader(data, sampler={sampler})\n    best, waited = 1e9, 0\n"
        "    for epoch in range(10):\n        for x, y in train_loader:\n            crit(model(x), y).backward()\n"
        f"        val = validate(model, val_loader)\n{inner}fit(net)"
    )


UNEVEN = [
    pytest.param(
        "def f():\n    if rank != 0:\n        return\n    dist.barrier()", Divergence.RANK, id="an early return"
    ),
    pytest.param("if rank != 0:\n    sys.exit()\ndist.barrier()", Divergence.RANK, id="the end of the process"),
    pytest.param("for x in y:\n    if rank == 0:\n        break\n    dist.barrier()", Divergence.RANK, id="a break"),
    pytest.param(
        "for x in y:\n    dist.barrier()\n    if rank == 0:\n        break", Divergence.RANK, id="the next pass"
    ),
    pytest.param(
        "for x in y:\n    if rank > 0:\n        continue\n    dist.barrier()", Divergence.RANK, id="a continue"
    ),
    pytest.param(
        "for x in y:\n    dist.barrier()\n    if rank == 0:\n        if waited > 3:\n            break",
        Divergence.RANK,
        id="a second test under the first",
    ),
    pytest.param(
        "for x in y:\n    net(x).sum().backward()\n    if rank == 0:\n        break", Divergence.RANK, id="training"
    ),
    pytest.param(loop("if torch.isnan(loss):", "    continue"), Divergence.LOSS, id="a loss that is no number"),
    pytest.param(loop("if not math.isfinite(loss.item()):", "    break"), Divergence.LOSS, id="its value, and a break"),
    pytest.param(
        loop("value = loss.item()", "if value > 100:", "    return"), Divergence.LOSS, id="a limit, and a return"
    ),
    pytest.param(loop("bad = torch.isnan(loss)", "if bad:", "    sys.exit(0)"), Divergence.LOSS, id="a quiet end"),
    pytest.param(loop("if len(y) == 0:", "    continue"), Divergence.BATCH, id="an empty batch"),
    pytest.param(loop("if (y == -1).all():", "    continue"), Divergence.BATCH, id="what the batch holds"),
    pytest.param(
        "for x in loader:\n    try:\n        net(x).sum().backward()\n    except RuntimeError:\n        continue",
        Divergence.FAILURE,
        id="a failure that is passed over",
    ),
    pytest.param(
        epochs("if val > best:", "    waited += 1", "    if waited > 3:", "        break"),
        Divergence.METRIC,
        id="patience with a share of the validation",
    ),
    pytest.param(
        "def step(model, x):\n    loss = model(x).sum()\n    if torch.isnan(loss):\n        return None\n"
        "    loss.backward()\nfor x in loader:\n    step(net, x)",
        Divergence.LOSS,
        id="a step in a function of its own",
    ),
]
UNEVEN += [
    pytest.param(
        "class Stopper:\n    def __init__(self):\n        self.stop = False\nstopper = Stopper()\n"
        "for x in y:\n    net(x).sum().backward()\n    if rank == 0:\n        if stopper.stop:\n            break",
        Divergence.RANK,
        id="a switch of an object that is only seen to be off",
    ),
    pytest.param(
        epochs("early_stopping(val, model)", "if early_stopping.early_stop:", "    break"),
        Divergence.METRIC,
        id="patience that an object keeps",
    ),
]
EVEN = [
    pytest.param(
        "def f():\n    if rank != 0 and not sharded:\n        return\n    if sharded:\n        dist.barrier()",
        id="a collective under a switch that keeps all ranks from the exit",
    ),
    pytest.param(
        loop("step = optimizer.param_groups[0]['step']", "if step > 100:", "    break"), id="the optimizer's own count"
    ),
    pytest.param(loop("args.seen = y", "if args.limit:", "    break"), id="another attribute of the same object"),
    pytest.param(
        "for x, n in zip(loader, range(9)):\n    net(x).sum().backward()\n    if n > 3:\n        break",
        id="a number beside the batch",
    ),
    pytest.param(
        "for model in [net, None]:\n    for x in loader:\n        model(x).sum().backward()\n    if model is None:\n"
        "        continue\n    dist.barrier()",
        id="which of the models it is",
    ),
    pytest.param("def f():\n    if rank != 0:\n        return\n    work()", id="nothing is missed"),
    pytest.param(
        "def f():\n    if epoch > 3:\n        return\n    dist.barrier()", id="a test that all ranks answer alike"
    ),
    pytest.param("def f():\n    if world_size == 1:\n        return\n    dist.barrier()", id="a world of one"),
    pytest.param(
        "def f():\n    if rank != 0:\n        dist.barrier()\n        return\n    work()\n    dist.barrier()",
        id="the same before the exit",
    ),
    pytest.param("for x in y:\n    if rank == 0:\n        break\ndist.barrier()", id="after the loop all ranks meet"),
    pytest.param(
        "for x in y:\n    dist.barrier()\n    if rank > 0:\n        continue\n    work()", id="before the exit"
    ),
    pytest.param("if rank == 0:\n    for x in y:\n        break\ndist.barrier()", id="the test is around the loop"),
    pytest.param(
        "for x in y:\n    stop = torch.zeros(1)\n    if rank == 0:\n        stop += waited > 3\n"
        "    dist.broadcast(stop, 0)\n    if stop.item():\n        break",
        id="the decision is handed out",
    ),
    pytest.param(
        "for x in y:\n    stop = [None]\n    if rank == 0:\n        stop = [waited > 3]\n"
        "    dist.broadcast_object_list(stop, 0)\n    if stop[0]:\n        break",
        id="the decision is handed out in a list",
    ),
    pytest.param(loop("dist.all_reduce(loss)", "if torch.isnan(loss):", "    continue"), id="a loss of all ranks"),
    pytest.param(
        loop("mean = reduce_mean(loss)", "if torch.isnan(mean):", "    continue"), id="a loss that a helper reduces"
    ),
    pytest.param(loop("if i > 100:", "    break"), id="a number of steps"),
    pytest.param(loop("if i == len(loader) - 1:", "    break"), id="the last step"),
    pytest.param(loop("if x.size(0) != 32:", "    continue"), id="the size of a batch"),
    pytest.param(loop("if 'mask' in x:", "    continue"), id="what kind of batch it is"),
    pytest.param(
        loop("norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "if torch.isnan(norm):", "    break"),
        id="the norm of gradients that all ranks share",
    ),
    pytest.param(
        "for x in loader:\n    try:\n        net(x).sum().backward()\n    except StopIteration:\n        break",
        id="the end of the data",
    ),
    pytest.param(
        "for x in loader:\n    try:\n        net(x).sum().backward()\n    except RuntimeError:\n        raise",
        id="a failure that goes on",
    ),
    pytest.param(
        "for x in loader:\n    try:\n        x = read(x)\n    except RuntimeError:\n        continue\n"
        "    net(x).sum().backward()",
        id="a failure before the model, of unknown reach",
    ),
    pytest.param(
        epochs("if val > best:", "    waited += 1", "    if waited > 3:", "        break", sampler="None"),
        id="patience with the whole validation on each rank",
    ),
    pytest.param(
        epochs("val = torch.tensor(val)", "dist.all_reduce(val)", "if val > best:", "    break"),
        id="patience with the validation of all ranks",
    ),
    pytest.param(
        "@torch.no_grad()\ndef test(model):\n    for x in loader:\n        out = model(x)\n"
        "        if torch.isnan(out):\n            continue\n        show(out)\ntest(net)",
        id="an evaluation",
    ),
]
FAILS = [
    pytest.param("if rank != 0:\n    sys.exit()\ndist.barrier()", False, id="a quiet end"),
    pytest.param("if rank != 0:\n    sys.exit(1)\ndist.barrier()", True, id="a status"),
    pytest.param("if rank != 0:\n    raise ValueError\ndist.barrier()", True, id="an exception"),
    pytest.param(loop("if torch.isnan(loss):", "    sys.exit(1)"), True, id="a status in a loop"),
]


def uneven(tmp_path: Path, code: str) -> list[tuple[Divergence, bool]]:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [
        (found.reason, found.fails)
        for function in (None, *script.functions)
        for found in project.exits.uneven(function, script)
    ]


@pytest.mark.parametrize(("code", "reason"), UNEVEN)
def test_an_exit_that_parts_the_ranks(code: str, reason: Divergence, tmp_path: Path) -> None:
    assert [found for found, _ in uneven(tmp_path, code)] == [reason]


@pytest.mark.parametrize("code", EVEN)
def test_an_exit_that_all_ranks_take_or_none(code: str, tmp_path: Path) -> None:
    assert [found for found, fails in uneven(tmp_path, code) if not fails] == []


@pytest.mark.parametrize(("code", "fails"), FAILS)
def test_an_exit_that_ends_the_process_as_failed(code: str, fails: bool, tmp_path: Path) -> None:
    assert [failed for _, failed in uneven(tmp_path, code)] == [fails]
