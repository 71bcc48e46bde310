"""Fitting encoders: batches, losses and the data they are made of."""
