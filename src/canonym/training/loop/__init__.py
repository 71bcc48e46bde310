"""The training loop: batches, checkpoints, progress, processes."""
