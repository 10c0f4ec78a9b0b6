"""Rules about speed: what makes training slow, and what was left over from a search for errors."""
