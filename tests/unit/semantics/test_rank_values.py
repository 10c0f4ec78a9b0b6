"""What a number says of its process."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics import Name
from ddplint.semantics.rank_values import RankValue

HEAD = "import os\nimport torch\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
CASES = [
    pytest.param("use(dist.get_rank())", {RankValue.GLOBAL}, id="get_rank"),
    pytest.param("use(dist.get_rank(group))", {None}, id="the rank in a group"),
    pytest.param("local_rank = dist.get_rank()\nuse(local_rank)", {RankValue.GLOBAL}, id="a name proves nothing"),
    pytest.param("use(int(os.environ['LOCAL_RANK']))", {RankValue.LOCAL}, id="the environment"),
    pytest.param("use(int(os.environ.get('RANK', 0)))", {RankValue.GLOBAL}, id="the environment with a default"),
    pytest.param("use(int(os.getenv('WORLD_SIZE', '1')))", {RankValue.WORLD_SIZE}, id="getenv"),
    pytest.param("use(dist.get_rank() % torch.cuda.device_count())", {RankValue.LOCAL}, id="the rank modulo the GPUs"),
    pytest.param("use(torch.cuda.device_count())", {RankValue.GPUS}, id="the number of GPUs"),
    pytest.param("use(args.local_rank)", {RankValue.LOCAL}, id="the launcher's option"),
    pytest.param("def work(i, n):\n    use(i)\nmp.spawn(work, args=(2,))", {RankValue.LOCAL}, id="a spawned index"),
    pytest.param(
        "def work(gpu, args):\n    args.rank = args.rank * args.n + gpu\n    use(args.rank)\nmp.spawn(work, args=(1,))",
        {RankValue.GLOBAL},
        id="the node's number times the GPUs plus the index",
    ),
    pytest.param(
        "r = 0\nif d:\n    r = dist.get_rank()\nuse(r)", {RankValue.GLOBAL, None}, id="a default and the rank"
    ),
    pytest.param("use(7)", {None}, id="a constant"),
    pytest.param("def f(rank):\n    use(rank)", {None}, id="a parameter that nobody is seen to give"),
]


@pytest.mark.parametrize(("code", "kinds"), CASES)
def test_a_number_is_known_for_what_it_counts(code: str, kinds: set[RankValue | None], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    uses = [call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == "use"]
    assert project.rank_values.kinds(uses[-1].arguments[0].value) == kinds
