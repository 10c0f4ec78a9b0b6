"""Migrated scripts on a GPU: by python alone, with one NCCL rank, and with two gloo ranks that share it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migration.runs import SHARED_GPU, Run, largest_difference, run
from tests.migration.test_same_numbers import CLOSE, each_script, migrated

pytest.importorskip("torch", reason="the scripts are run")


def named_alike(found: Run) -> Run:
    """Return what was saved without the ``module.`` that a wrapper brings: one GPU alone is not wrapped."""
    saved = {
        path: {key.replace(".module.", "."): value for key, value in state.items()}
        for path, state in found.saved.items()
    }
    return Run(found.printed, saved)


@pytest.mark.gpu
@each_script
@pytest.mark.parametrize(
    ("ranks", "before"),
    [
        pytest.param(None, "", id="python alone"),
        pytest.param(1, "", id="one NCCL rank"),
        pytest.param(2, SHARED_GPU, id="two gloo ranks on one GPU"),
    ],
)
@pytest.mark.timeout(400)
def test_a_migrated_script_does_on_a_gpu_what_it_did(
    script: Path, ranks: int | None, before: str, tmp_path: Path
) -> None:
    original = named_alike(run(script.read_text(), tmp_path / "original", None, before="", gpus="0"))
    found = named_alike(run(migrated(script, tmp_path), tmp_path / "moved", ranks, before=before, gpus="0"))
    assert found.printed == original.printed
    assert largest_difference(found, original) < CLOSE
