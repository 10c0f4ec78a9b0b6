"""Scripts that run in an interpreter of their own, with torch: they read facts and judge nothing."""
