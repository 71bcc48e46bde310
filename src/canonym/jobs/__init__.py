"""Jobs: a file in, a file out, that go on where they were stopped."""
