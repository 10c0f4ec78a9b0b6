"""Rules about the optimisation: learning rates, gradients, schedules, scalers."""
