"""Tools of the published tables, run in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from reproduce.tools import tool


def run_tool(name: str, *arguments: str, code: int = 0) -> Result:
    """Run a tool; failures are messages, and anything else that is raised is a bug."""
    result = CliRunner().invoke(tool(name), list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result
