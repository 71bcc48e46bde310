"""Run the command: ``python benchmarks/reproduce``, or ``python -m reproduce``, from anywhere."""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    benchmarks = Path(__file__).resolve().parents[1]
    if not __package__:  # named as a folder, whose files are no modules of their own
        sys.path[0] = str(benchmarks)
    # Packages of the checkout that the command uses, as an editable installation has them.
    sys.path.insert(1, str(benchmarks.parent))
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as `canonym train` does
    from reproduce.command import main

    main()
