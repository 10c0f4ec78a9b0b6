"""Processes that repeat their own start: which starts run the file anew, and what keeps them from coming there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.shown import written

HEAD = "import os\nimport torch.multiprocessing as mp\ndef f(i): pass\n"
CASES = [
    pytest.param("mp.spawn(f)", ["mp.spawn(f)"], id="outside functions"),
    pytest.param("mp.spawn(f, start_method='fork')", [], id="forked by keyword"),
    pytest.param("mp.start_processes(f, start_method=m)", [], id="an unknown start method"),
    pytest.param("mp.Process(target=f)", [], id="a process by the default method"),
    pytest.param("mp.set_start_method('spawn')\nmp.Process(target=f)", ["mp.Process(target=f)"], id="a method is set"),
    pytest.param("mp.get_context('fork').Process(target=f)", [], id="a context that forks"),
    pytest.param("def main():\n    mp.spawn(f)\nmain()", ["main()"], id="a function that is called outside"),
    pytest.param("def main():\n    mp.spawn(f)", [], id="a function that nobody calls"),
    pytest.param("if __name__ == '__main__':\n    mp.spawn(f)", [], id="under the guard"),
    pytest.param("def main():\n    if __name__ == '__main__':\n        mp.spawn(f)\nmain()", [], id="guarded inside"),
    pytest.param("if os.getenv('PARENT'):\n    mp.spawn(f)", [], id="the environment tells"),
    pytest.param("if gpus > 1:\n    mp.spawn(f)", ["mp.spawn(f)"], id="a test that comes out the same"),
]


@pytest.mark.parametrize(("code", "outside"), CASES)
def test_starts_that_every_new_process_repeats(tmp_path: Path, code: str, outside: list[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    assert [written(start.outside) for start in project.fresh_starts.repeated(script)] == outside
