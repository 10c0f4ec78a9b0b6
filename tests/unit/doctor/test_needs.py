"""What a script asks of a machine is read, not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.doctor import Needs, needs_of
from ddplint.errors import PathError

HEAD = "import os\nimport torch.distributed as dist\n"


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        pytest.param("dist.init_process_group('nccl')", Needs("train.py", frozenset({"nccl"})), id="a backend"),
        pytest.param(
            "dist.init_process_group('nccl' if os.environ.get('GPU') else 'gloo')",
            Needs("train.py", frozenset({"nccl", "gloo"})),
            id="one of two",
        ),
        pytest.param("dist.init_process_group(choose())", Needs("train.py"), id="any backend"),
        pytest.param(
            "os.environ['MASTER_PORT'] = '12355'\ndist.init_process_group('gloo')",
            Needs("train.py", frozenset({"gloo"}), frozenset({12355})),
            id="a port",
        ),
        pytest.param("raise SystemExit('a doctor runs no code')", Needs("train.py"), id="nothing"),
    ],
)
def test_needs(tmp_path: Path, code: str, needs: Needs) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "train.py").write_text(f"{HEAD}{code}\n")
    found = needs_of(tmp_path / "train.py", "train.py")
    assert (found.script, found.backends, found.ports) == (needs.script, needs.backends, needs.ports)


def test_the_oldest_torch_that_a_project_allows(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=2.4\n")
    (tmp_path / "train.py").write_text(HEAD)
    assert needs_of(tmp_path / "train.py", "train.py").torch_version == (2, 4)


@pytest.mark.parametrize(
    ("code", "reason"),
    [pytest.param("def (", "can't be read or parsed", id="no Python"), pytest.param(None, "no such file", id="none")],
)
def test_a_script_that_cannot_be_read(tmp_path: Path, code: str | None, reason: str) -> None:
    if code is not None:
        (tmp_path / "train.py").write_text(code)
    with pytest.raises(PathError, match=reason):
        needs_of(tmp_path / "train.py", "train.py")
