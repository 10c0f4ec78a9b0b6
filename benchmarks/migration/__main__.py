"""Plan the move of every DataParallel in a folder of projects, and print what comes of it.

    python -m benchmarks.migration FOLDER              each folder in it is a project
    python -m benchmarks.migration FOLDER --each       also a line for each DataParallel

Nothing is written. A planned move is applied in memory, and a result that does not compile is printed as broken.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ddplint.config import Settings
from ddplint.engine.plans import PlannedMove, Unplanned, plans
from ddplint.fixes import apply
from ddplint.source import read_source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for project in sorted(path.resolve() for path in options.folder.iterdir() if path.is_dir()):
        for one in _planned(project):
            outcome, reason = _judged(one, project)
            outcomes[outcome] += 1
            reasons[reason] += bool(reason)
            if options.each:
                place = f"{one.path}:{one.position.line}" if isinstance(one, PlannedMove) else one.path
                print(f"{outcome}\t{place}\t{reason}", flush=True)
    whole = sum(outcomes.values())
    for outcome, count in outcomes.most_common():
        print(f"{outcome}: {count} of {whole}")
    for reason, count in reasons.most_common():
        print(f"  {count}  {reason}")


def _planned(project: Path) -> Iterator[PlannedMove | Unplanned]:
    return plans(sorted(project.rglob("*.py")), Settings(root=project), project)


def _judged(one: PlannedMove | Unplanned, project: Path) -> tuple[str, str]:
    if isinstance(one, Unplanned):
        return "not planned", one.reason
    if one.plan.refusal is not None:
        return "refused", one.plan.refusal.reason
    source = read_source(project / one.path, one.path)
    try:
        compile(apply(source, one.plan.edits), one.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return "broken", str(error)
    return one.plan.outcome.value, ""


if __name__ == "__main__":
    main()
