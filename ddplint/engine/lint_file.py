"""One file, from its bytes to its outcome."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddplint.engine.inquiry import Inquiry, in_one_line
from ddplint.engine.outcomes import Failed, Linted, Outcome, Skipped, sorted_findings
from ddplint.engine.suppress import Suppressions
from ddplint.errors import SourceError
from ddplint.findings import Confidence, Finding
from ddplint.source import SourceFile, find_suppressions, refusal

if TYPE_CHECKING:
    from ddplint.config import Settings
    from ddplint.engine.gate import Assignment
    from ddplint.project import Workspace
    from ddplint.rulekit.pack import RegisteredRule

# Frames. A long sum or chain of calls is a deep tree, and the tree is walked by recursion; the stack of a thread holds
# more than this on every system.
DEEPEST_RECURSION = 3000


class FileLinter:
    """Lints one file after another with the same rules. ``rules`` are all there are: comments may name any."""

    def __init__(self, rules: Sequence[RegisteredRule], settings: Settings, workspace: Workspace) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), DEEPEST_RECURSION))
        # Trees are kept as long as they are of use: the search for garbage costs a fifth of a run and finds little.
        gc.disable()
        self._rules = rules
        self._pedantic = settings.pedantic
        self._workspace = workspace

    def lint(self, assignment: Assignment) -> Outcome:
        """Return the outcome of a file; raises nothing."""
        if not assignment.awake:
            return Linted(assignment.shown)
        reason = refusal(assignment.data)
        if reason is not None:
            return Skipped(assignment.shown, reason)
        try:
            source = SourceFile.from_bytes(assignment.data, assignment.shown)
        except SourceError as error:
            return Failed(assignment.shown, str(error), ours=False)
        try:
            return self._lint_source(source, assignment)
        except RecursionError:
            return Skipped(assignment.shown, "its code is nested too deeply")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with us, the other files are linted
            return Failed(assignment.shown, in_one_line(error), ours=True)

    def _lint_source(self, source: SourceFile, assignment: Assignment) -> Linted:
        inquiry = Inquiry(source, assignment.path, self._workspace)
        ran = self._ask_about_code(inquiry, assignment)
        findings = self._without_suppressed(inquiry, assignment, ran)
        shown = [finding for finding in findings if self._pedantic or finding.confidence is not Confidence.POSSIBLE]
        hidden = len(findings) - len(shown)
        return Linted(source.path, sorted_findings(shown), tuple(inquiry.defects), hidden)

    def _ask_about_code(self, inquiry: Inquiry, assignment: Assignment) -> frozenset[str]:
        """Ask the rules about code, and return the codes of those whose silence means that all is well."""
        about_code = [rule for rule in self._rules if rule.check is not None and rule.rule.code in assignment.awake]
        unparsable = [
            rule for rule in self._rules if rule.check_unparsable is not None and rule.rule.code in assignment.selected
        ]
        codes_unparsable = frozenset(rule.rule.code for rule in unparsable)
        if not about_code:
            return assignment.selected - codes_unparsable
        failure = inquiry.parse()
        if failure is not None:
            for rule in unparsable:
                inquiry.ask_about_failure(rule, failure)
            return codes_unparsable
        if inquiry.old_syntax is not None:
            for rule in unparsable:
                inquiry.ask_about_failure(rule, inquiry.old_syntax)
        crashed = frozenset(rule.rule.code for rule in about_code if not inquiry.ask_about_code(rule))
        return assignment.selected - crashed

    def _without_suppressed(self, inquiry: Inquiry, assignment: Assignment, ran: frozenset[str]) -> list[Finding]:
        """Take off what comments suppress, and add what there is to say about the comments."""
        comments = find_suppressions(inquiry.source)
        suppressions = Suppressions(inquiry.source, comments, self._rules)
        remaining = suppressions.remaining(inquiry.take_findings())
        if comments:
            report = suppressions.report(ran)
            for rule in self._rules:
                if rule.check_suppressions is not None and rule.rule.code in assignment.selected:
                    inquiry.ask_about_comments(rule, report)
        return remaining + suppressions.remaining_about_comments(inquiry.take_findings())
