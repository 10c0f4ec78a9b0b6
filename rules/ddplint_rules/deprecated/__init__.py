"""Rules about what torch has deprecated and what takes its place."""
