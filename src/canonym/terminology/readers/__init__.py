"""One reader per terminology format."""
