"""Laws of fixes: whole or not at all, exact elsewhere, settled after one run, reported when they break a promise."""

from __future__ import annotations

import os
import random
import re
import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ddplint.findings import Applicability, Edit, Fix, Impact
from ddplint.fixes import apply, diff, plan_round
from ddplint.source import SourceFile
from tests.properties.mending import settle_scripts
from tests.properties.scripts import scripts
from tests.unit.fixes.toy import Toy, settle_toys

TEXTS = st.lists(st.sampled_from(["a", "é", "😀", " ", "\n", "\r\n", "\x0c", "\u2028"]), max_size=12).map("".join)
WRITTEN = re.compile(r"<\w+>(?:;\n)?")


@st.composite
def texts_and_fixes(draw: st.DrawFn) -> tuple[SourceFile, list[Fix]]:
    """A text, and fixes whose edits do not overlap within one fix; what each writes is told from all else."""
    source = SourceFile("a.py", draw(TEXTS))
    fixes = []
    for number in range(draw(st.integers(0, 5))):
        points = sorted(draw(st.lists(st.integers(0, len(source.text)), min_size=2, max_size=4)))
        content = draw(st.sampled_from([f"<{number}>", f"<{number}>;\n", "", "<shared>"]))
        pairs = zip(points[::2], points[1::2], strict=False)
        edits = [Edit("a.py", source.position(start), source.position(end), content) for start, end in pairs]
        fixes.append(Fix(Applicability.SAFE, "", tuple(dict.fromkeys(edits))))
    return source, fixes


@settings(max_examples=200, deadline=None)
@given(texts_and_fixes())
def test_a_fix_is_made_whole_or_not_at_all_and_all_else_stays(drawn: tuple[SourceFile, list[Fix]]) -> None:
    source, fixes = drawn
    chosen = [fix for _, fix in plan_round([((number,), fix) for number, fix in enumerate(fixes)])]
    edits = {edit for fix in chosen for edit in fix.edits}
    result = apply(source, [edit for fix in chosen for edit in fix.edits])
    replaced = {offset for edit in edits for offset in range(source.offset(edit.start), source.offset(edit.end))}
    kept = "".join(letter for offset, letter in enumerate(source.text) if offset not in replaced)
    assert WRITTEN.sub("", result) == kept
    assert sorted(WRITTEN.findall(result)) == sorted(edit.content for edit in edits if edit.content)
    for number, fix in enumerate(fixes):
        own = sum(f"<{number}>" in edit.content for edit in fix.edits)
        assert result.count(f"<{number}>") == (own if fix in chosen else 0)


@settings(max_examples=100, deadline=None)
@given(texts_and_fixes(), st.randoms(use_true_random=False))
def test_the_order_in_which_fixes_come_does_not_matter(
    drawn: tuple[SourceFile, list[Fix]], shuffler: random.Random
) -> None:
    keyed = [((number,), fix) for number, fix in enumerate(drawn[1])]
    shuffled = shuffler.sample(keyed, len(keyed))
    assert plan_round(shuffled) == plan_round(keyed)


@settings(max_examples=100, deadline=None)
@given(texts_and_fixes())
def test_the_first_fix_never_waits(drawn: tuple[SourceFile, list[Fix]]) -> None:
    keyed = [((number,), fix) for number, fix in enumerate(drawn[1])]
    assert plan_round(keyed)[:1] == tuple(keyed[:1])


LINES = {"bad": "good", "worse": "good", "ugly": "ugly", "stubborn": "stubborn", "slow": "slow", "fine": "fine"}
RULES = (
    Toy("DDP901", r"\bbad\b", "worse", above="import os\n"),
    Toy("DDP902", r"\bworse\b", "good"),
    Toy("DDP903", r"\bugly\b", "(("),
    Toy("DDP904", r"\bstubborn\b", "stubborn "),
    Toy("DDP905", r"\bslow\b", "hang"),
    Toy("DDP906", r"\bhang\b", impact=Impact.HANG),
)
BROKEN = {"ugly": "DDP903", "stubborn": "DDP904", "slow": "DDP905"}
FILES = st.lists(st.lists(st.sampled_from(sorted(LINES)), max_size=6), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(files=FILES, newline=st.sampled_from(["\n", "\r\n"]))
def test_good_fixes_are_made_and_bad_ones_change_nothing(files: list[list[str]], newline: str) -> None:
    texts = {f"{number}.py": newline.join(words) for number, words in enumerate(files)}
    settled = settle_toys(texts, *RULES)
    for path, words in zip(texts, files, strict=True):
        after = settled.texts.get(path, texts[path]).replace("import os\n", "")
        assert after == newline.join(LINES[word] for word in words)
        assert (path in settled.texts) == any(LINES[word] != word for word in words)
    reported = {(defect.path, defect.codes) for defect in settled.defects}
    expected = {
        (path, (BROKEN[word],)) for path, words in zip(texts, files, strict=True) for word in words if word in BROKEN
    }
    assert reported == expected


@settings(max_examples=30, deadline=None)
@given(scripts())
def test_fixes_of_real_primitives_settle_in_one_run(text: str) -> None:
    settled = settle_scripts({"train.py": text})
    after = settled.texts.get("train.py", text)
    compile(after, "train.py", "exec", dont_inherit=True)
    assert (settled.defects, settled.remaining) == ((), ())
    assert settle_scripts({"train.py": after}).texts == {}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_git_applies_every_patch(changes: list[tuple[str, str]]) -> None:
    sources = [SourceFile(f"my {number} ü.py", before) for number, (before, _) in enumerate(changes)]
    with tempfile.TemporaryDirectory() as temporary:
        for source in sources:
            (Path(temporary) / source.path).write_bytes(source.encode(source.text))
        patch = b"".join(diff(source, after) for source, (_, after) in zip(sources, changes, strict=True))
        alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "apply", "--allow-empty", "-"]
        subprocess.run(command, cwd=temporary, env=alone, input=patch, check=True, capture_output=True)
        for source, (_, after) in zip(sources, changes, strict=True):
            file = Path(temporary) / source.path
            assert file.read_bytes() == source.encode(after)
