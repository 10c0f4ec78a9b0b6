"""GPUs that are written into scripts: what counts as one, and where other devices are possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.semantics import Script

HEAD = "import os\nimport torch\nfrom torch.nn.parallel import DistributedDataParallel\n"
CASES = [
    pytest.param("x.cuda(0)", [0], id="a number given to cuda"),
    pytest.param("x.cuda()", [], id="the current device"),
    pytest.param("x.to('cuda:1')", [1], id="a text given to to"),
    pytest.param("x.to(torch.device('cuda', 0))", [0], id="a device made of two parts"),
    pytest.param("x.to(torch.device('cuda:0' if c else 'cpu'))", [0], id="a GPU or the CPU"),
    pytest.param("d = 'cuda:0' if c else 'cuda:1'\nx.to(d)", [], id="one of two GPUs"),
    pytest.param("d = torch.device('cuda:0')\nx.to(d)\ny.to(d)", [0, 0], id="a device in a variable"),
    pytest.param("d = 'cuda:0'\nif c:\n    d = f'cuda:{r}'\nx.to(d)", [], id="a device that may be replaced"),
    pytest.param("for _ in r:\n    d = torch.device(d)\nx.to(d)", [], id="a device made of itself"),
    pytest.param("torch.cuda.set_device('cuda:0')", [0], id="the current device is set"),
    pytest.param("DistributedDataParallel(m, device_ids=[0])", [0], id="the device of a wrapper"),
    pytest.param("DistributedDataParallel(m, device_ids=[0, 1])", [], id="a wrapper with two devices"),
    pytest.param("torch.zeros(1, device='cuda:0')", [0], id="a new tensor"),
    pytest.param("torch.load(p, map_location='cuda:0')", [0], id="a loaded checkpoint"),
    pytest.param("torch.cuda.synchronize(device=0)", [], id="a question to a device"),
    pytest.param("class A:\n    def to(self, d): pass\nA().to(0)", [], id="a method of the project"),
]


def parsed(folder: Path, code: str) -> tuple[Project, Script]:
    path = folder / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


@pytest.mark.parametrize(("code", "numbers"), CASES)
def test_devices_that_can_be_no_others(tmp_path: Path, code: str, numbers: list[int]) -> None:
    project, script = parsed(tmp_path, code)
    assert [use.number for use in project.fixed_devices.of(script)] == numbers


@pytest.mark.parametrize(
    ("code", "own"),
    [
        pytest.param("os.environ['CUDA_VISIBLE_DEVICES'] = os.environ['LOCAL_RANK']", True, id="one for each process"),
        pytest.param("os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'", False, id="the same for all"),
        pytest.param("print(os.environ['CUDA_VISIBLE_DEVICES'])", False, id="read only"),
    ],
)
def test_whether_each_process_sees_gpus_of_its_own(tmp_path: Path, code: str, own: bool) -> None:
    project, script = parsed(tmp_path, code)
    assert project.fixed_devices.are_own(script) is own
