"""The home page, where people type or paste, and the pages of concepts."""
