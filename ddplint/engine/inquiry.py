"""The questions that rules put to one file, and their answers made into findings."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ddplint.engine.outcomes import RuleDefect
from ddplint.engine.place import Places
from ddplint.errors import Defect
from ddplint.findings import Applicability, Finding, Fix
from ddplint.semantics import ParseFailure

if TYPE_CHECKING:
    from ddplint.edits import Editor
    from ddplint.project import Project, Workspace
    from ddplint.rulekit import Found, SuppressionReport
    from ddplint.rulekit.pack import RegisteredRule
    from ddplint.semantics import Script
    from ddplint.source import SourceFile

T = TypeVar("T")


class Inquiry:
    """One file and what rules say about it.

    A rule that raises becomes a defect; the others go on. The file is parsed when somebody needs its tree.
    """

    def __init__(self, source: SourceFile, path: Path, workspace: Workspace) -> None:
        self.source = source
        self.defects: list[RuleDefect] = []
        self._path = path
        self._workspace = workspace
        self._places = Places(source)
        self._findings: list[Finding] = []
        self._script: Script | None = None
        self._project: Project | None = None
        self._failure: ParseFailure | None = None
        self._editor: Editor | None = None

    def parse(self) -> ParseFailure | None:
        """Parse the file, once; return why it does not parse, or None when it does."""
        if self._script is None and self._failure is None:
            try:
                self._script = self._parsed()
                self._project = self._workspace.project_of(self._script, self._path)
            except ParseFailure as failure:
                self._failure = failure
        return self._failure

    @property
    def old_syntax(self) -> ParseFailure | None:
        """Why Python refuses a file that was understood through a repaired copy; DDP810 speaks of ``async=`` alone."""
        repair = None if self._script is None else self._script.repair
        return None if repair is None else repair.failure

    def ask_about_code(self, rule: RegisteredRule) -> bool:
        """Ask a rule about the file, which parses; return whether its silence means that all is well.

        It does not when the rule raises, when a framework does the rule's job in this program, or when the rule speaks
        of a newer or an older torch than the code is for.
        """
        check, script, project = rule.check, self._script, self._project
        assert check is not None
        assert script is not None
        assert project is not None
        if rule.rule.discharged_by and not rule.rule.discharged_by.isdisjoint(project.frameworks(script)):
            return False
        if rule.rule.torch is not None and not project.torch.allows(rule.rule.torch):
            return False
        if rule.rule.torch_before is not None and project.torch.guarantees(rule.rule.torch_before):
            return False
        return self._ask(rule, lambda: check(script, project))

    def ask_about_failure(self, rule: RegisteredRule, failure: ParseFailure) -> None:
        """Ask a rule about a file that does not parse."""
        check = rule.check_unparsable
        assert check is not None
        self._ask(rule, lambda: check(self.source, failure))

    def ask_about_comments(self, rule: RegisteredRule, report: SuppressionReport) -> None:
        """Ask a rule about the suppression comments of the file."""
        check = rule.check_suppressions
        assert check is not None
        self._ask(rule, lambda: check(report))

    def take_findings(self) -> list[Finding]:
        """Return the findings since the last call."""
        findings, self._findings = self._findings, []
        return findings

    def _parsed(self) -> Script:
        """The script of the file: the one that the project made already, when it is of the same text."""
        from ddplint.semantics.parse import parse  # imports libcst

        project, path = self._workspace.project(self._path), self._path.resolve()
        # What is not in the file, or under another name there, is not worth a parse of what is.
        if project.files.content(path) == self.source.encode(self.source.text):
            script = project.script(path)
            if script is not None and script.source == self.source:
                return script
        return parse(self.source)

    def _ask(self, rule: RegisteredRule, question: Callable[[], Iterable[Found]]) -> bool:
        answers = self._attempt(rule, lambda: tuple(question()))
        if answers and self._script is not None:
            # A tree that LibCST does not render exactly fails the file: no rule is to blame.
            self._places.spans(self._script)
        findings = self._attempt(rule, lambda: [self._finding(rule, found) for found in answers or ()])
        self._findings += findings or ()
        return answers is not None and findings is not None

    def _finding(self, rule: RegisteredRule, found: Found) -> Finding:
        place = self._places.place(found.at, self._script)
        if place.path != self.source.path:
            raise Defect(f"the finding points into another file, {place.path}")
        return Finding(
            code=rule.rule.code,
            name=rule.rule.name,
            impact=found.impact or rule.rule.impact,
            confidence=found.confidence,
            message=found.message,
            place=place,
            statement=self._places.statement(found.at, self._script),
            related=tuple(self._places.place(target, self._script, note) for target, note in found.related),
            fix=self._fix(rule, found),
        )

    def _fix(self, rule: RegisteredRule, found: Found) -> Fix | None:
        """Return the rule's fix. A fix that raises leaves the finding as it is."""
        mend = rule.fix
        fix = None if mend is None else self._attempt(rule, lambda: self._mended(mend, found))
        needs = rule.rule.torch
        if fix is None or needs is None or self._project is None or self._project.torch.guarantees(needs):
            return fix
        return replace(fix, applicability=Applicability.UNSAFE)  # an older torch would not run what it writes

    def _mended(self, mend: Callable[[Found, Editor], Fix | None], found: Found) -> Fix | None:
        from ddplint.edits import CannotEdit, Editor  # imports libcst

        if self.parse() is not None or self._script is None:
            return None
        if self._editor is None:
            self._editor = Editor(self.source, self._script.module, self._places.spans(self._script))
        try:
            return mend(found, self._editor)
        except CannotEdit:
            return None

    def _attempt(self, rule: RegisteredRule, action: Callable[[], T]) -> T | None:
        """Return what a rule's function returns, or None and a defect when it raises."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - a rule may raise anything, and the others go on
            self.defects.append(RuleDefect(rule.rule.code, self.source.path, in_one_line(error)))
            return None


def in_one_line(error: Exception) -> str:
    """Return what an error says and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"
