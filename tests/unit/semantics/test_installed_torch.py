"""The table of torch's signatures against the torch that is installed, where there is one."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import Any

import pytest

from ddplint.semantics.torch_names import parameters, signature, signed

torch = pytest.importorskip("torch", reason="the table is compared with an installed torch", minversion="2.13")

# Where a module has the name of the function in it, the function is asked for by the module's own path.
INSIDE = {
    "torch.nn.parallel.data_parallel": "torch.nn.parallel.data_parallel.data_parallel",
    "torch.multiprocessing.spawn": "torch.multiprocessing.spawn.spawn",
}
# Written in C++, without a signature that Python can show.
HIDDEN = {"torch.distributed.TCPStore"}


@pytest.mark.parametrize("name", sorted(set(signed()) - HIDDEN))
def test_a_callable_takes_what_the_table_says(name: str) -> None:
    found = _found(INSIDE.get(name, name))
    listed = list(inspect.signature(found.__init__ if inspect.isclass(found) else found).parameters.values())
    public = [one for one in listed[int(inspect.isclass(found)) :] if not one.name.startswith("_")]
    positional = [one.name for one in public if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    keyword = [one.name for one in public if one.kind is one.KEYWORD_ONLY]
    assert tuple(positional) == signature(name)
    assert {*positional, *keyword} == set(parameters(name))


def _found(name: str) -> Any:
    """Return what a dotted name stands for: a member of the longest part of it that is a module."""
    parts = name.split(".")
    modules = (".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    module = next(module for module in modules if _is_module(module))
    found: Any = importlib.import_module(module)
    for part in name.removeprefix(f"{module}.").split("."):
        found = getattr(found, part)
    return found


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a part of the name is no package
        return False
