"""Rules about how processes are started, find each other and take their devices."""
