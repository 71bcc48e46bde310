"""canonym inside other libraries, one module each; every one needs the extra of its name."""
