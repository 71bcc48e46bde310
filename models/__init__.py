"""Making of the shipped encoders and re-rankers."""

import sys
from pathlib import Path

# `reproduce` keeps vectors for the re-rankers; only `src` is installed.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
