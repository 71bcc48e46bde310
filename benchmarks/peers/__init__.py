"""Other tools beside canonym: the same names, mentions and rules, in one run on one machine."""
