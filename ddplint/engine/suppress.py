"""Which suppression comment covers which finding, and which comments cover none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, TypeAlias

from ddplint.findings import Finding
from ddplint.rulekit import SuppressionReport

if TYPE_CHECKING:
    from ddplint.rulekit.pack import RegisteredRule
    from ddplint.source import SourceFile
    from ddplint.source.suppressions import SuppressedCode, Suppression

    # One thing that a comment suppresses: a code, or everything (None).
    Claim: TypeAlias = tuple[Suppression, SuppressedCode | None]


class Suppressions:
    """The suppression comments of one file, set against its findings.

    ``rules`` are all rules there are, also those that did not run: a comment may name any of them.
    """

    def __init__(self, source: SourceFile, comments: Sequence[Suppression], rules: Sequence[RegisteredRule]) -> None:
        self._source = source
        self._malformed = tuple(comment for comment in comments if comment.kind == "malformed")
        self._rules = rules
        self._codes = {name: rule.rule.code for rule in rules for name in (rule.rule.code.lower(), rule.rule.name)}
        self._claims: list[Claim] = [
            claim for comment in comments if comment.kind != "malformed" for claim in _claims(comment)
        ]
        self._used: set[Claim] = set()

    def remaining(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that no comment covers, and note which comments covered the others."""
        remaining = []
        for finding in findings:
            covering = [claim for claim in self._claims if self._covers(claim, finding)]
            self._used.update(covering)
            if not covering:
                remaining.append(finding)
        return remaining

    def remaining_about_comments(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings about comments that no comment for the whole file covers.

        A comment on a line cannot cover them: it would hide what is said about itself.
        """
        claims = [claim for claim in self._claims if claim[0].kind == "ignore-file"]
        return [finding for finding in findings if not any(self._covers(claim, finding) for claim in claims)]

    def report(self, ran: Set[str]) -> SuppressionReport:
        """Say how the comments fared, once ``remaining`` has seen all findings; ``ran`` are the rules that ran."""
        return SuppressionReport(
            source=self._source,
            unused=tuple(claim for claim in self._claims if self._is_unused(claim, ran)),
            unknown=tuple(
                (comment, code)
                for comment, code in self._claims
                if code is not None and code.text.lower() not in self._codes
            ),
            malformed=self._malformed,
            known=tuple(name for rule in self._rules for name in (rule.rule.code, rule.rule.name)),
        )

    def _covers(self, claim: Claim, finding: Finding) -> bool:
        comment, code = claim
        if code is not None and self._codes.get(code.text.lower()) != finding.code:
            return False
        first, last = finding.statement
        return comment.kind == "ignore-file" or first <= comment.line <= last

    def _is_unused(self, claim: Claim, ran: Set[str]) -> bool:
        comment, code = claim
        if claim in self._used:
            return False
        judged = {rule.rule.code for rule in self._rules if rule.check_suppressions is None}
        if code is not None:
            meant = self._codes.get(code.text.lower())
            # What is said about comments is said after this question.
            return meant in judged and meant in ran
        # A bare noqa speaks to other tools too, and a bare ignore-file switches off also what would be said about it.
        return comment.kind == "ignore" and judged <= ran


def _claims(comment: Suppression) -> Iterable[Claim]:
    return [(comment, code) for code in comment.codes] or [(comment, None)]
