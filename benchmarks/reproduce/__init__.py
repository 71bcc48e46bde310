"""Published tables, run again: ``python benchmarks/reproduce NAME``."""
