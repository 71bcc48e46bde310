"""What papers measure besides linking, and nobody needs to link: found by the tables alone."""
