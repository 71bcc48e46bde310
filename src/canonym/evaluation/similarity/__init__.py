"""Tasks other than linking: relatedness, relations, pictures."""
