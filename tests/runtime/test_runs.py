"""How runs are started and ended: every process of a run is gone afterwards, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.runs import command, confirm, environment, processes_of

GROUP = """
import time
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
"""
SLEEPS = GROUP + "print(f'rank {dist.get_rank()} sleeps', flush=True)\ntime.sleep(600)\n"
FAILS = GROUP + "if dist.get_rank() == 1:\n    raise ValueError('no such dataset')\ndist.barrier()\n"
SPAWNS = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", os.environ["PORT"]
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 2, device=rank)).sum().backward()
    optimizer.step()
    print("a step is done")
    dist.destroy_process_group()


if __name__ == "__main__":
    count = torch.cuda.device_count()
    mp.spawn(worker, args=(count,), nprocs=count)
"""
REPLICATES = """
import torch
from torch import nn

assert torch.accelerator.current_accelerator().type == "cuda"
model = nn.DataParallel(nn.Linear(2, 1).to(0))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 2).cuda()).sum().backward()
    optimizer.step()
"""


KILLED = (
    GROUP + "import os, signal\nif dist.get_rank() == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\ndist.barrier()\n"
)
CUSTOMISED = "import sitecustomize\nprint(sitecustomize.SETTING)\nimport torch\n"
WRITES = """
import glob
import os
import pathlib
import shutil
import torch

os.makedirs("out/deep", exist_ok=True)
torch.save({"a": 1}, "out/deep/model.pt")
with open("notes.txt", "a") as file:
    file.write("more")
os.rename("out/deep/model.pt", "out/last.pt")
os.remove("old.txt")
assert torch.load("out/last.pt") == {"a": 1}
assert open("notes.txt").read() == "some, more"
assert os.path.isdir("out/deep") and not os.path.exists("out/deep/model.pt")
assert sorted(os.listdir("out")) == ["deep", "last.pt"]
shutil.copy("out/last.pt", "out/best.pt")
assert sorted(glob.glob("out/*.pt")) == ["out/best.pt", "out/last.pt"]
shutil.rmtree("out/deep")
shutil.rmtree("data")
pathlib.Path("out/done").touch()
os.symlink("last.pt", "out/newest.pt")
os.chdir("out")
assert torch.load("newest.pt") == {"a": 1} and os.path.exists("done") and not os.path.exists("deep")
"""


def write(folder: Path, text: str, name: str = "train.py") -> Path:
    script = folder / name
    script.write_text(text)
    return script


def test_the_first_rank_that_fails_is_named_with_its_place(tmp_path: Path) -> None:
    run = confirm(write(tmp_path, FAILS), "--launcher", "torchrun")
    assert run.code == 4
    assert run.about["ending"] == "failed"
    assert run.about["failures"][0] == "rank 1 at train.py:9: ValueError: no such dataset"
    assert run.about["waits"] == []  # rank 0 lost its partner because that one failed: no hang


@pytest.mark.parametrize("launcher", ["direct", "torchrun"])
def test_a_rank_that_is_killed_is_no_hang(tmp_path: Path, launcher: str) -> None:
    script = write(tmp_path, KILLED, f"killed{os.getpid()}{launcher}.py")
    run = confirm(script, "--launcher", launcher)
    assert (run.code, run.about["ending"], run.about["waits"]) == (4, "failed", []), run.content
    assert processes_of(script.name) == []


@pytest.mark.parametrize("writes", [False, True], ids=["a dry run", "a run that may write"])
def test_what_a_script_writes_stays_beside_its_folder_unless_it_may_write(tmp_path: Path, writes: bool) -> None:
    (tmp_path / "notes.txt").write_text("some, ")
    (tmp_path / "old.txt").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.bin").touch()
    script = write(tmp_path, WRITES)
    run = confirm(script, *(["--write"] if writes else []))
    assert (run.code, run.about["failures"]) == (0, []), run.content
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    dry = ["data", "data/one.bin", "notes.txt", "old.txt", "train.py"]
    made = [f"out/{name}" for name in ("best.pt", "done", "last.pt", "newest.pt")]
    assert left == (["notes.txt", "out", *made, "train.py"] if writes else dry)
    assert (tmp_path / "notes.txt").read_text() == ("some, more" if writes else "some, ")


def test_the_users_own_sitecustomize_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("SETTING = 'mine'\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    run = confirm(write(tmp_path, CUSTOMISED))
    assert (run.code, run.about["failures"]) == (0, []), run.content


def test_the_time_limit_ends_a_run(tmp_path: Path) -> None:
    script = write(tmp_path, SLEEPS, f"sleeps{os.getpid()}.py")
    run = confirm(script, "--time-limit", "5")
    assert (run.code, run.about["ending"]) == (4, "time limit")
    assert processes_of(script.name) == []


@pytest.mark.parametrize("launcher", ["direct", "torchrun"])
def test_a_killed_supervisor_leaves_no_process(tmp_path: Path, launcher: str) -> None:
    script = write(tmp_path, SLEEPS, f"orphan{os.getpid()}{launcher}.py")
    kept = tmp_path / "run"
    started = subprocess.Popen(
        command(Path(script.name), "--launcher", launcher, "--keep-run", str(kept)),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    try:
        await_until(lambda: "sleeps" in "".join(path.read_text() for path in kept.glob("events/*.jsonl")))
    finally:
        started.kill()
        started.wait(timeout=20)
    await_until(lambda: not processes_of(script.name))


def test_an_interrupted_run_ends_at_once_and_leaves_no_process(tmp_path: Path) -> None:
    script = write(tmp_path, SLEEPS, f"interrupted{os.getpid()}.py")
    kept = tmp_path / "run"
    started = subprocess.Popen(
        command(Path(script.name), "--keep-run", str(kept)), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
    )
    try:
        await_until(lambda: "sleeps" in "".join(path.read_text() for path in kept.glob("events/*.jsonl")))
        started.send_signal(signal.SIGTERM)
        _, said = started.communicate(timeout=20)
    finally:
        started.kill()
    assert (started.returncode, said.strip()) == (130, b"ddplint: interrupted")
    assert processes_of(script.name) == []


def test_a_script_that_spawns_its_ranks_is_started_alone_and_its_gpus_are_stood_in_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORT", str(20000 + os.getpid() % 20000))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    run = confirm(write(tmp_path, SPAWNS), "--select", "DDP601")
    assert (run.about["ranks"], run.about["cuda_stand_in"]) == ([0, 1], True), run.content
    assert run.about["steps"] == {"0": 1, "1": 1}
    assert [verdict["status"] for verdict in run.verdicts("DDP601")] == ["confirmed"]


def test_a_script_of_one_process_is_run_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    run = confirm(write(tmp_path, REPLICATES))
    assert (run.code, run.about["world_size"], run.about["steps"]) == (0, 1, {"0": 3}), run.content


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        pytest.param(["absent.py"], 2, "no such script: absent.py", id="a script that is not there"),
        pytest.param(["train.py", "--python", "./absent"], 2, "--python ./absent: No such file", id="no interpreter"),
        pytest.param(["train.py", "--python", "./bare"], 5, "./bare has no torch", id="an interpreter without torch"),
        pytest.param(["train.py", "--keep-run", "full"], 2, "the folder is not empty", id="a folder with other things"),
    ],
)
def test_what_can_not_be_run_is_said_in_one_line(tmp_path: Path, options: list[str], code: int, said: str) -> None:
    write(tmp_path, "import torch\n")
    write(tmp_path, "#!/bin/sh\nexit 1\n", "bare").chmod(0o755)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    words = [sys.executable, "-m", "ddplint", "confirm", *options]
    done = subprocess.run(
        words, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert said in done.stderr


def await_until(condition: object, seconds: float = 40) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.1)
