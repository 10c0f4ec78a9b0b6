"""One script that does a bit of everything, and the events that come of it."""

from __future__ import annotations

from pathlib import Path

from ddplint.trace import Kind, Trace
from tests.runtime.runs import confirm

SCRIPT = """
import logging
import random
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

random.seed(3)
torch.manual_seed(3)
dist.init_process_group("gloo")
pair = dist.new_group([0, 1])
dataset = TensorDataset(torch.arange(64.0).reshape(64, 1))
sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=1)
model = DistributedDataParallel(nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(9):
    sampler.set_epoch(epoch)
    for (inputs,) in loader:
        optimizer.zero_grad()
        with model.no_sync():
            scaler.scale(model(inputs).sum()).backward()
        scaler.scale(model(inputs).sum()).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    scheduler.step()
    model.module(inputs)
    total = torch.ones(3)
    work = dist.all_reduce(total, op=dist.ReduceOp.MAX, async_op=True)
    work.wait()
    dist.broadcast(total, src=0, group=pair)
    print("epoch", epoch, total[0].item())
    logging.warning("logged")
    warnings.warn("warned")
    if dist.get_rank() == 0:
        torch.save({"model": model.state_dict()}, "model.pt")
    dist.barrier()
    torch.load("model.pt", map_location="cpu")
"""
# What needs another script: the end of a group, errors, DataParallel, trackers and bars, devices, sharded programs.
ELSEWHERE = {
    Kind.BAR,
    Kind.DEVICE,
    Kind.DP,
    Kind.ERROR,
    Kind.EXIT,
    Kind.GROUP_END,
    Kind.HOOK_FAILED,
    Kind.LINE,
    Kind.ROLE,
    Kind.TRACKER,
    Kind.WORKER,
    Kind.WRITE,
}


def test_all_that_a_script_does_is_recorded_and_no_hook_fails(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    run = confirm(script, "--keep-run", "run", "--ignore", "ALL")
    assert (run.code, run.about["steps"], run.about["hooks_failed"]) == (0, {"0": 8, "1": 8}, []), run.content
    trace = Trace.from_folder(tmp_path / "run", tmp_path)
    assert {event.kind for event in trace.events} == set(Kind) - ELSEWHERE

    def one(kind: Kind, **fields: object) -> dict[str, object]:
        """The fields of the first such event of rank 0."""
        found = (event for event in trace.of(kind) if event.rank == 0)
        return dict(next(event.fields for event in found if event.fields.items() >= fields.items()))

    reduced = one(Kind.COLLECTIVE, op="all_reduce")
    assert (reduced["elements"], reduced["reduce"], reduced["asynchronous"], reduced["ranks"]) == (3, "MAX", True, None)
    assert one(Kind.WAIT)["of"] == reduced["call"]
    sent = one(Kind.COLLECTIVE, op="broadcast")
    assert (sent["root"], sent["ranks"]) == (0, [0, 1])
    wrapped = one(Kind.DDP)
    assert (wrapped["batch_norms"], wrapped["buffers"], wrapped["elements"]) == ({"BatchNorm1d": 1}, 3, 8)
    assert [one(Kind.FORWARD, wrapper="ddp")["grad"], one(Kind.FORWARD, past="ddp")["training"]] == [True, True]
    made = one(Kind.LOADER)
    assert [made[name] for name in ("length", "samples", "share", "replicas", "workers")] == [8, 64, 32, 2, 1]
    first, second = [event["digest"] for event in trace.of(Kind.SAMPLER_PASS) if event.rank == 0][:2]
    assert first != second
    assert [(one.batches, one.steps, one.cut) for one in trace.passes if one.rank == 0] == [(4, 4, True)] * 2
    assert one(Kind.SAVE)["path"] == "model.pt"
    assert one(Kind.SAVE)["keys"] == ["model", *(f"module.{name}" for name in one_state())]
    assert [event["do"] for event in trace.of(Kind.SCALER) if event.rank == 0 and not event["inner"]][:5] == [
        "scale",
        "scale",
        "unscale",
        "step",
        "update",
    ]
    assert trace.divergence is None
    assert {worker.rank for worker in trace.workers} == {0, 1}
    assert any(worker.of(Kind.WORKER) for worker in trace.workers)


def one_state() -> list[str]:
    return [
        "0.weight",
        "0.bias",
        "1.weight",
        "1.bias",
        "1.running_mean",
        "1.running_var",
        "1.num_batches_tracked",
    ]
