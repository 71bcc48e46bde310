"""Names, groups, pairs and triplets drawn for training batches."""
