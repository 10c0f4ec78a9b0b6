"""One file through the engine: findings with their places, defects, suppressions, files that cannot be linted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ddplint.config import Settings
from ddplint.engine.gate import Assignment
from ddplint.engine.lint_file import FileLinter
from ddplint.engine.outcomes import Failed, Linted, Outcome, Skipped
from ddplint.findings import Applicability, Confidence, Edit, Fix, Impact
from ddplint.project import Project, Workspace
from ddplint.rulekit import Call, Found, Name, Position, Script, SourceFile, SuppressionReport
from ddplint.rulekit.pack import RegisteredRule
from tests.unit.engine.rules import a_rule


def calls_of(script: Script, name: str) -> Iterator[Call]:
    return (call for call in script.calls if isinstance(call.callee, Name) and call.callee.id == name)


def finds_bad(script: Script, _project: Project) -> Iterable[Found]:
    return [Found(call, "bad is called") for call in calls_of(script, "bad")]


def renames_bad(found: Found, _edits: object) -> Fix:
    assert isinstance(found.at, Call)
    edit = Edit("a.py", Position(1, 1), Position(1, 4), "good")
    return Fix(Applicability.SAFE, "call good", (edit,))


def raises(*_: object) -> Any:
    raise ValueError("this rule\nis broken")


def says_unparsable(_source: SourceFile, failure: Any) -> Iterable[Found]:
    at = (Position(failure.line, failure.column), Position(failure.line, failure.column))
    return [Found(at, "not Python", Confidence.CERTAIN)]


def says_unused(report: SuppressionReport) -> Iterable[Found]:
    return [Found((comment.start, comment.end), "suppresses nothing") for comment, _ in report.unused]


BAD = a_rule("DDP101", check=finds_bad)
SYNTAX = a_rule("DDP000", impact=Impact.CRASH, check_unparsable=says_unparsable)
UNUSED = a_rule("DDP001", check_suppressions=says_unused)


def lint(
    code: str | bytes,
    *rules: RegisteredRule,
    pedantic: bool = False,
    awake: Iterable[str] | None = None,
    path: Path = Path("a.py"),
) -> Outcome:
    selected = frozenset(rule.rule.code for rule in rules)
    data = code.encode() if isinstance(code, str) else code
    assignment = Assignment(path, "a.py", data, selected, selected if awake is None else frozenset(awake))
    return FileLinter(rules, Settings(pedantic=pedantic), Workspace()).lint(assignment)


def linted(code: str, *rules: RegisteredRule, **options: Any) -> Linted:
    outcome = lint(code, *rules, **options)
    assert isinstance(outcome, Linted), outcome
    return outcome


def test_a_finding_knows_its_place_and_its_statement() -> None:
    [finding] = linted("x = 1\ny = [\n    bad(\n        1),\n]\n", BAD).findings
    assert (finding.code, finding.name, finding.impact) == ("DDP101", "rule-101", Impact.SLOW)
    assert (finding.place.start, finding.place.end) == (Position(3, 5), Position(4, 11))
    assert finding.place.excerpt == "    bad("
    assert finding.statement == (2, 5)


def test_related_places_are_placed_too() -> None:
    def check(script: Script, _project: Project) -> Iterable[Found]:
        [call] = calls_of(script, "bad")
        [built] = calls_of(script, "build")
        return [Found(call, "bad", related=((built, "built here"),), impact=Impact.HANG)]

    [finding] = linted("s = build()\nbad(s)\n", a_rule("DDP101", check=check)).findings
    [related] = finding.related
    assert (related.note, related.start, related.excerpt) == ("built here", Position(1, 5), "s = build()")
    assert finding.impact is Impact.HANG


def test_findings_are_sorted() -> None:
    early = a_rule("DDP202", check=lambda *_: [Found((Position(1, 1), Position(1, 2)), "early")])
    findings = linted("x = 1\nbad()\nbad()\n", BAD, early).findings
    assert [(finding.code, finding.place.start.line) for finding in findings] == [
        ("DDP202", 1),
        ("DDP101", 2),
        ("DDP101", 3),
    ]


def test_a_file_in_which_nothing_wakes_is_linted_unseen() -> None:
    assert lint(b"\xff\0", BAD, awake=()) == Linted("a.py")


def test_only_rules_that_are_awake_are_asked() -> None:
    broken = a_rule("DDP202", check=raises)
    outcome = linted("bad()\n", BAD, broken, awake=["DDP101"])
    assert (len(outcome.findings), outcome.defects) == (1, ())


def test_a_rule_that_raises_is_a_defect_and_the_others_go_on() -> None:
    outcome = linted("bad()\n", a_rule("DDP202", check=raises), BAD)
    [defect] = outcome.defects
    assert (defect.rule, defect.path) == ("DDP202", "a.py")
    assert defect.detail.startswith("ValueError: this rule is broken (")
    assert "\n" not in defect.detail
    assert [finding.code for finding in outcome.findings] == ["DDP101"]


def test_a_check_may_be_a_generator_that_raises_late() -> None:
    def check(script: Script, project: Project) -> Iterator[Found]:
        yield from finds_bad(script, project)
        raises()

    outcome = linted("bad()\n", a_rule("DDP101", check=check))
    assert (outcome.findings, len(outcome.defects)) == ((), 1)


def test_a_rule_that_points_into_another_file_is_a_defect(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "other.py").write_text("bad()\n")

    def check(_script: Script, project: Project) -> Iterable[Found]:
        other = project.script(tmp_path / "other.py")
        assert other is not None
        return [Found(other.calls[0], "bad is called there")]

    outcome = linted("bad()\n", a_rule("DDP101", check=check), path=tmp_path / "a.py")
    assert outcome.findings == ()
    assert "points into another file" in outcome.defects[0].detail


def test_a_fix_travels_with_its_finding() -> None:
    [finding] = linted("bad()\n", a_rule("DDP101", check=finds_bad, fix=renames_bad)).findings
    assert finding.fix is not None
    assert [edit.content for edit in finding.fix.edits] == ["good"]


def test_a_fix_that_raises_leaves_its_finding() -> None:
    outcome = linted("bad()\n", a_rule("DDP101", check=finds_bad, fix=raises))
    [finding] = outcome.findings
    assert finding.fix is None
    assert len(outcome.defects) == 1


def test_a_fix_that_cannot_be_made_is_no_defect() -> None:
    from ddplint.edits import CannotEdit

    def gives_up(*_: object) -> Any:
        raise CannotEdit("too strange")

    outcome = linted("bad()\n", a_rule("DDP101", check=finds_bad, fix=gives_up))
    assert (outcome.findings[0].fix, outcome.defects) == (None, ())


@pytest.mark.parametrize(("pedantic", "shown", "hidden"), [(False, 0, 1), (True, 1, 0)])
def test_possible_findings_are_hidden_unless_asked_for(pedantic: bool, shown: int, hidden: int) -> None:
    def check(script: Script, _project: Project) -> Iterable[Found]:
        return [Found(call, "perhaps", Confidence.POSSIBLE) for call in calls_of(script, "bad")]

    outcome = linted("bad()\n", a_rule("DDP101", check=check), pedantic=pedantic)
    assert (len(outcome.findings), outcome.hidden) == (shown, hidden)


def test_a_file_that_does_not_parse_gets_the_findings_of_the_rules_for_that() -> None:
    outcome = linted("bad()\nx = = 1\n", BAD, SYNTAX, UNUSED)
    assert [(finding.code, finding.place.start.line) for finding in outcome.findings] == [("DDP000", 2)]
    assert outcome.defects == ()


def test_a_file_that_does_not_parse_is_seen_only_by_who_parses_it() -> None:
    assert linted("x = = 1\n", BAD, SYNTAX, UNUSED, awake=["DDP001"]).findings == ()


def test_comments_of_a_file_that_does_not_parse_are_not_judged() -> None:
    outcome = linted("bad()  # ddplint: ignore[DDP101]\nx = = 1\n", BAD, SYNTAX, UNUSED)
    assert [finding.code for finding in outcome.findings] == ["DDP000"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("bad()  # ddplint: ignore[DDP101]\n", [], id="a comment that suppresses"),
        pytest.param("good()  # ddplint: ignore[DDP101]\n", ["DDP001"], id="a comment that suppresses nothing"),
        pytest.param("x = [\n  bad(),\n]  # ddplint: ignore\n", [], id="a comment at the end of the statement"),
        pytest.param(
            "good()  # ddplint: ignore[DDP101]\n# ddplint: ignore-file[DDP001]\n", [], id="silence about comments"
        ),
        pytest.param("good()  # ddplint: ignore[DDP101, DDP001]\n", ["DDP001"], id="no silence about itself"),
    ],
)
def test_suppressions(code: str, expected: list[str]) -> None:
    assert [finding.code for finding in linted(code, BAD, UNUSED).findings] == expected


def test_a_comment_for_a_rule_that_is_asleep_is_unused() -> None:
    outcome = linted("good()  # ddplint: ignore[DDP101]\n", BAD, UNUSED, awake=["DDP001"])
    assert [finding.code for finding in outcome.findings] == ["DDP001"]


def test_a_comment_for_a_rule_that_raised_is_not_judged() -> None:
    outcome = linted("good()  # ddplint: ignore[DDP101]\n", a_rule("DDP101", check=raises), UNUSED)
    assert (outcome.findings, len(outcome.defects)) == ((), 1)


def test_a_rule_is_silent_where_a_framework_does_its_job() -> None:
    rule = a_rule("DDP101", check=finds_bad, discharged_by=["accelerate"])
    assert len(linted("bad()\n", rule).findings) == 1
    assert linted("bad()  # ddplint: ignore[DDP101]\naccelerator.prepare(x)\n", rule, UNUSED).findings == ()
    assert linted("bad()\naccelerator.prepare(x)\n", rule).findings == ()


def test_a_file_that_another_one_imports_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst as cst

    parsed: list[str] = []
    original = cst.parse_module

    def noting(text: str) -> cst.Module:
        parsed.append(text)
        return original(text)

    monkeypatch.setattr(cst, "parse_module", noting)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("bad()\n")

    def looks_around(script: Script, project: Project) -> Iterable[Found]:
        project.script(tmp_path / "b.py")
        return finds_bad(script, project)

    monkeypatch.chdir(tmp_path)
    rule = a_rule("DDP101", check=looks_around)
    linter = FileLinter([rule], Settings(), Workspace())
    for name in ("a.py", "b.py"):
        codes = frozenset({"DDP101"})
        outcome = linter.lint(Assignment(Path(name), name, Path(name).read_bytes(), codes, codes))
        assert isinstance(outcome, Linted)
        assert len(outcome.findings) == (name == "b.py")
    assert sorted(parsed) == ["bad()\n", "import b\n"]


def test_a_comment_that_hides_a_possible_finding_is_used() -> None:
    def check(script: Script, _project: Project) -> Iterable[Found]:
        return [Found(call, "perhaps", Confidence.POSSIBLE) for call in calls_of(script, "bad")]

    outcome = linted("bad()  # ddplint: ignore[DDP101]\n", a_rule("DDP101", check=check), UNUSED)
    assert (outcome.findings, outcome.hidden) == ((), 0)


@pytest.mark.parametrize(
    ("data", "kind", "reason"),
    [
        pytest.param(b"bad('\xff')\n", Failed, "0xff is not utf-8", id="bytes that are no text"),
        pytest.param(b"# coding: klingon\nbad()\n", Failed, "klingon", id="an encoding that is not there"),
        pytest.param(b"(" * 9000, Skipped, "nested", id="brackets without end"),
    ],
)
def test_a_file_that_cannot_be_linted(data: bytes, kind: type[Failed | Skipped], reason: str) -> None:
    outcome = lint(data, BAD)
    assert isinstance(outcome, kind)
    assert reason in outcome.reason


def test_a_tree_that_does_not_render_the_file_fails_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst as cst

    monkeypatch.setattr(cst.Module, "_codegen_impl", lambda _self, state: state.add_token("something else"))
    outcome = lint("bad()\n", BAD)
    assert isinstance(outcome, Failed)
    assert outcome.ours
    assert "does not render" in outcome.reason


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("x = " + " + ".join(["a"] * 490) + "\nbad()\n", id="a sum of 490 terms"),
        pytest.param("x = a" + ".f()" * 160 + "\nbad()\n", id="a chain of 160 calls"),
        pytest.param("if a: pass\n" + "elif b: pass\n" * 490 + "bad()\n", id="490 branches"),
        pytest.param("x = " + "[" * 99 + "]" * 99 + "\nbad()\n", id="99 brackets"),
        pytest.param("x = " + "f(" * 99 + "a" + ".b" * 200 + ")" * 99 + "\nbad()\n", id="a chain within brackets"),
        pytest.param("".join(" " * n + "if a:\n" for n in range(90)) + " " * 90 + "bad()\n", id="90 blocks"),
    ],
)
def test_deep_but_legal_code_is_linted(code: str) -> None:
    assert [finding.message for finding in linted(code, BAD).findings] == ["bad is called"]
