"""Rules about what is put around the model: DataParallel, DistributedDataParallel."""
