"""Run the command: ``python benchmarks/reproduce``, from anywhere."""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    benchmarks = Path(__file__).resolve().parents[1]
    if not __package__:  # named as a folder, whose files are no modules of their own
        sys.path[0] = str(benchmarks)
    # `models` is used too.
    sys.path.insert(1, str(benchmarks.parent))
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as `canonym train` does
    from reproduce.command import main
    from reproduce.tools import run

    run(sys.argv[1:], main)
