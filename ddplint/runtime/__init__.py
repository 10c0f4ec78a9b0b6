"""Scripts run under observation: started and ended by a supervisor, watched by a probe in each of their processes."""
