"""Figures that the project quotes, each with the command that measures it."""
