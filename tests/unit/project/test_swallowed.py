"""Handlers that pass over failed training steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace

HEAD = (
    "import torch\nimport torch.distributed as dist\nfrom torch import nn\n"
    "net = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))\n"
)
STEP = "    try: net(x).sum().backward()\n"


def _agreed(tmp_path: Path, text: str) -> list[bool]:
    path = tmp_path / "script.py"
    path.write_text(HEAD + text)
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return [one.agreed for one in project.swallowed_failures.of(script)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"for x in xs:\n{STEP}    except Exception: print(x)\n", [False], id="printed"),
        pytest.param(f"for x in xs:\n{STEP}    except: pass\n", [False], id="whatever it is"),
        pytest.param(
            f"for x in xs:\n{STEP}    except RuntimeError as e:\n        if x: raise e\n", [False], id="raised at times"
        ),
        pytest.param(
            f"for x in xs:\n{STEP}    except RuntimeError: bad = x\n    dist.all_reduce(bad)\n",
            [True],
            id="the ranks exchange something",
        ),
        pytest.param(f"for x in xs:\n{STEP}    except Exception: raise\n", [], id="raised"),
        pytest.param(f"for x in xs:\n{STEP}    except Exception: continue\n", [], id="the round is left"),
        pytest.param(f"for x in xs:\n{STEP}    except Exception: dist.all_reduce(x)\n", [], id="the others are told"),
        pytest.param(f"for x in xs:\n{STEP}    except KeyboardInterrupt: pass\n", [], id="interrupted"),
        pytest.param("for x in xs:\n    try: print(x)\n    except Exception: pass\n", [], id="no training step"),
        pytest.param("x = 1\ntry: net(x).sum().backward()\nexcept Exception: pass\n", [], id="no further round"),
    ],
)
def test_handlers_around_a_training_step(tmp_path: Path, text: str, expected: list[bool]) -> None:
    assert _agreed(tmp_path, text) == expected
