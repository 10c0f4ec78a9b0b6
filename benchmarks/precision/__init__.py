"""How many findings on public repositories are right, from labels that people gave after reading each."""
