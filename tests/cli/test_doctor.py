"""``ddplint doctor`` as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic_sarif.model import (  # type: ignore[import-untyped]  # it ships no py.typed
    StaticAnalysisResultsFormatSarifVersion210JsonSchema as SarifLog,
)

FACTS = """#!/bin/sh
echo '{"torch": {"version": "2.9.0", "backends": {"gloo": true}}}'
echo '{"host": {"shared_memory": 67108864, "name": "\\u001b[31mred"}}'
"""


def doctor(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ddplint", "doctor", *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MASTER_", "CUDA_"))}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def small(tmp_path: Path) -> str:
    """An interpreter that tells of a machine whose shared memory is that of a container."""
    path = tmp_path / "python"
    path.write_text(FACTS)
    path.chmod(0o755)
    return str(path)


def test_a_machine_with_a_failure(tmp_path: Path, small: str) -> None:
    done = doctor(tmp_path, "--python", small)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("fail    ENV907 shared-memory        /dev/shm of 64 MiB\n")
    assert "what helps: start the container with --ipc=host" in done.stdout
    assert "\x1b" not in done.stdout


def test_json(tmp_path: Path, small: str) -> None:
    content = json.loads(doctor(tmp_path, "--python", small, "--format", "json").stdout)
    assert content["results"][0]["code"] == "ENV907"
    assert content["results"][0]["status"] == "fail"
    assert content["facts"]["torch"]["version"] == "2.9.0"
    assert "ENV901" in content["not_asked"]


def test_sarif_at_the_script_that_asks(tmp_path: Path, small: str) -> None:
    (tmp_path / "train.py").write_text("import torch.distributed as dist\ndist.init_process_group('nccl')\n")
    log = SarifLog.model_validate_json(doctor(tmp_path, "train.py", "--python", small, "--format", "sarif").stdout)
    results = log.runs[0].results or []
    assert {result.ruleId for result in results} >= {"ENV907", "ENV920"}
    assert all(result.locations for result in results)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        pytest.param(["--python", "nowhere"], "ddplint: --python nowhere: No such file or directory", id="no python"),
        pytest.param(["nothing.py"], "ddplint: no such file: nothing.py", id="no script"),
        pytest.param(["--nproc", "0"], "ddplint: invalid value for '--nproc': 0 is not in the range x>=1", id="nobody"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path: Path, options: list[str], line: str) -> None:
    done = doctor(tmp_path, *options)
    assert (done.returncode, done.stderr.strip()) == (2, line)


def test_an_interpreter_without_torch(tmp_path: Path) -> None:
    path = tmp_path / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    path.chmod(0o755)
    done = doctor(tmp_path, "--python", str(path))
    assert done.returncode == 1
    assert "torch can't be imported: ModuleNotFoundError: No module named 'torch'" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
