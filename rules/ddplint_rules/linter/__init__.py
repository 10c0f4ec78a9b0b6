"""Rules about the linter itself: files that it cannot read, comments that it cannot follow."""
