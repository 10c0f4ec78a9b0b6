"""The torch that a project is for, told from its requirements."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddplint.project.torch_range import TorchRange, torch_range

CASES = [
    pytest.param("requirements.txt", "numpy\ntorch==1.7.1\n", TorchRange((1, 7), (1, 7)), id="a pinned version"),
    pytest.param("requirements.txt", "torch>=2.0\n", TorchRange((2, 0), None), id="a lowest version"),
    pytest.param("requirements.txt", "torch>=1.13,<2.1\n", TorchRange((1, 13), (2, 0)), id="a range"),
    pytest.param("requirements.txt", "torch<2\n", TorchRange(None, (1, 99)), id="an upper bound"),
    pytest.param("requirements.txt", "torchvision==0.8\ntorch-geometric==2.0\n", TorchRange(), id="other packages"),
    pytest.param(
        "pyproject.toml", '[project]\ndependencies = ["torch>=2.4"]\n', TorchRange((2, 4), None), id="project metadata"
    ),
    pytest.param(
        "pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"\n', TorchRange((2, 1), None), id="poetry"
    ),
    pytest.param("setup.py", 'setup(install_requires=["torch>=1.8"])\n', TorchRange((1, 8), None), id="setup.py"),
    pytest.param(
        "environment.yml",
        "dependencies:\n  - pytorch=1.7.1\n  - torchaudio=0.7\n",
        TorchRange((1, 7), (1, 7)),
        id="conda",
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), CASES)
def test_requirements_say_which_torch(
    name: str, text: str, expected: TorchRange, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ddplint.project.torch_range._installed", TorchRange)
    (tmp_path / name).write_text(text)
    assert torch_range(tmp_path) == expected


def test_without_requirements_the_installed_torch_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    (site / "torch-2.13.0+cpu.dist-info").mkdir(parents=True)
    (site / "torchvision-0.9.0.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(site)])
    assert torch_range(tmp_path) == TorchRange((2, 13), None)


def test_a_range_allows_what_it_reaches_and_guarantees_what_it_starts_from() -> None:
    found = TorchRange((1, 8), (2, 5))
    assert found.allows((2, 4))
    assert not found.allows((2, 6))
    assert found.guarantees((1, 7))
    assert not found.guarantees((2, 4))
