"""Published tables, run again: `python -m reproduce NAME`."""
