"""What a file is for, by its path."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from ddplint.project.roles import Role, role_of


@pytest.mark.parametrize(
    ("path", "text", "role"),
    [
        pytest.param("train.py", "", Role.OTHER, id="a training script"),
        pytest.param("tools/train.py", "", Role.OTHER, id="a training script in a folder"),
        pytest.param("trainval_net.py", "", Role.OTHER, id="training and validation"),
        pytest.param("evaluation/segmentation/train.py", "", Role.OTHER, id="a training script among evaluations"),
        pytest.param("main.py", "", Role.OTHER, id="a script of no telling name"),
        pytest.param("data/sampler.py", "", Role.OTHER, id="a sampler is no sample"),
        pytest.param("latest.py", "", Role.OTHER, id="a word that only ends like test"),
        pytest.param("test.py", "", Role.EVALUATION, id="a test script that is no unit test"),
        pytest.param("tools/valid.py", "", Role.EVALUATION, id="validation"),
        pytest.param("eval_ijbc.py", "", Role.EVALUATION, id="evaluation by its first word"),
        pytest.param("demoVideo.py", "", Role.EVALUATION, id="a demo in camel case"),
        pytest.param("metrics/fid.py", "", Role.EVALUATION, id="a metric"),
        pytest.param("inference/run.py", "", Role.EVALUATION, id="in a folder for inference"),
        pytest.param("test_models.py", "", Role.EVALUATION, id="named like a unit test, but none"),
        pytest.param("test_models.py", "import pytest\n", Role.TEST, id="a unit test"),
        pytest.param(
            "models_test.py", "from unittest import TestCase\n", Role.TEST, id="a unit test, named at the end"
        ),
        pytest.param("tests/train.py", "", Role.TEST, id="in a folder of tests"),
        pytest.param("conftest.py", "import pytest\n", Role.TEST, id="what tests share"),
        pytest.param("third_party/lib/train.py", "", Role.VENDORED, id="taken over from elsewhere"),
    ],
)
def test_a_path_tells_what_a_file_is_for(path: str, text: str, role: Role) -> None:
    assert role_of(PurePosixPath(path), text) is role
