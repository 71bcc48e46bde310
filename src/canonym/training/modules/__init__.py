"""Trainable encoders: transformer, residual, from scratch, word vectors."""
