"""Rules about the data: samplers, loaders, the shares of the ranks."""
