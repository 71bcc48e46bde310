"""Making of the shipped encoders and the judge."""

import sys
from pathlib import Path

# `reproduce` is used too, and only `src` is installed.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
