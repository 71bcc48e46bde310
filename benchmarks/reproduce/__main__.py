"""`python -m reproduce NAME`."""

from reproduce.command import reproduce

reproduce(prog_name="python -m reproduce")
