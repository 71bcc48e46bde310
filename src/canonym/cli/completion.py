"""``canonym completion``: the script that teaches a shell to complete canonym's options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from canonym.errors import InvalidInput

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash, in ~/.bashrc:    eval "$(canonym completion bash)"
    zsh, in ~/.zshrc:      eval "$(canonym completion zsh)"
    fish, once:            canonym completion fish > ~/.config/fish/completions/canonym.fish
    """
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - click knows all three
        raise InvalidInput(f"no completion for {shell}")
    click.echo(kind(ctx.find_root().command, {}, "canonym", "_CANONYM_COMPLETE").source())
