"""What a file is for, told from its path: a test, an evaluation or demo script, code taken over from elsewhere."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath


class Role(Enum):
    """What a file is for, as far as its path says."""

    TEST = "test"
    VENDORED = "taken over from elsewhere"
    EVALUATION = "evaluation"
    OTHER = "other"


_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unit_test", "unit_tests", "unittests", "test_utils"})
_TEST_IMPORT = re.compile(r"^\s*(?:import|from)\s+(?:unittest|pytest)\b", re.MULTILINE)
_VENDORED_FOLDERS = frozenset(
    {"third_party", "thirdparty", "3rdparty", "third-party", "vendor", "vendored", "_vendor", "external", "externals"}
    | {"lpips", "sync_batchnorm", "mmcv_custom"}  # packages that are often copied under their own name
)
_TRAINING_WORD = re.compile(r"(?:pre)?train\w*|fine?tun\w*")
_EVALUATION_WORD = re.compile(
    r"eval\w*|test|tests|testing|tester|valid|validat\w*|val|demo\w*|infer\w*|predict\w*|fid|inception|metrics?"
    r"|submission|submit|visuali[sz]\w*|vis|sample|sampling|export\w*|convert\w*|benchmark\w*|extract\w*|featuri[sz]\w*"
    r"|features?|verify"
)
_WORD_BREAK = re.compile(r"[\W_\d]+|(?<=[a-z])(?=[A-Z])")


def role_of(path: PurePath, text: str) -> Role:
    """Return what a file is for; ``path`` is relative to the root of its project."""
    folders = [folder.lower() for folder in path.parent.parts]
    if not _VENDORED_FOLDERS.isdisjoint(folders):
        return Role.VENDORED
    if _is_test(path.stem.lower(), folders, text):
        return Role.TEST
    words = _words(path.stem)
    if any(_TRAINING_WORD.fullmatch(word) for word in words):
        return Role.OTHER
    if any(_EVALUATION_WORD.fullmatch(word) for word in (*words, *(word for name in folders for word in _words(name)))):
        return Role.EVALUATION
    return Role.OTHER


def _is_test(stem: str, folders: list[str], text: str) -> bool:
    named = stem == "conftest" or stem.startswith("test_") or stem.endswith("_test")
    return not _TEST_FOLDERS.isdisjoint(folders) or (named and bool(_TEST_IMPORT.search(text)))


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD_BREAK.split(name) if word]
