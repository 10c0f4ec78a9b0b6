"""Numbers that one rank has measured on its share of the evaluation data."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.local_metrics import MetricUse

HEAD = (
    "import torch\nimport torch.distributed as dist\nfrom torch.utils.data import DataLoader, DistributedSampler\n"
    "dist.init_process_group('nccl')\n"
    "def measure(net, data):\n    n = 0\n    for x in DataLoader(data, sampler={sampler}):\n        n += net(x)\n"
    "    {end}\n    return n\n"
)
SHARED = "DistributedSampler(data)"


def _uses(tmp_path: Path, text: str, sampler: str = SHARED, end: str = "n = n / 2") -> list[MetricUse]:
    path = tmp_path / "script.py"
    path.write_text(HEAD.format(sampler=sampler, end=end) + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [metric.use for metric in project.local_metrics.of(script)]


COMPARED = "best = 0\nm = measure(net, data)\nif m > best: best = m\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(COMPARED, [MetricUse.COMPARED], id="compared with the best"),
        pytest.param(
            "s = torch.optim.lr_scheduler.ReduceLROnPlateau(o)\ns.step(measure(net, data))\n",
            [MetricUse.SCHEDULES],
            id="given to a scheduler",
        ),
        pytest.param(
            "m = measure(net, data)\nif dist.get_rank() == 0: print(m)\n", [MetricUse.SAID], id="printed by one rank"
        ),
        pytest.param("m = measure(net, data)\nprint(m)\n", [], id="printed by every rank"),
        pytest.param("m = measure(net, data)\ndist.all_reduce(m)\nif m > best: best = m\n", [], id="reduced"),
        pytest.param("m = measure(net, data)\nif m > 0: m = 1\n", [], id="compared with something else"),
    ],
)
def test_uses_of_a_metric(tmp_path: Path, text: str, expected: list[MetricUse]) -> None:
    assert _uses(tmp_path, text) == expected


def test_a_metric_of_all_data_is_that_of_every_rank(tmp_path: Path) -> None:
    assert _uses(tmp_path, COMPARED, sampler="None") == []


def test_a_function_that_writes_reduced_values_into_an_object_is_left_alone(tmp_path: Path) -> None:
    keeping = (
        "def keep(net, data, meter):\n    for x in DataLoader(data, sampler=DistributedSampler(data)):\n"
        "        meter.update(net(x))\n    {end}\n    if dist.get_rank() == 0: print(meter.avg)\n"
    )
    assert _uses(tmp_path, keeping.format(end="pass")) == [MetricUse.SAID]
    end = "t = torch.tensor(meter.sum); dist.all_reduce(t); meter.avg = t"
    assert _uses(tmp_path, keeping.format(end=end)) == []


def test_results_may_be_merged_through_files(tmp_path: Path) -> None:
    merging = "def merge(n):\n    dist.barrier()\n    return torch.load('all')\n" + COMPARED
    assert _uses(tmp_path, merging, end="other = merge(n)") == []


def test_the_largest_value_of_a_batch_is_no_best_one(tmp_path: Path) -> None:
    assert _uses(tmp_path, "m = measure(net, data)\nif m.max() <= 1: m = 1\n") == []


def test_a_function_that_reduces_gives_the_metric_of_all_ranks(tmp_path: Path) -> None:
    assert _uses(tmp_path, COMPARED, end="dist.all_reduce(n)") == []
