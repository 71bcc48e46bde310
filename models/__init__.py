"""Making of the shipped encoders and re-rankers."""
