"""Training frameworks that do parts of the job themselves, and how a file shows that one of them drives it."""

from __future__ import annotations

import re
from functools import cache

# One row a framework: an import of it together with the mark of the part that takes the training loop over.
_MARKS = {
    "lightning": rb"\b(?:pl|pytorch_lightning|lightning|L)\.(?:LightningModule|Trainer)\b"
    rb"|\bimport\s+[^\n]*\bLightningModule\b|\bFabric\(",
    "accelerate": rb"\baccelerator\.(?:prepare|backward)\(",
    "transformers": rb"from transformers import[^\n]*\b(?:Seq2Seq)?Trainer\b"
    rb"|from transformers import\s*\([^)]*\b(?:Seq2Seq)?Trainer\b"
    rb"|transformers\.(?:Seq2Seq)?Trainer\(",
    "deepspeed": rb"\bdeepspeed\.initialize\(",
    "horovod": rb"\bimport horovod\.torch\b|\bhvd\.init\(",
    "ignite": rb"\bidist\.|\bfrom ignite\b",
    # Also a tool box without a loop: a single helper of it, imported where it is used, drives nothing.
    "mmengine": rb"^(?:from|import)\s+(?:mmcv|mmengine)\b|\bfrom\s+(?:mmcv|mmengine)\.runner\b",
    "fastai": rb"^\s*(?:from|import)\s+fastai\b",
    "ray": rb"\bray\.train\b|\bfrom ray import train\b|\bTorchTrainer\(",
    "speechbrain": rb"^\s*(?:from|import)\s+speechbrain\b",
    "fairseq": rb"^\s*(?:from|import)\s+fairseq\b",
    "detectron2": rb"^\s*(?:from|import)\s+detectron2\b",
    "megatron": rb"^\s*(?:from|import)\s+megatron\b",
}
_PATTERNS = {name: re.compile(mark, re.MULTILINE) for name, mark in _MARKS.items()}

# Those that drive the training loop: sampling, output, checkpoints and devices are theirs.
LOOP_DRIVERS = frozenset(
    {
        "lightning",
        "accelerate",
        "transformers",
        "ignite",
        "mmengine",
        "fastai",
        "ray",
        "speechbrain",
        "fairseq",
        "detectron2",
        "megatron",
    }
)


@cache
def frameworks_in(content: bytes) -> frozenset[str]:
    """Return the frameworks that a file's text shows to be in charge."""
    return frozenset(name for name, pattern in _PATTERNS.items() if pattern.search(content))
