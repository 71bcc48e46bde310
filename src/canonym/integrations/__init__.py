"""canonym inside other libraries, one module each; each needs that library."""
