"""Steps in which the tables of reviews came to be."""
