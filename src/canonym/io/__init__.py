"""Files, streams, tables and XML: shared by readers and writers."""
