"""``python -m canonym``: the same as the command ``canonym``."""

from canonym.cli import main

main(prog_name="canonym")
