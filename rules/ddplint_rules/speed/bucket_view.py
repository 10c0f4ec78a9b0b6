"""A large model whose gradients are held twice, once in the buckets of the wrapper

## What it finds

With `--pedantic`: DistributedDataParallel without `gradient_as_bucket_view` around a model that is known to be large:
one of torchvision's with some 40 million parameters or more, or one that transformers builds (`from_pretrained`,
`from_config`), where the model is trained.

It is silent where the argument is given, for other models, where a script calls `detach_()`, which views refuse, for a
torch that may be older than 1.7, and in tests.

## Why it matters

The wrapper copies each gradient into a bucket, exchanges the bucket and copies back. As views of the buckets the
gradients need no copies and no memory of their own: as much as the parameters take, 4 GB for a billion of them. Seen
with torch 2.13: 40 gradients of 80 MB lie in 40 pieces of memory beside the buckets without the argument, and in the
four buckets with it.

## Example

```python bad
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import vit_l_16


def train(loader, local_rank):
    model = DistributedDataParallel(vit_l_16().to(local_rank), device_ids=[local_rank])  #~ DDP709
    optimizer = torch.optim.AdamW(model.parameters())
    for inputs in loader:
        model(inputs).sum().backward()
        optimizer.step()
```

```python fixed
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import vit_l_16


def train(loader, local_rank):
    model = DistributedDataParallel(vit_l_16().to(local_rank), device_ids=[local_rank], gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters())
    for inputs in loader:
        model(inputs).sum().backward()
        optimizer.step()
```

```python good
import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


def train(loader, local_rank):
    model = DistributedDataParallel(resnet18().to(local_rank), device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters())
    for inputs in loader:
        model(inputs).sum().backward()
        optimizer.step()
```

## Fix

Unsafe: the argument is added. `detach_()` on a gradient then fails, also in libraries that do it.

## At run time

Confirmed when the gradients have memory of their own, with its size and the peak. Refuted when they are views.

## References

- `gradient_as_bucket_view`:
  https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddplint.rulekit import (
    Applicability,
    Attribute,
    Call,
    Confidence,
    Editor,
    Expression,
    Fix,
    Found,
    Impact,
    Missing,
    Project,
    Role,
    Rule,
    Script,
)

RULE = Rule(
    code="DDP709",
    name="bucket-view",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("DistributedDataParallel",),
    applicability=Applicability.UNSAFE,
    pedantic=True,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
ARGUMENT = "gradient_as_bucket_view"
KNOWN_SINCE = (1, 7)
LARGE = re.compile(
    r"(?:resnet(?:101|152)|wide_resnet\d+_2|resnext101_\w+|vgg\w+|vit_\w+|convnext_(?:small|base|large)"
    r"|swin(?:_v2)?_[sb]|regnet_y_(?:16|32|128)gf|efficientnet_(?:b7|v2_l)|alexnet)"
)
MOVES = frozenset({"to", "cuda", "train"})
BUILDERS = frozenset({"from_pretrained", "from_config"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrappers that copy many gradients."""
    if project.role(script) is Role.TEST or not project.torch.guarantees(KNOWN_SINCE):
        return
    for wrap in project.calls(script, WRAP):
        if not project.certainly(wrap.callee, WRAP) or project.argument(wrap, ARGUMENT) is not Missing.ABSENT:
            continue
        module = project.argument(wrap, "module")
        if isinstance(module, Missing) or not _is_large(module, project) or not project.training.trains(wrap):
            continue
        if not project.mentions(script, (b"detach_(",)):
            message = (
                "the gradients of this large model are kept twice and copied in every step; add "
                f"`{ARGUMENT}=True`, which lets them lie in the buckets of the wrapper"
            )
            yield Found(wrap, message, Confidence.POSSIBLE, subject=wrap)


def _is_large(module: Expression, project: Project) -> bool:
    """Whether every model that an expression can be is known to be large."""
    origins = project.origins(module)
    return bool(origins) and all(isinstance(origin, Call) and _makes_large(origin, project) for origin in origins)


def _makes_large(made: Call, project: Project) -> bool:
    if isinstance(made.callee, Attribute) and made.callee.name in MOVES:
        return _is_large(made.callee.base, project)
    return all(_names_large(name) for name in project.names(made.callee))


def _names_large(name: str) -> bool:
    parts = name.split(".")
    if parts[0] == "transformers":
        return parts[-1] in BUILDERS
    return parts[:2] == ["torchvision", "models"] and LARGE.fullmatch(parts[-1]) is not None


def fix(found: Found, edits: Editor) -> Fix | None:
    """Let the gradients lie in the buckets."""
    assert isinstance(found.subject, Call)
    changes = edits.insert_argument(found.subject.node, f"{ARGUMENT}=True")
    return Fix(Applicability.UNSAFE, "Keep the gradients in the buckets", changes)
