"""Datasets: what each rank has of them, which have no indices, which are others than others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Project, Workspace
from ddplint.project.datasets import Share
from ddplint.semantics import Expression

IMPORTS = (
    "import os\nimport torch\nimport torch.distributed as dist\nimport numpy as np\nimport webdataset as wds\n"
    "from datasets import load_dataset\nfrom datasets.distributed import split_dataset_by_node\n"
    "from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset, random_split\n"
    "from torchvision.datasets import MNIST, ImageFolder\nfrom elsewhere import find\n"
    "class Own(Dataset):\n    def __init__(self, a):\n        self.a = a\n"
    "    def __getitem__(self, i):\n        return self.a[i]\n"
)


def _given(tmp_path: Path, code: str) -> tuple[Project, list[Expression]]:
    (tmp_path / "setup.py").touch()
    path = tmp_path / "train.py"
    path.write_text(IMPORTS + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    (call,) = (call for call in script.calls if getattr(call.callee, "id", "") == "use")
    return project, [argument.value for argument in call.arguments]


SHARES = [
    pytest.param("use(MNIST('d'))", Share.WHOLE, id="a dataset of a package"),
    pytest.param("use(Own(files))", Share.WHOLE, id="a dataset of the project"),
    pytest.param("a, b = random_split(MNIST('d'), [1, 2])\nuse(a)", Share.WHOLE, id="a part of a split"),
    pytest.param("d = {'t': MNIST('t'), 'v': MNIST('v')}\n[use(d[k]) for k in d]", Share.WHOLE, id="one of a dict"),
    pytest.param("use(MNIST('d', download=dist.get_rank() == 0))", Share.WHOLE, id="a test of the rank gives no share"),
    pytest.param(
        "device = torch.device(dist.get_rank())\nuse(TensorDataset(x.to(device)))", Share.WHOLE, id="on its own device"
    ),
    pytest.param("args.rank = dist.get_rank()\nuse(ImageFolder(args.data))", Share.WHOLE, id="options know the rank"),
    pytest.param(
        "for i in range(9):\n    use(TensorDataset(play(policy)))", Share.UNKNOWN, id="tensors of one round of a loop"
    ),
    pytest.param(
        "class RolloutStorage(Own): ...\nuse(RolloutStorage([]))", Share.OWN, id="what its process has played"
    ),
    pytest.param("use(find('d'))", Share.UNKNOWN, id="from a function that can't be read"),
    pytest.param("def f(d):\n    use(d)", Share.UNKNOWN, id="from whoever calls"),
    pytest.param("use(wds.WebDataset(urls))", Share.UNKNOWN, id="a stream of a package that shares out itself"),
    pytest.param("use(Own(files[dist.get_rank()::dist.get_world_size()]))", Share.OWN, id="a slice by rank"),
    pytest.param("use(Subset(MNIST('d'), parts[dist.get_rank()]))", Share.OWN, id="an item by rank"),
    pytest.param("use(load_dataset('d').shard(n, i))", Share.OWN, id="a method that shards"),
    pytest.param("use(split_dataset_by_node(load_dataset('d')))", Share.OWN, id="a function that shards"),
    pytest.param("use(Own(open(os.environ['RANK'])))", Share.OWN, id="named by the environment"),
    pytest.param("d = Own(files)\nd.keep(dist.get_rank())\nuse(d)", Share.OWN, id="told the rank later"),
    pytest.param("d = Own(files)\nd.part = dist.get_rank()\nuse(d)", Share.OWN, id="given the rank later"),
    pytest.param(
        "class Part(Own):\n    def __len__(self):\n        return 9 // dist.get_world_size()\nuse(Part(files))",
        Share.OWN,
        id="a class that asks for the world size",
    ),
    pytest.param(
        "class Noise(Dataset):\n    def __getitem__(self, i):\n        return torch.rand(3)\nuse(Noise())",
        Share.UNKNOWN,
        id="a class that looks at no index",
    ),
]


@pytest.mark.parametrize(("code", "share"), SHARES)
def test_what_each_rank_has_of_a_dataset(tmp_path: Path, code: str, share: Share) -> None:
    project, (dataset,) = _given(tmp_path, code)
    assert project.datasets.share(dataset) is share


ITERABLES = [
    pytest.param("use(MNIST('d'))", False, id="of a package"),
    pytest.param("use(Own(a))", False, id="of the project"),
    pytest.param("class It(IterableDataset): ...\nclass More(It): ...\nuse(More())", True, id="a subclass"),
    pytest.param("use(load_dataset('d', streaming=True).map(f))", True, id="a stream"),
    pytest.param("use(load_dataset('d').map(f))", None, id="a method of something else"),
    pytest.param("use(find())", None, id="unknown"),
    pytest.param("class It(IterableDataset): ...\nuse(It() if a else MNIST('d'))", None, id="one or the other"),
]


@pytest.mark.parametrize(("code", "iterable"), ITERABLES)
def test_which_datasets_have_no_indices(tmp_path: Path, code: str, iterable: bool | None) -> None:
    project, (dataset,) = _given(tmp_path, code)
    assert project.datasets.is_iterable(dataset) is iterable


DIFFERENT = [
    pytest.param("d = MNIST('d')\nuse(d, d)", False, id="the same object"),
    pytest.param("use(MNIST('d'), MNIST('d'))", False, id="made in the same way"),
    pytest.param(
        "d = MNIST('d')\na = Subset(d, [1])\nd = MNIST('e')\nuse(a, Subset(d, [1]))", True, id="written alike only"
    ),
    pytest.param("use(MNIST('a'), MNIST('b'))", True, id="made in other ways"),
    pytest.param("d = MNIST('d')\nuse(Subset(d, [1]), d)", True, id="a subset of the other"),
    pytest.param("d = MNIST('d')\na, b = random_split(d, [1, 2])\nuse(d, a)", True, id="a part of the other"),
    pytest.param(
        "a, b = random_split(MNIST('d'), [1, 2])\nuse(a, b)", False, id="parts of one split are not told apart"
    ),
    pytest.param("d = MNIST('d')\nuse(Own(d), d)", None, id="a wrapper around the other"),
    pytest.param("d = MNIST('d')\nuse(range(len(d)), d)", None, id="no dataset"),
    pytest.param("use(find(), MNIST('d'))", None, id="unknown"),
    pytest.param("a = MNIST('a')\nuse(a if c else MNIST('b'), a)", False, id="the same on some way"),
]


@pytest.mark.parametrize(("code", "differ"), DIFFERENT)
def test_which_datasets_are_others(tmp_path: Path, code: str, differ: bool | None) -> None:
    project, (one, other) = _given(tmp_path, code)
    assert project.datasets.differ(one, other) is differ
    assert project.datasets.differ(other, one) is differ


DRAWING = [
    pytest.param("def __iter__(self):\n        yield torch.randn(3)", True, id="noise"),
    pytest.param(
        "def __iter__(self):\n        np.random.shuffle(self.a)\n        yield from self.a", True, id="a shuffle"
    ),
    pytest.param("def __iter__(self):\n        yield from self.a", False, id="what it has"),
]


@pytest.mark.parametrize(("method", "draws"), DRAWING)
def test_which_datasets_draw(tmp_path: Path, method: str, draws: bool) -> None:
    project, (dataset,) = _given(tmp_path, f"class It(IterableDataset):\n    {method}\nuse(It())")
    assert project.datasets.draws(dataset) is draws
