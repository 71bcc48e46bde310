"""Imported by scripts that use `models` or `tests`: finds them in the checkout, from any folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
