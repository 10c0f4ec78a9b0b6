"""Files that one rank writes or removes while others read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import os\nimport torch\nimport torch.distributed as dist\ndist.init_process_group('gloo')\nr = dist.get_rank()\n"
)
SAVE = "if r == 0:\n    torch.save(1, 'x')\n"
REMOVE = "if r == 0:\n    os.remove('x')\n"


def _found(tmp_path: Path, text: str) -> list[tuple[str, bool]]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [(one.kind.name, one.doubtful) for one in project.handovers.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"{SAVE}torch.load('x')\n", [("READ", False)], id="read at once"),
        pytest.param(f"{SAVE}print(1)\nopen('x', 'rb')\n", [("READ", False)], id="opened after something harmless"),
        pytest.param(f"torch.load('x')\n{REMOVE}", [("REMOVAL", False)], id="removed at once"),
        pytest.param(f"{SAVE}other()\ntorch.load('x')\n", [("READ", True)], id="behind something unknown"),
        pytest.param(
            f"def again(folder):\n    path = folder\n    return torch.load(path)\n{SAVE}again('x')\n",
            [("READ", False)],
            id="read by a helper",
        ),
        pytest.param(
            "def save(path):\n    torch.save(1, path)\nif r == 0:\n    save('x')\ntorch.load('x')\n",
            [("READ", False)],
            id="written by a helper",
        ),
        pytest.param(
            f"def again():\n    dist.barrier()\n    return torch.load('x')\n{SAVE}again()\n",
            [],
            id="read by a helper that waits first",
        ),
        pytest.param(f"{SAVE}dist.barrier()\ntorch.load('x')\n", [], id="behind a barrier"),
        pytest.param(f"{SAVE}wait_for_everyone()\ntorch.load('x')\n", [], id="behind something that waits by its name"),
        pytest.param(
            f"def meet():\n    dist.barrier()\n{SAVE}meet()\ntorch.load('x')\n",
            [],
            id="behind a function with a barrier",
        ),
        pytest.param(f"{SAVE}torch.load('y')\n", [], id="another file"),
        pytest.param(f"{SAVE}if r == 0:\n    torch.load('x')\n", [], id="read by the same rank"),
        pytest.param(f"torch.save(1, 'x')\ntorch.load('x')\n{SAVE}", [], id="written by all ranks"),
        pytest.param(f"{REMOVE}torch.load('x')\n", [], id="removed before"),
    ],
)
def test_what_is_too_early(tmp_path: Path, text: str, expected: list[tuple[str, bool]]) -> None:
    assert _found(tmp_path, text) == expected
