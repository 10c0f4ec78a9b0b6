"""A download or an extraction that every rank does at once: one rank reads what another still writes

## What it finds

Data sets of torchvision and torchaudio with `download=True`, `torch.hub.load`, `nltk.download`, `urlretrieve`, the
download helpers of torchvision, and archives that are unpacked (`extractall`, `unpack_archive`), that every process of
a distributed run comes to with the same place to write to: in the function that starts the process group, before or
after it does, or in functions that such code calls.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way; where one rank goes first and the others wait at a barrier, or behind a file lock; where the first rank has made
the same call before, and a collective lies between; where the place holds the rank, the device or the host; in the
process that starts the others; and in functions whose callers can't be seen. Of a training and a test set made of the
same files the first is reported. Libraries that lock their cache, such as those of Hugging Face, and downloads that
appear under their name only when they are whole, such as `torch.hub.download_url_to_file`, are not reported.

## Why it matters

On the first run, when nothing is there yet, eight processes fetch the same file and write it to the same place. One
finds an archive that is there and not whole, and fails with a wrong checksum, an unexpected end of the file or a
missing folder; sometimes a broken file stays behind. The second run works, so that the failure looks like chance.

## Symptoms

- File is corrupted or incomplete after download
- RuntimeError: Dataset not found or corrupted
- zipfile.BadZipFile: File is not a zip file

## Example

```python bad
import torch.distributed as dist
from torchvision.datasets import CIFAR10


def main():
    dist.init_process_group("nccl")
    dataset = CIFAR10("data", train=True, download=True)  #~ DDP606
    train(dataset)
```

One process of each node fetches the files, since every node has a disk of its own:

```python good
import os

import torch.distributed as dist
from torchvision.datasets import CIFAR10


def main():
    dist.init_process_group("nccl")
    if os.environ["LOCAL_RANK"] == "0":
        CIFAR10("data", train=True, download=True)
    dist.barrier()
    dataset = CIFAR10("data", train=True)
    train(dataset)
```

```python bad
import tarfile
import urllib.request

import torch.distributed as dist


def fetch(url):
    urllib.request.urlretrieve(url, "weights.tar")  #~ DDP606
    with tarfile.open("weights.tar") as archive:
        archive.extractall("weights")  #~ DDP606


dist.init_process_group("nccl")
fetch("https://example.org/weights.tar")
```

## Fix

None: a barrier that lets one rank go first has to be reached by all ranks, and which process of a node goes first is
for the author to say.

## At run time

Confirmed when several ranks wrote the same path from this place. Refuted when one rank of each node alone did. Not
exercised when the files were there already, or the run had one process.

## References

- `download`: https://docs.pytorch.org/vision/stable/datasets.html
- torch.hub and its cache: https://docs.pytorch.org/docs/stable/hub.html
- One process for each GPU, each running the whole script: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Attribute,
    Call,
    Confidence,
    Constant,
    Expression,
    Found,
    Impact,
    Project,
    Role,
    Rule,
    Sameness,
    Script,
    last_name,
    written,
)

RULE = Rule(
    code="DDP606",
    name="download-race",
    impact=Impact.CRASH,
    since="0.1.0",
    triggers=("download", "hub", "urlretrieve", "extract", "unpack_archive"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
)
# What fetches files that are not there, and writes or unpacks them under their own names.
FETCHES = frozenset(
    {
        "nltk.download",
        "spacy.cli.download",
        "torch.hub.load",
        "torchvision.datasets.utils.download_and_extract_archive",
        "torchvision.datasets.utils.download_file_from_google_drive",
        "torchvision.datasets.utils.download_url",
        "urllib.request.urlretrieve",
    }
)
UNPACKS = frozenset({"shutil.unpack_archive", "torchvision.datasets.utils.extract_archive"})
ARCHIVES = frozenset({"tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open", "zipfile.ZipFile"})
# Data sets that fetch their files when they are told to.
DATASETS = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")
# Arguments that say where the files are put.
PLACES = frozenset(
    {"data_home", "dest", "dir", "download_dir", "download_root", "dst", "extract_dir", "extract_root", "filename"}
    | {"model_dir", "out", "output", "path", "root", "to_path"}
)
WORDS = frozenset(name.rpartition(".")[2] for name in FETCHES | UNPACKS) | {"extractall"}


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report what every rank fetches or unpacks."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    told: list[Call] = []
    for call in script.calls:
        verb = _verb(call, project)
        if verb is None or any(_is_of_same(call, other, project) for other in told) or not _meet(call, project):
            continue
        told.append(call)
        sameness = max((project.same_values.of(place) for place in _places(call)), default=Sameness.SAME)
        if sameness is not Sameness.OWN:
            confidence = Confidence.LIKELY if sameness is Sameness.SAME else Confidence.POSSIBLE
            yield Found(call, _message(call, verb), confidence)


def _is_of_same(call: Call, earlier: Call, project: Project) -> bool:
    """Whether a call makes a part of a data set of which another one has fetched the files: training and test."""
    if call.scope is not earlier.scope or call.region.excludes(earlier.region):
        return False
    return last_name(call.callee) not in WORDS and project.names(call.callee) == project.names(earlier.callee)


def _meet(call: Call, project: Project) -> bool:
    """Whether every rank makes a call, and none of them has made it before."""
    return project.processes.all_come_to(call, early=True) and not project.turns.was_prepared(call)


def _verb(call: Call, project: Project) -> str | None:
    """Return what a call certainly does with files that others may be busy with, None for nothing."""
    name = last_name(call.callee)
    if name == "extractall":
        return "unpacks" if isinstance(call.callee, Attribute) and _is_archive(call.callee.base, project) else None
    if name in WORDS:
        names = project.names(call.callee)
        if names <= FETCHES:
            return None if _is_local(call) else "fetches"
        return "unpacks" if names <= UNPACKS else None
    return "fetches" if _is_told_to_fetch(call, project) else None


def _is_archive(value: Expression, project: Project) -> bool:
    origins = project.origins(value)
    return bool(origins) and all(
        isinstance(origin, Call) and project.certainly(origin.callee, *ARCHIVES) for origin in origins
    )


def _is_local(call: Call) -> bool:
    """Whether ``torch.hub.load`` is told to look into a folder."""
    return any(
        given.keyword == "source" and isinstance(given.value, Constant) and given.value.value == "local"
        for given in call.arguments
    )


def _is_told_to_fetch(call: Call, project: Project) -> bool:
    """Whether a call makes a data set that fetches its files."""
    told = next((given.value for given in call.arguments if given.keyword == "download"), None)
    if told is None or (project.constants(told) or {False}) - {True}:
        return False
    return all(name.startswith(DATASETS) for name in project.names(call.callee))


def _places(call: Call) -> Iterator[Expression]:
    """Yield what says where the files are put: an argument of such a name, and what is given by place."""
    yield from (given.value for given in call.arguments if given.keyword is None or given.keyword in PLACES)


def _message(call: Call, verb: str) -> str:
    return (
        f"every rank {verb} the same files with `{written(call.callee)}`, and one reads what another still writes; let "
        "one rank of each node do it while the others wait at a barrier"
    )
