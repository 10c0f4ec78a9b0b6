"""What needs a process group, in programs that make none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import torch\nimport torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"
    "from torch.utils.data.distributed import DistributedSampler\n"
)


def _needs(tmp_path: Path, text: str) -> int:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return len(list(project.group_needs.of(script)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("DDP(net)\n", 1, id="a wrapper"),
        pytest.param("def main(): DDP(net)\nmain()\n", 1, id="in a function that is called"),
        pytest.param("dist.barrier()\ndist.get_rank()\n", 2, id="a collective, and the rank"),
        pytest.param("DistributedSampler(data)\n", 1, id="a sampler"),
        pytest.param("DistributedSampler(data, num_replicas=2, rank=0)\n", 0, id="a sampler that is told the numbers"),
        pytest.param("dist.init_process_group('gloo')\nDDP(net)\n", 0, id="the group is made"),
        pytest.param("if x: DDP(net)\n", 0, id="under a test"),
        pytest.param("def main(): DDP(net)\n", 0, id="in a function that nobody calls"),
        pytest.param("import unknown_package\nDDP(net)\n", 0, id="somebody else may make it"),
    ],
)
def test_calls_without_a_group(tmp_path: Path, text: str, expected: int) -> None:
    assert _needs(tmp_path, text) == expected


def test_a_group_that_an_imported_file_makes_counts(tmp_path: Path) -> None:
    (tmp_path / "setup_group.py").write_text("import torch.distributed as d\ndef go(): d.init_process_group('gloo')\n")
    assert _needs(tmp_path, "import setup_group\nsetup_group.go()\nDDP(net)\n") == 0
