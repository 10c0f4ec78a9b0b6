"""What a script does outside its functions, and with it every process that it starts anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Constant, Script

if TYPE_CHECKING:
    from ddplint.project.project import Project


class WorkKind(Enum):
    """What a call does."""

    TRACKS = "starts a run of a tracker"
    FETCHES = "fetches files"
    MAKES = "makes a directory that must not be there"
    CHANGES = "removes or moves files"
    RUNS = "runs a command"
    USES_GPU = "uses the GPU"


_KINDS = {
    "mlflow.start_run": WorkKind.TRACKS,
    "torch.utils.tensorboard.SummaryWriter": WorkKind.TRACKS,
    "tensorboardX.SummaryWriter": WorkKind.TRACKS,
    "wandb.init": WorkKind.TRACKS,
    "datasets.load_dataset": WorkKind.FETCHES,
    "gdown.download": WorkKind.FETCHES,
    "huggingface_hub.snapshot_download": WorkKind.FETCHES,
    "nltk.download": WorkKind.FETCHES,
    "torchvision.datasets.utils.download_and_extract_archive": WorkKind.FETCHES,
    "torchvision.datasets.utils.download_url": WorkKind.FETCHES,
    "urllib.request.urlretrieve": WorkKind.FETCHES,
    "wget.download": WorkKind.FETCHES,
    "os.makedirs": WorkKind.MAKES,
    "os.mkdir": WorkKind.MAKES,
    "os.remove": WorkKind.CHANGES,
    "os.rename": WorkKind.CHANGES,
    "shutil.move": WorkKind.CHANGES,
    "shutil.rmtree": WorkKind.CHANGES,
    "os.system": WorkKind.RUNS,
    "subprocess.call": WorkKind.RUNS,
    "subprocess.check_call": WorkKind.RUNS,
    "subprocess.check_output": WorkKind.RUNS,
    "subprocess.run": WorkKind.RUNS,
}
_DATASETS = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")


@dataclass(frozen=True, slots=True)
class RepeatedWork:
    """A call that each started process makes again, and what it does."""

    call: Call
    kind: WorkKind


class RepeatedWorks:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[RepeatedWork]:
        """Yield the calls outside functions that every process makes which the script starts anew."""
        for call in script.calls_in(None):
            kind = self._kind(call)
            if kind is not None and self._project.fresh_starts.is_run_again(call):
                yield RepeatedWork(call, kind)

    def _kind(self, call: Call) -> WorkKind | None:
        names = self._project.names(call.callee)
        kinds = {_KINDS.get(name) for name in names}
        if len(kinds) == 1 and None not in kinds:
            kind = kinds.pop()
            return None if kind is WorkKind.MAKES and self._may_be_there(call) else kind
        if names and all(name.startswith(_DATASETS) for name in names):
            return WorkKind.FETCHES if _is_on(call, "download") else None
        return WorkKind.USES_GPU if self._project.cuda_starts.starts(call) else None

    def _may_be_there(self, call: Call) -> bool:
        """Whether a directory may exist before: it is allowed, or the code asks first."""
        allowed = any(given.keyword == "exist_ok" for given in call.arguments) or len(call.arguments) > 2
        return allowed or any(region.test is not None for region in call.region.chain())


def _is_on(call: Call, name: str) -> bool:
    given = next((given.value for given in call.arguments if given.keyword == name), None)
    return isinstance(given, Constant) and given.value is True
