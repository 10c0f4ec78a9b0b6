"""What needs a process group, in programs that make none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.project.collectives import COLLECTIVES
from ddplint.semantics import Call, Expression, Script
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

_PACKAGE = "torch.distributed."
_WRAP = "torch.nn.parallel.DistributedDataParallel"
_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
_ASKS = frozenset({"get_rank", "get_world_size"})
_MAKES = frozenset({"init_process_group", "destroy_process_group"})
_NEEDS = COLLECTIVES - _MAKES | _ASKS
_WORDS = _NEEDS | {"DistributedDataParallel", "DistributedSampler"}
# Words of those that make a group, or may have somebody else make it.
_STARTS = (
    b"init_process_group",
    b"init_device_mesh",
    b"init_distributed",
    b"init_dist",
    b"set_device_mesh",
    b"init_rpc",
)
# Packages that make no process group.
_HARMLESS = frozenset(
    [
        "PIL",
        "apex_C",
        "cv2",
        "einops",
        "h5py",
        "imageio",
        "librosa",
        "matplotlib",
        "mlflow",
        "nltk",
        "numpy",
        "omegaconf",
        "pandas",
        "psutil",
        "requests",
        "rich",
        "scipy",
        "seaborn",
        "skimage",
        "sklearn",
        "soundfile",
        "tensorboard",
        "tensorboardX",
        "termcolor",
        "torch",
        "torchaudio",
        "torchtext",
        "torchvision",
        "tqdm",
        "wandb",
        "yaml",
    ]
)
_SEARCHED = 40


class GroupNeeds:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Call]:
        """Yield the calls of a script that fail without a process group, and surely are reached without one.

        Only where all that the program imports can be read, or is known to make no group.
        """
        needs = [call for call in script.calls if last_name(call.callee) in _WORDS or self._is_renamed(call)]
        needs = [call for call in needs if self._needs_group(call) and self._is_reached(call)]
        if needs and not self._project.mentions(script, _STARTS) and self._is_all_read(script):
            yield from needs

    def _is_renamed(self, call: Call) -> bool:
        """Whether a call may be one of the classes under another name."""
        return _WRAP in self._project.names(call.callee) or _SAMPLER in self._project.names(call.callee)

    def _needs_group(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        if names == {_WRAP}:
            return True
        if names == {_SAMPLER}:
            given = (self._project.argument(call, name) for name in ("num_replicas", "rank"))
            return not all(isinstance(one, Expression) for one in given) and not any(one.star for one in call.arguments)
        return bool(names) and all(
            name.startswith(_PACKAGE) and name.removeprefix(_PACKAGE) in _NEEDS for name in names
        )

    def _is_reached(self, call: Call) -> bool:
        """Whether a start of the script, or the processes that it starts, surely come to a call."""
        if self._project.plain_starts.comes_to(call):
            return True
        function = call.scope.function
        return function is not None and call.region is function.region and bool(self._project.spawners(function))

    def _is_all_read(self, script: Script) -> bool:
        """Whether nobody else can make the group: every import is of this project, or of a package that makes none."""
        paths = self._project.program_of(script)
        others = [script, *(self._project.script(path) for path in paths[:_SEARCHED])]
        return len(paths) <= _SEARCHED and all(
            other is not None and all(self._is_known(other, name) for name, _, _ in other.imports) for other in others
        )

    def _is_known(self, script: Script, name: str) -> bool:
        root = name.lstrip(".").partition(".")[0]
        return root in sys.stdlib_module_names or root in _HARMLESS or self._is_of_project(script, name)

    def _is_of_project(self, script: Script, name: str) -> bool:
        return self._project.definition(script, name) is not None
