"""``python -m ddplint`` is the same as ``ddplint``."""

from __future__ import annotations

import sys

from ddplint.cli import main

# Worker processes import this module under another name, and must not start a run of their own.
if __name__ == "__main__":
    sys.exit(main())
