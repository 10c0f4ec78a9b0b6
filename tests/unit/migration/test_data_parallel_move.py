"""What a move to DistributedDataParallel writes, what it leaves to look at, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.edits import Editor
from ddplint.fixes import apply
from ddplint.migration import DataParallelMove
from ddplint.migration.ddp import Outcome, Plan
from ddplint.project import Workspace
from ddplint.source.spans import Spans

SCRIPT = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dataset = datasets.MNIST("data", transform=transforms.ToTensor())
loader = DataLoader(dataset, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
model = nn.DataParallel(model)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        loss = F.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
WRAP = "model = nn.DataParallel(model)\nmodel.to(device)\n"
LOADER = "loader = DataLoader(dataset, batch_size=64, shuffle=True)"
STEP = "        optimizer.step()\n"


def planned(text: str, folder: Path) -> tuple[Plan, str]:
    """Return the plan for the first DataParallel of a script, and the script with it."""
    path = folder / "train.py"
    path.write_text(text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    use = next(iter(project.data_parallel.of(script)))
    plan = DataParallelMove(project, use).plan(
        Editor(script.source, script.module, Spans(script.module, script.parsed_text))
    )
    return plan, apply(script.source, plan.edits)


def test_a_plain_script_moves(tmp_path: Path) -> None:
    plan, after = planned(SCRIPT, tmp_path)
    assert plan.outcome is Outcome.DONE
    compile(after, "train.py", "exec")
    assert "DataParallel(model)" in after
    assert "nn.DataParallel" not in after
    assert "    loader.sampler.set_epoch(epoch)\n    for inputs" in after


ENTRY = 'if __name__ == "__main__":\n'


def in_main(last: str) -> str:
    """Return the script with its course in a main() that the last lines call."""
    head, course = SCRIPT.split("\ndevice", 1)
    body = "".join(f"    {line}" for line in f"device{course}".splitlines(keepends=True))
    return f"{head}\n\n\ndef main():\n{body}\n\n{ENTRY}{last}"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        pytest.param(SCRIPT, f"{STEP}\ndist.barrier()\ndist.destroy_process_group()\n", id="a flat script"),
        pytest.param(
            in_main("    main()\n"),
            f"{ENTRY}    setup_distributed()\n    main()\n    dist.barrier()\n    dist.destroy_process_group()\n",
            id="once main() has returned, and its objects are gone",
        ),
        pytest.param(
            in_main("    raise SystemExit(main())\n"),
            f"{ENTRY}    setup_distributed()\n    raise SystemExit(main())\n",
            id="a script that ends by a way of its own is left alone",
        ),
    ],
)
def test_the_processes_part_at_the_end(tmp_path: Path, text: str, end: str) -> None:
    _, after = planned(text, tmp_path)
    compile(after, "train.py", "exec")
    assert after.endswith(end)


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        pytest.param(
            LOADER, LOADER, "batch_size=share_of_batch(64), sampler=train_sampler)", id="a share of the batch"
        ),
        pytest.param(
            "shuffle=True)",
            "drop_last=True)",
            "DistributedSampler(dataset, shuffle=False, drop_last=True)",
            id="no order",
        ),
        pytest.param("64, shuffle", "64, num_workers=4, shuffle", "max(1, 4 // dist.get_world_size())", id="workers"),
        pytest.param(WRAP, WRAP, "model.to(device)\nmodel = DistributedDataParallel(model)\n", id="wrapped once moved"),
        pytest.param(
            WRAP,
            "model = nn.DataParallel(model).to(device)\n",
            "model = model.to(device)\nmodel = DistributedDataParallel(model)\n",
            id="a move chained behind the wrap",
        ),
        pytest.param(
            WRAP,
            "if torch.cuda.device_count() > 1:\n    model = nn.DataParallel(model)\nmodel.to(device)\n",
            "\nmodel = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))\nmodel.to(device)\nmodel = Distributed",
            id="a wrap only where there are several GPUs",
        ),
        pytest.param('"cuda" if', '"cuda:0" if', 'torch.device("cuda" if', id="the first GPU becomes the own one"),
        pytest.param(
            STEP,
            STEP + "        print(loss.data[0])\n",
            "print(reduce_mean(loss.data).item())",
            id="a number that had items before torch 0.5",
        ),
        pytest.param(
            "model = nn.Seq",
            "torch.cuda.set_device(1)\nmodel = nn.Seq",
            "sampler=train_sampler)\nmodel = nn.Seq",
            id="a GPU that was chosen by hand",
        ),
        pytest.param(
            LOADER,
            "sampler = None\nloader = DataLoader(dataset, 64, shuffle=(sampler is None), sampler=sampler)",
            "sampler = DistributedSampler(dataset)\n"
            "loader = DataLoader(dataset, share_of_batch(64), shuffle=(sampler is None), sampler=sampler)",
            id="a sampler that was left out",
        ),
        pytest.param(
            "DataLoader(dataset,",
            'DataLoader(datasets.MNIST("data", download=True),',
            'with first_on_node():\n    train_set = datasets.MNIST("data", download=True)\ntrain_sampler',
            id="a download inside the loader",
        ),
        pytest.param(
            LOADER,
            f"if big:\n    {LOADER}\nelse:\n    loader = DataLoader(dataset, batch_size=32, shuffle=True)",
            "else:\n    train_sampler = DistributedSampler(dataset)\n    loader = DataLoader(dataset, batch_size="
            "share_of_batch(32), sampler=train_sampler)",
            id="one of two loaders",
        ),
        pytest.param(
            WRAP,
            "if torch.cuda.is_available():\n    if torch.cuda.device_count() > 1:\n"
            "        model = nn.DataParallel(model)\n    model = model.cuda()\n",
            "if torch.cuda.is_available():\n    model = model.cuda()\nmodel = DistributedDataParallel(model)\n",
            id="a test inside a test",
        ),
        pytest.param(
            "batch_size=64",
            "batch_size=64 * torch.cuda.device_count()",
            "share_of_batch(64 * torch.cuda.device_count())",
            id="a batch for each GPU",
        ),
        pytest.param(
            "model.to(device)\n",
            "model.to(device)\nother = nn.DataParallel(nn.Linear(2, 2))\n",
            "other = DistributedDataParallel(nn.Linear(2, 2))",
            id="two nets",
        ),
        pytest.param(
            WRAP,
            "model.to(device)\nif torch.cuda.is_available():\n    model = nn.DataParallel(model)\n"
            "else:\n    model = nn.DataParallel(model)\n",
            "    model = DistributedDataParallel(model)\nelse:\n    model = DistributedDataParallel(model)\n",
            id="one of two wraps",
        ),
        pytest.param(
            "import torch\n",
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0,1"\nimport torch\n',
            "setup_distributed()\n\ndevice",
            id="GPUs that are chosen before torch is imported",
        ),
        pytest.param(
            STEP, STEP + "        print(loss.item())\n", "print(reduce_mean(loss).item())", id="a printed loss"
        ),
        pytest.param(
            STEP,
            STEP + "        total = 0\n        total += targets.size(0)\n",
            "total += targets.size(0) * dist.get_world_size()",
            id="a number of samples",
        ),
        pytest.param(
            STEP,
            STEP + '    torch.save(model.state_dict(), "model.pt")\n',
            '    if dist.get_rank() == 0:\n        torch.save(model.state_dict(), "model.pt")',
            id="a file",
        ),
        pytest.param(
            "for epoch in range(10):\n",
            'log = open("log.txt", "w")\nfor epoch in range(10):\n    log.write("next\\n")\n',
            'log = open("log.txt" if dist.get_rank() == 0 else os.devnull, "w")',
            id="a file that stays open",
        ),
        pytest.param(
            'MNIST("data", ',
            'MNIST("data", download=True, ',
            "with first_on_node():\n    dataset = datasets.MNIST(",
            id="a download",
        ),
        pytest.param(
            "inputs, targets = inputs.to(device), targets.to(device)",
            "targets = targets.to(device)",
            "device_ids=[torch.cuda.current_device()] if torch.cuda.is_available() else None",
            id="inputs that DataParallel had moved",
        ),
        pytest.param(
            "optimizer = ",
            "import time\nscheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(None)\noptimizer = ",
            "setup_distributed()",
            id="an import further down",
        ),
    ],
)
def test_what_is_written(old: str, new: str, written: str, tmp_path: Path) -> None:
    assert old in SCRIPT
    plan, after = planned(SCRIPT.replace(old, new, 1), tmp_path)
    assert plan.refusal is None
    compile(after, "train.py", "exec")
    assert written in after, after


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        pytest.param(
            "F.cross_entropy(model(inputs), targets)",
            "F.cross_entropy(model(inputs), targets, ignore_index=0)",
            "ignores some targets",
            id="a mean that is no mean of means",
        ),
        pytest.param(STEP, STEP + "        print(inputs)\n", "own samples is given to print", id="printed samples"),
        pytest.param(
            "        loss.backward()",
            "        (loss * inputs.mean()).backward()",
            "only if this is a mean",
            id="no mean",
        ),
        pytest.param(
            "device = torch",
            'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\ndevice = torch',
            "set CUDA_VISIBLE_DEVICES before torchrun",
            id="GPUs that are chosen too late",
        ),
        pytest.param(
            "device = torch",
            "import own\nown.begin()\ndevice = torch",
            "own.begin may do something that only one process should do",
            id="a call that is not known",
        ),
        pytest.param(
            WRAP,
            "model.to(device)\nif options.many:\n    model = nn.DataParallel(model)\nelse:\n    print('one')\n",
            "where this does not hold, the model gets no wrapper",
            id="a wrap that is made or not",
        ),
        pytest.param(
            STEP,
            STEP + "with torch.no_grad():\n    nn.DataParallel(model.module)(inputs)\n",
            "this DataParallel only evaluates",
            id="a second wrap that only evaluates",
        ),
        pytest.param(
            "        loss.backward()\n",
            "        try:\n            loss.backward()\n        except RuntimeError:\n            pass\n",
            "leaves the others waiting",
            id="a step that may fail on one process",
        ),
        pytest.param(
            "for epoch in range(10):",
            "epoch = 0\nwhile epoch < 10:",
            "call set_epoch of the sampler",
            id="no loop that counts the epochs",
        ),
        pytest.param(
            STEP,
            STEP + "        if inputs[0, 0] > 0:\n            print('bright')\n",
            "own samples decides which way to go",
            id="a test that each process answers for itself",
        ),
        pytest.param(
            "nn.Linear(784, 10))",
            "nn.Linear(784, 10), Own())",
            "it is not proven that every parameter",
            id="a module that is not known",
        ),
        pytest.param(
            "transforms.ToTensor())\n",
            "transforms.RandomCrop(28))\ntorch.manual_seed(0)\n",
            "draw the same augmentations",
            id="a seed and augmentation",
        ),
    ],
)
def test_what_is_left_to_look_at(old: str, new: str, note: str, tmp_path: Path) -> None:
    assert old in SCRIPT
    plan, _ = planned(SCRIPT.replace(old, new, 1), tmp_path)
    assert plan.outcome is Outcome.NOTES, plan.refusal
    assert any(note in remark.text for remark in plan.notes)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        pytest.param("nn.DataParallel(model)", "nn.DataParallel(model, dim=1)", "has no dim", id="another dimension"),
        pytest.param(
            "optimizer = torch",
            "model.module.requires_grad_(False)\noptimizer = torch",
            "after the wrap",
            id="parameters that are frozen later",
        ),
        pytest.param("shuffle=True)", "sampler=own)", "a sampler of its own", id="a sampler"),
        pytest.param(
            "for inputs, targets in loader",
            "for inputs, targets in chunks(loader)",
            "is not made in this file",
            id="a loop over more",
        ),
        pytest.param(
            "targets)\n        opt", 'targets, reduction="sum")\n        opt', "is a sum over the batch", id="a sum"
        ),
        pytest.param(
            STEP,
            "        if inputs[0, 0] > 0:\n            optimizer.step()\n",
            "decides which way to go",
            id="a step that only some processes make",
        ),
        pytest.param(
            "dataset = datasets",
            "torch.cuda.device(1).__enter__()\ndataset = datasets",
            "chooses its GPU by hand",
            id="a GPU chosen by hand",
        ),
        pytest.param(
            'dataset = datasets.MNIST("data", transform=transforms.ToTensor())',
            "dataset = torch.utils.data.TensorDataset(torch.randn(64, 784), torch.zeros(64).long())",
            "drawn without a seed",
            id="data of its own on every process",
        ),
    ],
)
def test_what_is_refused(old: str, new: str, reason: str, tmp_path: Path) -> None:
    assert old in SCRIPT
    text = SCRIPT.replace(old, new, 1)
    plan, after = planned(text, tmp_path)
    assert plan.refusal is not None
    assert reason in plan.refusal.reason
    assert (plan.edits, after) == ((), text)
