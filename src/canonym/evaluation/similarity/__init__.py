"""Tasks other than linking: relatedness, conceptual similarity, relations, languages, pictures."""
