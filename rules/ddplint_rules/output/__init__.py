"""Rules about what the processes print, log and write."""
