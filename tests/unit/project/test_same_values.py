"""Whether a path is the same on all ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.project.sameness import Sameness
from ddplint.semantics.expressions import last_name

HEAD = "import os, time, uuid, tempfile, socket\nimport torch.distributed as dist\n"
CASES = [
    pytest.param("here('model.pt')", Sameness.SAME, id="a constant"),
    pytest.param("here(os.path.join(args.output_dir, f'{args.name}.pt'))", Sameness.SAME, id="options"),
    pytest.param("for epoch in range(args.epochs):\n    here(f'{epoch}.pt')", Sameness.SAME, id="a count"),
    pytest.param("for i, b in enumerate(loader):\n    here(f'{i}.pt')", Sameness.SAME, id="the count of batches"),
    pytest.param("for part in ('a', 'b'):\n    here(part + '.pt')", Sameness.SAME, id="an item of a display"),
    pytest.param("def f(args):\n    here(args.dir)\nf(setup(dist.get_rank()))", Sameness.SAME, id="an option by name"),
    pytest.param("path, r = args.dir, dist.get_rank()\nhere(path)", Sameness.SAME, id="unpacked beside a rank"),
    pytest.param("here(f'{rank}.pt')", Sameness.OWN, id="a rank by its name"),
    pytest.param("r = dist.get_rank()\nhere('%d.pt' % r)", Sameness.OWN, id="a rank under another name"),
    pytest.param("here('a' + os.environ['LOCAL_RANK'])", Sameness.OWN, id="a rank of the environment"),
    pytest.param("args.dir = args.dir + str(dist.get_rank())\nhere(args.dir)", Sameness.OWN, id="an option set anew"),
    pytest.param("def f(r):\n    return f'{r}.pt'\nhere(f(dist.get_rank()))", Sameness.OWN, id="made by a helper"),
    pytest.param("def f(p):\n    here(p)\nf(f'{dist.get_rank()}.pt')", Sameness.OWN, id="given by the caller"),
    pytest.param("files = table['x'][rank]\nfor f in zip(files, a):\n    here(f)", Sameness.OWN, id="items of a rank"),
    pytest.param("for b in loader:\n    here(b['name'])", Sameness.OWN, id="named after the data"),
    pytest.param("here(f'model_{val_acc:.2f}.pt')", Sameness.OWN, id="named after a measured value"),
    pytest.param("here(f'{socket.gethostname()}.pt')", Sameness.OWN, id="the host"),
    pytest.param("here(tempfile.mkdtemp() + '/x')", Sameness.OWN, id="a temporary folder"),
    pytest.param("here(tempfile.gettempdir() + '/x')", Sameness.SAME, id="in the folder for temporary files"),
    pytest.param("here(str(uuid.uuid4()))", Sameness.OWN, id="a random name"),
    pytest.param("here(writer.log_dir + '/x')", Sameness.OWN, id="the folder of a writer"),
    pytest.param("here(time.strftime('%H%M%S'))", Sameness.CLOCK, id="the time"),
    pytest.param("here(str(time.time()) + str(rank))", Sameness.OWN, id="the time and the rank"),
]


@pytest.mark.parametrize(("code", "sameness"), CASES)
def test_what_tells_ranks_apart(code: str, sameness: Sameness, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + code)
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    call = next(call for call in script.calls if last_name(call.callee) == "here")
    assert project.same_values.of(call.arguments[0].value) is sameness


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("here(f'runs/{time.time()}')", ["time"], id="the time"),
        pytest.param("run = str(uuid.uuid4())\nhere(os.path.join('runs', run))", ["uuid4"], id="an identifier"),
        pytest.param("here(time.strftime('%H%M%S'))", ["strftime"], id="the time to the second"),
        pytest.param("here(time.strftime('%H%M'))", [], id="the time to the minute"),
        pytest.param("here(str(time.time()) + str(rank))", [], id="the time and the rank"),
        pytest.param(
            "run = [time.time()]\ndist.broadcast_object_list(run)\nhere(run[0])", [], id="the time of one rank"
        ),
        pytest.param("here('runs')", [], id="nothing"),
    ],
)
def test_what_each_rank_draws_for_itself(code: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + code)
    project = Workspace().project(tmp_path / "train.py")
    script = project.script(tmp_path / "train.py")
    assert script is not None
    call = next(call for call in script.calls if last_name(call.callee) == "here")
    assert [last_name(one.callee) for one in project.same_values.drawn(call.arguments[0].value)] == expected
