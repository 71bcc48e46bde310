"""Tools for agents: look-ups of the service over the Model Context Protocol (extra ``mcp``)."""
