"""A progress bar that every rank draws: the bars of all processes overwrite each other

## What it finds

Bars of tqdm, rich, enlighten, alive-progress and progressbar that every process of a distributed run certainly draws:
after the process group was started in the same function, or in functions that such code calls.

It is silent where a test, a decorator or a context lets only some ranks pass, at the line or around every call on the
way, or put something else in the bar's place; where one rank goes first while the others wait; where `disable=` is
given, unless it is just `False`; where the position, the description or the file says which rank it is; where the
program switches all bars off or sends the error stream elsewhere; and in functions whose callers can't be seen.

## Why it matters

Each of the processes redraws its bar many times a second on the same line of the console. Eight bars flicker over each
other, none can be read, and a log file gets eight times as many lines of them, between which those that matter are
lost.

## Symptoms

- progress bars overwrite each other
- one progress bar for each GPU

## Example

```python bad
import torch.distributed as dist
from tqdm import tqdm


def main(model, loader, epochs):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for epoch in range(epochs):
        for batch in tqdm(loader, desc=f"epoch {epoch}"):  #~ DDP607
            train_step(model, batch)
        if rank == 0:
            save_checkpoint(model, epoch)
```

```python fixed
import torch.distributed as dist
from tqdm import tqdm


def main(model, loader, epochs):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for epoch in range(epochs):
        for batch in tqdm(loader, desc=f"epoch {epoch}", disable=rank != 0):
            train_step(model, batch)
        if rank == 0:
            save_checkpoint(model, epoch)
```

Each rank may have a line of its own:

```python good
import torch.distributed as dist
from tqdm import tqdm


def main(model, loader):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for batch in tqdm(loader, desc=f"rank {rank}", position=rank):
        train_step(model, batch)
```

## Fix

For bars of tqdm: `disable=` is given the opposite of the test of the first rank that the script itself uses and that
means the same at this place, else of `rank == 0` where the rank is known there, or of `get_rank() == 0` where the
process group is certainly started. A bar that is switched off hands out the same items. The fix is safe where nothing
is read of the bar but what works without it (`update`, `set_postfix`, `close`, ...), and unsafe where code reads more
(`n`, `format_dict`) or the bar is handed to code that can't be read.

## At run time

Confirmed when more than one rank drew a bar from this place. Refuted when one rank alone did, or each had a line of its
own. Not exercised when the line was not reached, or the run had one process.

## References

- `disable` and `position`: https://tqdm.github.io/docs/tqdm/
- `disable` of rich: https://rich.readthedocs.io/en/stable/reference/progress.html
- One process for each GPU, each running the whole script: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ddplint.rulekit import (
    LOOP_DRIVERS,
    Applicability,
    Argument,
    Attribute,
    Call,
    Comparison,
    Constant,
    Editor,
    Expression,
    Finding,
    Fix,
    Found,
    Impact,
    Kind,
    Name,
    Not,
    Project,
    Role,
    Rule,
    Sameness,
    Script,
    Trace,
    Verdict,
    done_by_ranks,
    last_name,
    reaching,
    written,
)

RULE = Rule(
    code="DDP607",
    name="progress-bar-every-rank",
    impact=Impact.NOISE,
    since="0.1.0",
    triggers=("tqdm", "rich", "enlighten", "alive_progress", "progressbar"),
    everyday=True,
    discharged_by=LOOP_DRIVERS | {"horovod"},
    applicability=Applicability.SAFE,
)
TQDM = frozenset(
    f"tqdm.{module}{bar}"
    for module in ("", "std.", "auto.", "autonotebook.", "notebook.", "asyncio.", "rich.")
    for bar in ("tqdm", "trange")
) | {"tqdm.tqdm_notebook", "tqdm.tnrange", "tqdm.notebook.tqdm_notebook", "tqdm.notebook.tnrange"}
BARS = TQDM | {
    "rich.progress.track",
    "rich.progress.Progress",
    "enlighten.Counter",
    "enlighten.get_manager",
    "alive_progress.alive_bar",
    "alive_progress.alive_it",
    "progressbar.ProgressBar",
    "progressbar.progressbar",
}
WORDS = frozenset(name.rpartition(".")[2] for name in BARS)
# Arguments that switch a bar off, or send it elsewhere.
SWITCHES = frozenset({"disable", "enabled", "file", "fd", "stream", "console", "gui"})
# Arguments that can say which rank it is; the description is the second by place, too.
TELLING = frozenset({"desc", "description", "position"})
# Positional arguments of tqdm up to its file; who gives more decides for himself.
FEW = 4
# What works on a bar that is switched off as on one that is drawn.
HARMLESS = frozenset(
    {
        "clear",
        "close",
        "refresh",
        "reset",
        "set_description",
        "set_description_str",
        "set_postfix",
        "set_postfix_str",
        "update",
        "write",
    }
)
OPPOSITES = {"==": "!=", "<=": ">", "<": ">=", "in": "not in"}


@dataclass(frozen=True, slots=True)
class Switch:
    """How to draw a bar on the first rank alone: the test of it, and whether the others can go without the bar."""

    test: Expression | str
    safe: bool


def check(script: Script, project: Project) -> Iterator[Found]:
    """Report the bars that every rank draws."""
    if project.role(script) in (Role.TEST, Role.VENDORED):
        return
    bars = [call for call in script.calls if last_name(call.callee) in WORDS and _is_drawn(call, project)]
    if not bars or project.hides_bars(script):
        return
    for bar in bars:
        if project.processes.all_come_to(bar) and not _is_replaced(bar, project):
            yield Found(bar, _message(bar, project), subject=_switch(bar, project))


def _is_drawn(call: Call, project: Project) -> bool:
    """Whether a call certainly draws a bar, on a line that is not that of its process alone."""
    if not project.names(call.callee) <= BARS or any(given.star for given in call.arguments):
        return False
    positional = [given for given in call.arguments if given.keyword is None]
    if len(positional) > FEW or any(_may_be_off(given) for given in call.arguments):
        return False
    told = [given for given in call.arguments if given.keyword in TELLING]
    return all(project.same_values.of(given.value) is not Sameness.OWN for given in (*told, *positional[1:2]))


def _may_be_off(given: Argument) -> bool:
    """Whether an argument can switch the bar off, or send it elsewhere."""
    if given.keyword == "disable":
        return not (isinstance(given.value, Constant) and given.value.value is False)
    return given.keyword in SWITCHES


def _is_replaced(bar: Call, project: Project) -> bool:
    """Whether some ranks put something else in the place of the bar before it is used: ``if rank: bar = loader``."""
    uses = [reached.at for reached in project.trail(bar).reached if isinstance(reached.at, Name)]
    values = [binding.value for use in uses for binding in reaching(use.id, use) or ()]
    return any(value is not None and value is not bar and project.guard(value) is not None for value in values)


def _message(bar: Call, project: Project) -> str:
    off = "`disable=rank != 0`" if project.certainly(bar.callee, *TQDM) else "a test of the rank"
    return (
        f"every rank draws the bar of `{written(bar.callee)}`, so that the bars of all processes overwrite each other; "
        f"draw it on one rank, with {off}"
    )


def _switch(bar: Call, project: Project) -> Switch | None:
    """Return how tqdm's bar is switched off on the other ranks, None where that can't be said."""
    test = project.rank_idioms.test_of_first_rank(bar) if project.certainly(bar.callee, *TQDM) else None
    if test is None:
        return None
    trail = project.trail(bar)
    reads = {attribute.name for attribute in trail.attributes}
    return Switch(test, trail.complete and reads <= HARMLESS and not trail.stores)


def fix(found: Found, edits: Editor) -> Fix | None:
    """Switch the bar off on the other ranks."""
    bar, switch = found.at, found.subject
    if not isinstance(bar, Call) or not isinstance(switch, Switch):
        return None
    test = _on_others(switch.test, edits)
    if "\n" in test:
        return None
    given = next((given for given in bar.arguments if given.keyword == "disable"), None)
    if given is None:
        changes = edits.insert_argument(bar.node, f"disable={test}")
    else:
        changes = edits.replace_argument(given.node, test)
    applicability = Applicability.SAFE if switch.safe else Applicability.UNSAFE
    return Fix(applicability, f"draw it on the first rank only (`disable={test}`)", changes)


def _on_others(first: Expression | str, edits: Editor) -> str:
    """Return the opposite of a test of the first rank, as text."""
    if isinstance(first, str):
        return first.replace("==", "!=")
    if isinstance(first, Not):
        return f"bool({edits.source_text(first.operand.node)})"
    if isinstance(first, Comparison) and len(first.comparisons) == 1:
        ((operator, right),) = first.comparisons
        if operator in OPPOSITES:
            return f"{edits.source_text(first.left.node)} {OPPOSITES[operator]} {edits.source_text(right.node)}"
    text = edits.source_text(first.node)
    return f"not {text}" if isinstance(first, Name | Attribute | Call) else f"not ({text})"


def verdict(finding: Finding, trace: Trace) -> Verdict:
    """Count the ranks that drew a bar from the line."""
    drawn = [bar for bar in trace.at(finding.lines, Kind.BAR) if not bar["disabled"]]
    return done_by_ranks(drawn, trace, "drew a progress bar")
