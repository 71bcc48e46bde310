"""From a mention to a concept id."""
