"""From what users see or paste to the rules that speak of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddplint.rulekit.symptoms import matching, symptoms_of
from ddplint.testing import rules_of

RULES = rules_of()
LISTED = [(rule.rule.code, symptom) for rule in RULES for symptom in symptoms_of(rule)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("my training hangs", "DDP501", id="a hang"),
        pytest.param("GPU 0 runs out of memory", "DDP101", id="the memory of the first GPU"),
        pytest.param("accuracy is lower on more GPUs", "DDP301", id="another accuracy"),
        pytest.param("address already in use", "DDP401", id="a port"),
        pytest.param("Expected to have finished reduction", "DDP108", id="a part of a long message"),
        pytest.param("CUDA error: INVALID DEVICE ORDINAL", "DDP405", id="in capitals"),
        pytest.param(
            "[rank1]:[E1120 09:15:22 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=1337, OpType=ALLREDUCE, NumelIn=1, Timeout(ms)=600000) ran for 600047 milliseconds",
            "DDP501",
            id="a message around it, with numbers",
        ),
        pytest.param(
            'File "/home/me/train.py", line 3, in <module>\n    main()\n'
            "AttributeError: 'DistributedDataParallel' object has no attribute 'encode'",
            "DDP111",
            id="a traceback",
        ),
        pytest.param(
            'Missing key(s) in state_dict: "fc.weight". Unexpected key(s) in state_dict: "module.fc.weight".',
            "DDP604",
            id="keys of a checkpoint",
        ),
        pytest.param("hang", "DDP501", id="a single word"),
    ],
)
def test_a_symptom_leads_to_a_rule(text: str, code: str) -> None:
    assert code in [match.rule.rule.code for match in matching(RULES, text)]


@pytest.mark.parametrize("text", ["", "python is nice", "error", "0x7f3a 42"])
def test_what_no_rule_speaks_of(text: str) -> None:
    assert [match.symptom for match in matching(RULES, text) if match.likeness == 1.0] == []


@pytest.mark.parametrize(("code", "symptom"), LISTED)
def test_every_symptom_leads_back_to_its_rule(code: str, symptom: str) -> None:
    assert any(match.rule.rule.code == code and match.likeness > 0.99 for match in matching(RULES, symptom))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["--symptom", "address already in use"], 0, "DDP401 hardcoded-port", id="one that is known"),
        pytest.param(["--symptom", "python is nice"], 1, "No rule speaks of this", id="one that is not"),
        pytest.param([], 2, "name rules, or give a --symptom", id="nothing asked"),
        pytest.param(["DDP101", "--symptom", "x"], 2, "name rules, or give a --symptom", id="both asked"),
    ],
)
def test_the_command(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    command = [sys.executable, "-m", "ddplint", "explain", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
