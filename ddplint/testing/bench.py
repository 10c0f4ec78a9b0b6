"""Files in a folder of their own, linted and fixed as the command does it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ddplint.config import Settings, load_settings
from ddplint.engine.fix import FixPolicy, fix, fixable_sources
from ddplint.engine.outcomes import Report
from ddplint.engine.run import Linter, lint_files
from ddplint.findings import Applicability, Finding
from ddplint.project.torch_range import before
from ddplint.rulekit.pack import RegisteredRule

# Keeps settings and neighbours of the folders above out, and makes the folder a project.
_SETTINGS_FILE = "pyproject.toml"
_NO_SETTINGS = "[tool.ddplint]\n"


@dataclass(frozen=True, slots=True)
class Observed:
    """What was said of some files and what their fixes made of them; paths are those that were handed in.

    ``failures`` are sentences about what broke: a file that was not linted, a rule that raised, a fix held back.
    """

    findings: tuple[Finding, ...]
    texts: Mapping[str, str]
    failures: tuple[str, ...]


def observe(files: Mapping[str, str], rule: RegisteredRule | None = None, pack: str | None = None) -> Observed:
    """Lint and fix files with one rule alone, or with all; ``pack`` names a pack that is not installed.

    A rule that holds for old versions of torch only is asked about the last of them.
    Safe fixes are made, or all fixes where none is safe. A rule about the linter speaks of what the other rules leave
    to it, so these run too.
    """
    with tempfile.TemporaryDirectory(prefix="ddplint-") as name:
        folder = Path(name).resolve()
        _lay_out(folder, {_SETTINGS_FILE: _NO_SETTINGS, **files})
        linter = Linter(_settings(folder, rule, pack))
        paths = [folder / file for file in files if file.endswith(".py")]
        report = Report(tuple(lint_files(linter, paths, Path.cwd(), jobs=1)))
        policy = FixPolicy.of(linter, unsafe=not _has_safe_fix(report, rule))
        fixed = fix(linter, report, policy, fixable_sources(report, policy))
        changed = {_relative(change.source.path, folder): change.text for change in fixed.changes}
        return Observed(
            findings=tuple(_moved(finding, folder) for finding in _of(report, rule)),
            texts={**files, **changed},
            # What broke before the fixes is mostly still broken after them.
            failures=tuple(dict.fromkeys(_failures(report, folder) + _failures(fixed.report, folder))),
        )


def _lay_out(folder: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _settings(folder: Path, rule: RegisteredRule | None, pack: str | None) -> Settings:
    settings = load_settings(folder)
    if pack is not None:
        settings = replace(settings, plugins=(*settings.plugins, pack))
    if rule is None:
        return settings
    code = (rule.rule.code,)
    pedantic = settings.pedantic or rule.rule.pedantic
    if rule.rule.torch_before is not None and settings.torch_version is None:
        settings = replace(settings, torch_version=before(rule.rule.torch_before))
    return replace(settings, select=code if rule.check is not None else (), fixable=code, pedantic=pedantic)


def _of(report: Report, rule: RegisteredRule | None) -> list[Finding]:
    return [finding for finding in report.findings if rule is None or finding.code == rule.rule.code]


def _has_safe_fix(report: Report, rule: RegisteredRule | None) -> bool:
    fixes = [finding.fix for finding in _of(report, rule) if finding.fix is not None]
    return any(fix.applicability is Applicability.SAFE for fix in fixes)


def _failures(report: Report, folder: Path) -> list[str]:
    broken = [(defect.path, f"{defect.rule}: {defect.detail}") for defect in report.defects]
    broken += [(outcome.path, outcome.reason) for outcome in report.skipped]
    broken += [(outcome.path, outcome.reason) for outcome in report.failed]
    return [f"{_relative(path, folder)}: {reason}" for path, reason in broken]


def _moved(finding: Finding, folder: Path) -> Finding:
    return replace(finding, place=replace(finding.place, path=_relative(finding.path, folder)))


def _relative(path: str, folder: Path) -> str:
    return Path(path).relative_to(folder).as_posix()
