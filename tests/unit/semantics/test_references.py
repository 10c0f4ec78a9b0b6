"""Where a script reads an imported thing, and what it does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project import Workspace
from ddplint.semantics.references import Reference

WANTED = ("torch.cuda.amp.autocast", "torch.cuda.amp.GradScaler")
CASES = [
    pytest.param("import torch\ntorch.cuda.amp.autocast()", ["called"], id="a call by the full name"),
    pytest.param("from torch.cuda.amp import autocast as a\na(True)", ["called"], id="a call under another name"),
    pytest.param("from torch.cuda import amp\n@amp.autocast()\ndef f(): ...", ["called"], id="a called decorator"),
    pytest.param("from torch.cuda import amp\n@amp.autocast\nclass T: ...", ["decorator"], id="a bare decorator"),
    pytest.param(
        "from torch.cuda.amp import GradScaler\ndef f(s: GradScaler | None): ...", ["type"], id="an annotation"
    ),
    pytest.param(
        "from torch.cuda.amp import GradScaler\nisinstance(s, (int, GradScaler))", ["type"], id="a type in a tuple"
    ),
    pytest.param("import torch\na = torch.cuda.amp.autocast\nwith a(): ...", ["value"], id="a variable that gets it"),
    pytest.param("from torch.cuda.amp import GradScaler\nclass T(GradScaler): ...", ["value"], id="a base class"),
    pytest.param(
        "from torch.cuda.amp import GradScaler\nGradScaler.step(s)", [], id="an attribute of it is not the thing"
    ),
    pytest.param(
        "import torch\nif t:\n    from apex import amp\nelse:\n    from torch.cuda import amp\namp.autocast()",
        [],
        id="a name that may stand for something else",
    ),
    pytest.param(
        "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\nautocast()",
        [],
        id="a name with a stand-in",
    ),
    pytest.param("def autocast(): ...\nautocast()", [], id="a function of the same name"),
    pytest.param("import torch\ntorch.amp.autocast('cuda')", [], id="another name of torch"),
]


def _references(folder: Path, code: str) -> list[Reference]:
    path = folder / "train.py"
    path.write_text(code + "\n")
    project = Workspace().project(path)
    script = project.script(path)
    assert script is not None
    return project.references(script, *WANTED)


@pytest.mark.parametrize(("code", "uses"), CASES)
def test_every_place_that_certainly_reads_the_thing_is_found(code: str, uses: list[str], tmp_path: Path) -> None:
    words = {"called": "CALLED", "decorator": "DECORATOR", "type": "TYPE", "value": "VALUE"}
    assert [reference.use.name for reference in _references(tmp_path, code)] == [words[use] for use in uses]


def test_a_reference_starts_with_the_name_that_the_file_binds(tmp_path: Path) -> None:
    (reference,) = _references(tmp_path, "import torch as t\nt.cuda.amp.autocast()")
    assert reference.root is not None
    assert (reference.root.id, reference.name) == ("t", "torch.cuda.amp.autocast")


OLD = "torch.cuda.amp.autocast()"
FALLBACKS = [
    pytest.param(f"if torch.__version__ < '2.4':\n    {OLD}", True, id="under a test of the version"),
    pytest.param(f"if is_torch_version('<', '2.4'):\n    {OLD}", True, id="under a helper that tests the version"),
    pytest.param(f"NEW = version.parse(v)\nif not NEW:\n    {OLD}", True, id="under a flag made from the version"),
    pytest.param(f"c = new() if TORCH_GREATER_EQUAL_2_4 else {OLD}", True, id="in a conditional expression"),
    pytest.param(f"if not hasattr(torch.amp, 'autocast'):\n    {OLD}", True, id="under a test of a feature"),
    pytest.param(f"if hasattr(dist, 'all_gather_single'):\n    {OLD}", True, id="under a test of a feature of dist"),
    pytest.param(f"if 'x' not in dir(torch.amp):\n    {OLD}", True, id="under a look into a module"),
    pytest.param(f"if hasattr(args, 'half'):\n    {OLD}", False, id="under a test of an option"),
    pytest.param(f"try:\n    new()\nexcept TypeError:\n    {OLD}", True, id="in an except block"),
    pytest.param(f"try:\n    {OLD}\nexcept AttributeError:\n    pass", True, id="where what is missing is caught"),
    pytest.param(f"try:\n    c = {OLD}\nexcept:\n    c = None", True, id="where the except block sets the same name"),
    pytest.param(f"try:\n    {OLD}\nexcept KeyboardInterrupt:\n    save()", False, id="in a loop that may be stopped"),
    pytest.param(
        f"def f():\n    if torch.__version__ > '2.4':\n        return new()\n    return {OLD}",
        True,
        id="after the new way has returned",
    ),
    pytest.param(
        f"def f():\n    if torch.__version__ < '1.6':\n        raise ValueError\n    return {OLD}",
        False,
        id="after old versions were refused",
    ),
    pytest.param(f"if args.version == 2:\n    {OLD}", False, id="under a version of the model"),
    pytest.param(OLD, False, id="without any test"),
]


@pytest.mark.parametrize(("code", "is_fallback"), FALLBACKS)
def test_a_way_kept_for_old_versions_is_told_from_a_plain_use(code: str, is_fallback: bool, tmp_path: Path) -> None:
    (reference,) = _references(tmp_path, f"import torch\n{code}")
    assert reference.is_fallback is is_fallback
