"""What a script does outside its functions, and every process that it spawns does again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.repeated_work import WorkKind

HEAD = "import os\nimport nltk\nimport torch\nimport torch.multiprocessing as mp\nimport wandb\ndef w(r): pass\n"
SPAWN = "if __name__ == '__main__': mp.spawn(w, nprocs=2)\n"


def _kinds(tmp_path: Path, text: str) -> list[WorkKind]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [work.kind for work in project.repeated_works.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"wandb.init()\n{SPAWN}", [WorkKind.TRACKS], id="a tracker"),
        pytest.param(f"nltk.download('punkt')\n{SPAWN}", [WorkKind.FETCHES], id="a download"),
        pytest.param(f"os.mkdir('a')\n{SPAWN}", [WorkKind.MAKES], id="a directory that must not be there"),
        pytest.param(f"x = torch.zeros(1).to('cuda:0')\n{SPAWN}", [WorkKind.USES_GPU], id="a tensor on the GPU"),
        pytest.param(f"os.makedirs('a', exist_ok=True)\n{SPAWN}", [], id="a directory that may be there"),
        pytest.param(f"def f(): wandb.init()\n{SPAWN}", [], id="in a function"),
        pytest.param(f"if __name__ == '__main__': wandb.init()\n{SPAWN}", [], id="under the test"),
        pytest.param("wandb.init()\n", [], id="nobody starts processes"),
        pytest.param("wandb.init()\ndef f(g): mp.spawn(g)\n", [], id="a file that others import"),
    ],
)
def test_work_that_is_repeated(tmp_path: Path, text: str, expected: list[WorkKind]) -> None:
    assert _kinds(tmp_path, text) == expected
