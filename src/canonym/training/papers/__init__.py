"""The training objectives of the five papers, one per file."""
