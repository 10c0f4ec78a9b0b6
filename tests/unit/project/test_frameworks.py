"""Which framework a file shows to be in charge."""

from __future__ import annotations

import pytest

from ddplint.project.frameworks import frameworks_in

CASES = [
    pytest.param("import mmcv\n", {"mmengine"}, id="mmcv at the top of a file"),
    pytest.param("try:\n    from mmcv.runner import load\n", {"mmengine"}, id="its runner, anywhere"),
    pytest.param("def f():\n    import mmcv\n", set(), id="mmcv for one function"),
    pytest.param("model, optimizer = accelerator.prepare(model, optimizer)\n", {"accelerate"}, id="Accelerate"),
    pytest.param("import accelerate\n", set(), id="Accelerate imported alone"),
    pytest.param("fabric = Fabric(devices=2)\n", {"lightning"}, id="Fabric"),
    pytest.param("engine, *_ = deepspeed.initialize(model=model)\n", {"deepspeed"}, id="DeepSpeed"),
    pytest.param("import torch\n", set(), id="torch alone"),
]


@pytest.mark.parametrize(("text", "names"), CASES)
def test_the_frameworks_of_a_file(text: str, names: set[str]) -> None:
    assert frameworks_in(text.encode()) == names
