from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddplint.findings import Applicability
from ddplint.reporting.explain import render_explanation
from ddplint.rulekit.pack import RegisteredRule
from tests.unit.reporting.builders import DOCUMENTATION, rule

UNDER_OO = """
import importlib.util, sys
from ddplint.findings import Impact
from ddplint.reporting.explain import render_explanation
from ddplint.rulekit import Rule
from ddplint.rulekit.pack import RegisteredRule
spec = importlib.util.spec_from_file_location("stripped", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(render_explanation(RegisteredRule(Rule("DDP202", "missing-set-epoch", Impact.WRONG, "0.1.0", ("x",)), module)))
"""


@pytest.mark.parametrize(
    ("registered", "facts"),
    [
        pytest.param(
            rule(),
            "(impact: wrong; fix: safe, with --fix; since: ddplint 0.1.0; torch: any version)",
            id="a rule with a safe fix for every torch",
        ),
        pytest.param(
            rule(applicability=None, torch=(2, 4)),
            "(impact: wrong; fix: none; since: ddplint 0.1.0; torch: 2.4 and newer)",
            id="a rule without a fix that holds from a torch version on",
        ),
        pytest.param(
            rule(applicability=None, torch=(2, 4), torch_before=(2, 13)),
            "(impact: wrong; fix: none; since: ddplint 0.1.0; torch: 2.4 and newer, before 2.13)",
            id="a rule that holds for some versions",
        ),
        pytest.param(
            rule(applicability=Applicability.UNSAFE),
            "(impact: wrong; fix: with --unsafe-fixes; since: ddplint 0.1.0; torch: any version)",
            id="a rule whose fix the author has to agree with",
        ),
    ],
)
def test_the_head_line(registered: RegisteredRule, facts: str) -> None:
    assert render_explanation(registered).split("\n")[0] == f"DDP202 missing-set-epoch {facts}"


def test_examples_are_labelled_and_indented_and_lose_their_marks() -> None:
    lines = render_explanation(rule()).split("\n")
    start = lines.index("## Example")
    assert lines[start : lines.index("## Fix")] == [
        *("## Example", ""),
        *("Bad:", "", "    for epoch in range(9):", "        train(loader)", ""),
        *("Then:", ""),
        *("Fixed:", "", "    for epoch in range(9):", "        sampler.set_epoch(epoch)", "        train(loader)", ""),
        *("Good:", "", "    sampler = DistributedSampler(data, shuffle=False)", ""),
    ]


def test_the_summary_and_all_sections_are_there_in_order() -> None:
    lines = render_explanation(rule()).split("\n")
    assert lines[2] == "The sampler deals the same order in every epoch."
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == [line for line in DOCUMENTATION.split("\n") if line.startswith("## ")]
    assert lines[-2:] == ["- torch.utils.data.distributed", ""]


def test_other_code_has_no_label() -> None:
    text = DOCUMENTATION.replace("Safe.", "Safe.\n```bash\nddplint --fix\n\nls\n```")
    assert "Safe.\n\n    ddplint --fix\n\n    ls\n\n## At run time" in render_explanation(rule(documentation=text))


def test_headings_are_bold_on_a_terminal() -> None:
    assert "\n\n\x1b[1mWhy it matters\x1b[0m\n\n" in render_explanation(rule(), color=True)


def test_a_pack_cannot_send_escape_sequences() -> None:
    text = DOCUMENTATION.replace("Nothing warns.", "Nothing \x1b[2J warns.")
    assert r"Nothing \x1b[2J warns." in render_explanation(rule(documentation=text))


def test_python_that_strips_docstrings_is_named_as_the_reason(tmp_path: Path) -> None:
    module = tmp_path / "stripped.py"
    module.write_text(f'"""{DOCUMENTATION}"""\n', "utf-8")
    outputs = [
        subprocess.run(
            [sys.executable, *flags, "-c", UNDER_OO, str(module)], capture_output=True, text=True, check=True
        )
        for flags in ([], ["-OO"])
    ]
    whole, stripped = (output.stdout for output in outputs)
    assert "Nothing warns." in whole
    assert "-OO" not in whole
    assert stripped.startswith("DDP202 missing-set-epoch (")
    assert "Python was started with -OO" in stripped
