"""Collectives and control flow: what all ranks have to do together."""
