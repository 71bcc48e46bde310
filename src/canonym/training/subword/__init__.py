"""Training of subword encoders in numpy, without torch."""
