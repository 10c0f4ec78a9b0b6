"""The machine: facts are read by a child process, and judged here by pure functions."""

from ddplint.doctor.asked import Asked
from ddplint.doctor.examine import Examination, examine
from ddplint.doctor.facts import Facts
from ddplint.doctor.needs import Needs, needs_of
from ddplint.doctor.result import Result, Status

__all__ = ["Asked", "Examination", "Facts", "Needs", "Result", "Status", "examine", "needs_of"]
