"""The command line: ``canonym import | index | link | annotate | fit | evaluate`` and others.

A command is imported when it is called, and imports what it needs when it runs, so that
``canonym --help`` answers at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from difflib import get_close_matches
from typing import Any

import click

from canonym import __version__
from canonym.cli.failures import reported, unwound
from canonym.cli.standard_streams import usable_streams
from canonym.cli.verbosity import with_verbosity

__all__ = ["main"]

# NumPy's BLAS reads it when it is loaded. Its threads wait for the next product in a loop, and take
# the processor from all that runs beside them; with the least of waiting they sleep at once.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

_COMMANDS = {
    "link": "canonym.cli.link:link",
    "annotate": "canonym.cli.annotate:annotate",
    "get": "canonym.cli.get:get",
    "import": "canonym.cli.import_:import_",
    "index": "canonym.cli.index:index",
    "synonyms": "canonym.cli.synonyms:synonyms",
    "review": "canonym.cli.review:review",
    "train": "canonym.cli.train.command:train",
    "evaluate": "canonym.cli.evaluate:evaluate",
    "serve": "canonym.cli.serve:serve",
    "mcp": "canonym.cli.mcp:mcp",
    "map": "canonym.cli.map:map_",
    "terminology": "canonym.cli.terminology:terminology",
    "info": "canonym.cli.info:info",
}
# Commands of before, which the next release does not take, and their new words.
_MOVED = {
    "bulk": ("link", "--engine", "local"),
    "export": ("review", "export"),
    "import-decisions": ("review", "import"),
    "fit": ("train", "subword"),
    "fit-confidence": ("train", "confidence"),
    "compare": ("terminology", "encoders"),
    "keys": ("serve", "keys"),
}

_IN_A_CHECKOUT = (
    "this command is no part of the installed package any more. In a checkout of the repository: "
    "python benchmarks/reproduce"
)
# What papers needed once and linking does not, and what brought too little.
_GONE = {
    "corpus show": f"{_IN_A_CHECKOUT} corpus",
    "corpus agreement": f"{_IN_A_CHECKOUT} agreement",
    "corpus trials": f"{_IN_A_CHECKOUT} trials",
    "corpus": f"{_IN_A_CHECKOUT} corpus",
    "picture": f"{_IN_A_CHECKOUT} picture",
    "train word-vectors": f"{_IN_A_CHECKOUT} word-vectors",
    "train reranker": "this command is gone: the most similar name comes first. `canonym "
    "train confidence` adapts what an index says of its links to annotated mentions",
}


class Commands(click.Group):
    """A group that imports its commands on demand and turns failures into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands in the order in which a newcomer meets them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; return None for an unknown name."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return with_verbosity(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; say what to type instead of one that is gone or misspelt."""
        typed = " ".join(args)
        if instead := [
            says for words, says in _GONE.items() if f"{typed} ".startswith(f"{words} ")
        ]:
            raise click.UsageError(instead[0])
        if args[0] in _MOVED:
            from canonym.cli.key_options import note_at_end

            old, *rest = args
            args = [*_MOVED[old], *rest]
            note_at_end(ctx, f"`canonym {old}` is `canonym {' '.join(_MOVED[old])}` now.")
        known = [*_COMMANDS, *_MOVED]
        if args[0] not in _COMMANDS and (near := get_close_matches(args[0], known, n=1)):
            meant = " ".join(_MOVED.get(near[0], near))
            raise click.UsageError(f"no such command {args[0]!r}. Did you mean {meant!r}?")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line; what fails before a command runs becomes a message too."""
        if not extra.get("standalone_mode", True):
            return super().main(*args, **extra)
        with usable_streams(), unwound():
            try:
                with reported():
                    self._run(*args, **extra)
            except click.ClickException as error:
                error.show()
                sys.exit(error.exit_code)

    def _run(self, *args: Any, **extra: Any) -> None:
        try:
            super().main(*args, **extra)
        except SystemExit:
            sys.stdout.flush()  # help and version, say, whose disk may be full
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn expected errors into messages."""
        with reported(lambda: self._flags(ctx)):
            return super().invoke(ctx)

    def _flags(self, ctx: click.Context) -> dict[str, str]:
        """Return the options of the command that was called, and of the commands below it.

        The values are how each is typed before its value: ``--sheet`` and a blank, say.
        """
        from canonym.cli.key_options import typed_as

        waiting = [self.get_command(ctx, ctx.invoked_subcommand or "")]
        flags: dict[str, str] = {}
        for command in waiting:
            if isinstance(command, click.Group):
                waiting.extend(command.commands.values())
            if command is not None:
                for option in command.params:
                    flags |= dict.fromkeys(option.opts, typed_as(option))
        return flags


def _print_completion(ctx: click.Context, _option: click.Parameter, shell: str | None) -> None:
    if shell is None or ctx.resilient_parsing:
        return
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    click.echo(kind(main, {}, "canonym", "_CANONYM_COMPLETE").source())
    ctx.exit()


@with_verbosity
@click.command(
    "canonym",
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, "-V", "--version", message="canonym %(version)s")
@click.option(
    "--completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    is_eager=True,
    expose_value=False,
    callback=_print_completion,
    help="Print the script that completes commands and options, for the file that the shell reads "
    'when it starts: eval "$(canonym --completion bash)".',
)
def main() -> None:
    """Find the concept a biomedical name stands for.

    canonym takes names ("heart attack", a column of a table, the mentions of a corpus) and finds
    their concepts in a terminology: in ICD-10-CM, which is bundled, or in any terminology file.
    Everything runs on this machine.

    \b
    Link names to ICD-10-CM, nothing to prepare:
      canonym link "heart attack" "type 2 diabetes" "broken hip"

    \b
    Fetch a public terminology, and link to it by its name:
      canonym get hpo
      canonym link --index hpo "seizures"

    \b
    Link a column of a table to another terminology:
      canonym import doid.obo -o doid.db
      canonym index doid.db -o doid-index
      canonym link --index doid-index --file visits.csv --column diagnosis -o linked.csv

    \b
    Find the names of a terminology in a text, and link them:
      canonym annotate note.txt

    \b
    Train an encoder on a terminology, in minutes, and use it:
      canonym train subword doid.db -o doid-encoder
      canonym index doid.db -o doid-index --encoder doid-encoder --overwrite

    \b
    Measure how good linking is, on an annotated corpus:
      canonym evaluate corpus.pubtator --index doid-index --html report.html

    Exit codes: 0 done; 2 the input or an option cannot be used; 1 the machine got in the way (disk,
    permission, memory); 3 some parts of a folder failed; 130 stopped with Ctrl-C; 141 the reader
    of the output has gone.
    """
