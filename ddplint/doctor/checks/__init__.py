"""Checks of the machine: pure functions of facts and of what is asked, a file for each part of the machine."""
