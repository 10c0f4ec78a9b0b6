"""A search for unused parameters in every forward, in a model that may have none

## What it finds

`find_unused_parameters=True`, given as a constant. It is likely waste where the model is one of torchvision's, a layer
of torch or a chain of such layers, all of which use every parameter. Elsewhere it is only possible, and shown with
`--pedantic`: which parameters get a gradient is not written into the code.

It is silent where an option decides, beside `static_graph=True`, which looks once, and in tests.

## Why it matters

After every forward the wrapper walks the whole graph to find the parameters that got no gradient. A model that uses all
of them pays for that in each step, and gets nothing. A model that does not needs it: without it, the second step fails.

## Symptoms

- RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one
- your module has parameters that were not used in producing loss
- find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the forward
  pass

## Example

```python bad
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(local_rank)
    return DistributedDataParallel(model, device_ids=[local_rank], find_unused_parameters=True)  #~ DDP108
```

```python fixed
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(local_rank):
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(local_rank)
    return DistributedDataParallel(model, device_ids=[local_rank])
```

```python good
from torch.nn.parallel import DistributedDataParallel


def build(model, local_rank, options):
    return DistributedDataParallel(
        model.to(local_rank),
        device_ids=[local_rank],
        find_unused_parameters=options.layer_drop > 0,
    )
```

## Fix

Unsafe, and only where every layer is known: the argument is left out. It is not repaired elsewhere. Parameters that are
left out of the loss, or frozen once they are wrapped, are used by no step.

## At run time

Confirmed when every parameter gets a gradient in each step that was seen. Refuted when one gets none, with its name.

## References

- find_unused_parameters: https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
- What the search costs: https://docs.pytorch.org/docs/stable/notes/ddp.html#internal-design
"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import (
    UNKNOWN_NAME,
    Applicability,
    Argument,
    Attribute,
    Call,
    Confidence,
    Constant,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Missing,
    Project,
    Role,
    Rule,
    Script,
    Trace,
    Verdict,
)

RULE = Rule(
    code="DDP108",
    name="find-unused-parameters",
    impact=Impact.SLOW,
    since="0.1.0",
    triggers=("find_unused_parameters",),
    applicability=Applicability.UNSAFE,
)
WRAP = "torch.nn.parallel.DistributedDataParallel"
# Models of torchvision that return one output, which all of their parameters have a part in.
WHOLE_MODELS = (
    "alexnet",
    "convnext",
    "densenet",
    "efficientnet",
    "mnasnet",
    "mobilenet",
    "regnet",
    "resnet",
    "resnext",
    "shufflenet",
    "squeezenet",
    "swin",
    "vgg",
    "vit",
    "wide_resnet",
)
WHOLE_LAYERS = ("Linear", "Conv", "BatchNorm", "LayerNorm", "GroupNorm", "Embedding")
WITHOUT_PARAMETERS = ("ReLU", "GELU", "Dropout", "Flatten", "MaxPool", "AvgPool", "Sigmoid", "Tanh", "SiLU", "Softmax")
MOVES = frozenset({"to", "cuda"})


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report wrappers that always search."""
    if project.role(script) is Role.TEST:
        return
    for wrap in project.calls(script, WRAP):
        given = project.argument(wrap, "find_unused_parameters")
        if not isinstance(given, Constant) or given.value is not True or not project.certainly(wrap.callee, WRAP):
            continue
        if project.argument(wrap, "static_graph") is not Missing.ABSENT and not _is_off(wrap, project):
            continue
        module = project.argument(wrap, "module")
        whole = not isinstance(module, Missing) and _uses_all(module, project)
        argument = next((argument for argument in wrap.arguments if argument.value is given), None)
        yield Found(
            given,
            _message(whole),
            Confidence.LIKELY if whole else Confidence.POSSIBLE,
            subject=(wrap, argument) if whole else None,
        )


def _message(whole: bool) -> str:
    cost = "`find_unused_parameters=True` walks the whole graph in every step to find parameters without a gradient"
    if whole:
        return f"{cost}, and this model has none; leave it out"
    return f"{cost}; leave it out if the model has none: torch warns in the first step that it found none"


def _is_off(wrap: Call, project: Project) -> bool:
    given = project.argument(wrap, "static_graph")
    return isinstance(given, Constant) and given.value is False


def _uses_all(module: Expression, project: Project) -> bool:
    """Whether every parameter of a module certainly has a part in its output."""
    origins = project.origins(module)
    return bool(origins) and all(isinstance(origin, Call) and _is_whole(origin, project) for origin in origins)


def _is_whole(made: Call, project: Project) -> bool:
    if isinstance(made.callee, Attribute) and made.callee.name in MOVES:
        return _uses_all(made.callee.base, project)
    names = project.names(made.callee)
    if not names or UNKNOWN_NAME in names or any(given.star for given in made.arguments):
        return False
    if names == {"torch.nn.Sequential"}:
        return all(_uses_all(given.value, project) for given in made.arguments)
    return all(_is_known(name) for name in names)


def _is_known(name: str) -> bool:
    last = name.rpartition(".")[2]
    if name.startswith("torchvision.models."):
        return name.count(".") == 2 and last.startswith(WHOLE_MODELS)
    return name.startswith("torch.nn.") and last.startswith(WHOLE_LAYERS + WITHOUT_PARAMETERS)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Leave the argument out."""
    if not isinstance(found.subject, tuple):
        return None
    wrap, argument = found.subject
    if not isinstance(wrap, Call) or not isinstance(argument, Argument):
        return None
    changes = edits.remove_argument(wrap.node, argument.node)
    return Fix(Applicability.UNSAFE, "Do not search for unused parameters", changes)


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Look for parameters without a gradient in the steps of a wrapper that searches for them."""
    wrappers = [event for event in trace.below(finding.lines, Kind.DDP) if event["find_unused_parameters"]]
    steps = trace.of(Kind.STEP)
    if not wrappers or not steps:
        return Verdict.not_exercised("no step was seen with a wrapper that searches")
    idle = sorted({str(name) for step in steps for name in step["without_gradient"] or ()})
    if idle:
        return Verdict.refuted(f"{len(idle)} parameters had no gradient in a step", ", ".join(idle[:5]))
    return Verdict.confirmed(f"every parameter had a gradient in {len(steps)} steps")
