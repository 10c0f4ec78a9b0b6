"""Whether any file makes ddplint fail."""
