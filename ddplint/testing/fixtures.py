"""Fixture files, as trials: the edge cases of one rule, and whole projects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ddplint.rulekit.pack import RegisteredRule
from ddplint.testing.trial import Trial

LEAST_BAD = 3
LEAST_GOOD = 4
_FIXED = ".fixed.py"


def fixture_folder(rule: RegisteredRule) -> str:
    """Return the name of the folder with a rule's fixtures: ``DDP202_missing_set_epoch``."""
    return f"{rule.rule.code}_{rule.rule.name.replace('-', '_')}"


def fixture_trials(folder: Path, rule: RegisteredRule, pack: str | None = None) -> list[Trial]:
    """Return a trial for each ``bad*.py`` and ``good*.py`` of a rule; ``folder`` holds the folders of all rules.

    ``bad*.fixed.py`` is what the fixes make of ``bad*.py``.
    """
    own = folder / fixture_folder(rule)
    return [_trial(path, rule, pack) for path in sorted(own.glob("*.py")) if not path.name.endswith(_FIXED)]


def fixture_problems(folder: Path, rules: Iterable[RegisteredRule]) -> list[str]:
    """Return a sentence for each fixture that no trial reads, and for each rule that has too few."""
    rules = list(rules)
    known = {fixture_folder(rule) for rule in rules}
    problems = [f"{path.name}: no rule of this code and name" for path in _entries(folder) if path.name not in known]
    for rule in rules:
        problems += _problems_of(folder / fixture_folder(rule))
    return problems


def project_trials(folder: Path, pack: str | None = None) -> list[Trial]:
    """Return a trial for each project below ``folder``: all rules run over all of its files, with its own settings.

    ``x.fixed.py`` is no file of the project but what the fixes make of ``x.py``.
    """
    return [_project_trial(path, pack) for path in _entries(folder)]


def _trial(path: Path, rule: RegisteredRule, pack: str | None) -> Trial:
    fixed = path.with_name(f"{path.stem}{_FIXED}")
    title = f"{path.parent.name}/{path.name}"
    return Trial(title, rule, {path.name: _text(path)}, {path.name: _text(fixed)} if fixed.exists() else {}, pack)


def _project_trial(folder: Path, pack: str | None) -> Trial:
    files = {path.relative_to(folder).as_posix(): _text(path) for path in sorted(folder.rglob("*")) if _is_text(path)}
    fixed = {file.removesuffix(_FIXED) + ".py": text for file, text in files.items() if file.endswith(_FIXED)}
    own = {file: text for file, text in files.items() if not file.endswith(_FIXED)}
    return Trial(f"project {folder.name}", None, own, fixed, pack)


def _problems_of(folder: Path) -> Iterator[str]:
    paths = _entries(folder)
    names = {path.name for path in paths}
    for kind, least in (("bad", LEAST_BAD), ("good", LEAST_GOOD)):
        count = sum(name.startswith(kind) and not name.endswith(_FIXED) for name in names)
        if count < least:
            yield f"{folder.name}: {count} {kind} fixtures, and {least} are the least"
    for path in paths:
        where = f"{folder.name}/{path.name}"
        marked = "#~" in _text(path)
        if path.suffix != ".py" or not path.name.startswith(("bad", "good")):
            yield f"{where}: neither bad*.py nor good*.py"
        elif path.name.endswith(_FIXED):
            if path.name.startswith("good") or path.name.removesuffix(_FIXED) + ".py" not in names:
                yield f"{where}: there is no bad fixture that it could be the fixed form of"
        elif marked != path.name.startswith("bad"):
            yield f"{where}: a {'good' if marked else 'bad'} fixture {'with' if marked else 'without'} a #~ mark"


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name != "__pycache__")


def _is_text(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


def _text(path: Path) -> str:
    return path.read_bytes().decode()
