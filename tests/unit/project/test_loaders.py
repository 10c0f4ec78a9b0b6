"""Data loaders, and the samplers that they can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.samplers import SamplerKind
from ddplint.semantics import Constant, Expression, Script
from ddplint.semantics.arguments import Missing

IMPORTS = (
    "from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Sampler, SequentialSampler\n"
    "from torch.utils.data.distributed import DistributedSampler\n"
)
OWN = (
    "class Own(Sampler):\n    def __init__(self, d, rank):\n        self.rank, self.epoch = rank, 0\n"
    "    def __iter__(self):\n        return shuffled(self.epoch)\n    def set_epoch(self, epoch):\n"
    "        self.epoch = epoch\n"
)


def _understood(tmp_path: Path, code: str) -> tuple[Project, Script]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / "train.py"
    path.write_text(IMPORTS + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project, script


SAMPLERS = [
    pytest.param("DataLoader(d)", {SamplerKind.NONE}, id="no sampler"),
    pytest.param("DataLoader(d, sampler=None)", {SamplerKind.NONE}, id="None for a sampler"),
    pytest.param("DataLoader(d, 8, False, DistributedSampler(d))", {SamplerKind.DISTRIBUTED}, id="torch's, by place"),
    pytest.param(
        "s = DistributedSampler(d) if a else None\nDataLoader(d, sampler=s)",
        {SamplerKind.DISTRIBUTED, SamplerKind.NONE},
        id="one that may be missing",
    ),
    pytest.param("DataLoader(d, sampler=RandomSampler(d))", {SamplerKind.RANDOM}, id="a random one"),
    pytest.param("DataLoader(d, sampler=SequentialSampler(d))", {SamplerKind.IN_ORDER}, id="one in order"),
    pytest.param("DataLoader(d, sampler=find(d))", {SamplerKind.UNKNOWN}, id="one from somewhere"),
    pytest.param("DataLoader(d, **options)", {SamplerKind.UNKNOWN}, id="arguments that can't be read"),
    pytest.param(
        "o = {'batch_size': 2}\no.update({'sampler': DistributedSampler(d)})\nDataLoader(d, **o)",
        {SamplerKind.UNKNOWN},
        id="arguments that are added to",
    ),
    pytest.param(
        "DataLoader(d, batch_sampler=BatchSampler(DistributedSampler(d), 8, True))",
        {SamplerKind.DISTRIBUTED},
        id="one inside a batch sampler",
    ),
    pytest.param(
        "class Share(DistributedSampler): ...\nDataLoader(d, sampler=Share(d))",
        {SamplerKind.DISTRIBUTED},
        id="a subclass of torch's",
    ),
    pytest.param(
        OWN + "DataLoader(d, sampler=Own(d, 0))", {SamplerKind.DISTRIBUTED}, id="an own one that asks the rank"
    ),
    pytest.param(
        "class Mine(Sampler):\n    def __iter__(self):\n        return iter([1])\nDataLoader(d, sampler=Mine())",
        {SamplerKind.OWN},
        id="an own one that does not",
    ),
    pytest.param(
        "class L(DataLoader): ...\nL(d, 8, False, RandomSampler(d))", {SamplerKind.RANDOM}, id="in an own loader class"
    ),
]


@pytest.mark.parametrize(("code", "kinds"), SAMPLERS)
def test_the_samplers_of_a_loader(tmp_path: Path, code: str, kinds: set[SamplerKind]) -> None:
    project, script = _understood(tmp_path, code)
    (loader,) = project.loaders(script)
    assert {sampler.kind for sampler in loader.samplers} == kinds


def test_a_loader_tells_what_it_is_given(tmp_path: Path) -> None:
    project, script = _understood(tmp_path, "DataLoader(d, 8, num_workers=2)\nprint(d)")
    (loader,) = project.loaders(script)
    size, workers = loader.argument("batch_size"), loader.argument("num_workers")
    assert isinstance(size, Constant)
    assert isinstance(workers, Constant)
    assert (size.value, workers.value) == (8, 2)
    assert isinstance(loader.argument("dataset"), Expression)
    assert loader.argument("drop_last") is Missing.ABSENT
    assert loader.is_torchs


AWAITS = [
    pytest.param("DistributedSampler(d)", True, id="torch's"),
    pytest.param("RandomSampler(d)", False, id="a local one"),
    pytest.param("class S(DistributedSampler): ...\nS(d)", True, id="a subclass"),
    pytest.param(
        "class S(DistributedSampler):\n    def __iter__(self):\n        return mixed(self.epoch)\nS(d)",
        True,
        id="a subclass that draws from the epoch",
    ),
    pytest.param(
        "class S(DistributedSampler):\n    def __iter__(self):\n        return mixed()\nS(d)",
        False,
        id="a subclass that does not",
    ),
    pytest.param(
        "class S(DistributedSampler):\n    def __iter__(self):\n        self.epoch += 1\n"
        "        return super().__iter__()\nS(d)",
        False,
        id="a subclass that counts itself",
    ),
    pytest.param(
        "class S(DistributedSampler):\n    def __iter__(self):\n        self.set_epoch(self.epoch + 1)\n"
        "        return super().__iter__()\nS(d)",
        False,
        id="a subclass that calls set_epoch itself",
    ),
    pytest.param(OWN + "Own(d, 0)", True, id="an own one"),
    pytest.param("class S(DistributedSampler, Other): ...\nS(d)", False, id="a subclass of something unknown, too"),
]


@pytest.mark.parametrize(("code", "awaits"), AWAITS)
def test_which_samplers_wait_for_the_epoch(tmp_path: Path, code: str, awaits: bool) -> None:
    project, script = _understood(tmp_path, code)
    made = [call for call in script.calls if call.arguments and getattr(call.arguments[0].value, "id", "") == "d"]
    assert project.samplers.awaits_epoch(made[-1]) is awaits


SHUFFLES = [
    pytest.param("DistributedSampler(d)", True, id="torch's default"),
    pytest.param("DistributedSampler(d, 2, 0, False)", False, id="told not to, by place"),
    pytest.param("DistributedSampler(d, shuffle=training)", None, id="told something unknown"),
    pytest.param("DistributedSampler(d, **options)", None, id="told something that can't be read"),
    pytest.param("for t in (True, False):\n    DistributedSampler(d, shuffle=True if t else False)", True, id="both"),
    pytest.param(
        "def f(mode):\n    DistributedSampler(d, shuffle=mode == 'train')\nf('val')\nf('train')", True, id="in one mode"
    ),
    pytest.param("def f(mode):\n    DistributedSampler(d, shuffle=mode == 'train')\nf('val')", False, id="in no mode"),
    pytest.param("DistributedSampler(d, shuffle=mode == 'train')", None, id="in a mode that is not known"),
    pytest.param("class S(DistributedSampler): ...\nS(d)", True, id="a subclass"),
    pytest.param(
        "class S(DistributedSampler):\n    def __init__(self, d, shuffle=False):\n"
        "        super().__init__(d, shuffle=shuffle)\nS(d)",
        False,
        id="a subclass with another default",
    ),
    pytest.param(
        "class S(DistributedSampler):\n    def __init__(self, d):\n        super().__init__(d, shuffle=False)\nS(d)",
        False,
        id="a subclass that never does",
    ),
]


@pytest.mark.parametrize(("code", "shuffles"), SHUFFLES)
def test_which_samplers_shuffle(tmp_path: Path, code: str, shuffles: bool | None) -> None:
    project, script = _understood(tmp_path, code)
    made = [call for call in script.calls if call.arguments and getattr(call.arguments[0].value, "id", "") == "d"]
    assert project.samplers.shuffles(made[-1]) is shuffles
