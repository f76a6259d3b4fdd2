"""The command `sicbo-hil`: one group; each command has a file, imported when asked for."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from typing import NamedTuple

import click

from harness.cli.standard_output import outlive_readers
from harness.verdicts import HarnessError

INTERRUPTED = 130
TRACEBACK_VARIABLE = "SICBO_HIL_TRACEBACK"


class LazyCommand(NamedTuple):
    """Where a command lives (`module:attribute`) and its line in `--help`."""

    target: str
    line: str


COMMANDS = {
    "rules": LazyCommand("harness.cli.rules:command", "Tables, settlement, clauses, timelines."),
    "plan": LazyCommand("harness.cli.plan:command", "Smallest sets of results to test."),
    "dice": LazyCommand("harness.cli.dice:command", "Read dice in pictures."),
    "run": LazyCommand("harness.cli.run:command", "Test tables against rule books."),
    "emulate": LazyCommand("harness.cli.emulate:emulate", "Serve an emulated bench."),
    "doctor": LazyCommand("harness.cli.doctor:command", "Check a rig part by part."),
    "calibrate": LazyCommand("harness.cli.calibrate:command", "Calibrate a rig's cameras."),
    "verify": LazyCommand("harness.cli.verify:command", "Check a run folder's seal."),
    "replay": LazyCommand("harness.cli.replay:command", "Derive a run's verdicts again."),
    "report": LazyCommand("harness.cli.report:command", "Write a report of a run."),
    "history": LazyCommand("harness.cli.history:command", "List runs over time."),
    "compare": LazyCommand("harness.cli.compare:command", "Tell what changed between two runs."),
    "shaker": LazyCommand("harness.cli.shaker:command", "Whether shaker and dice are fair."),
    "campaign": LazyCommand("harness.cli.campaign:command", "Score the harness against faults."),
    "key": LazyCommand("harness.cli.key:command", "Make a signing key."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the commands in the order of the table above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None if there is none of that name in this installation."""
        if cmd_name not in COMMANDS:
            return None
        module_name, attribute = COMMANDS[cmd_name].target.split(":")
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name != module_name:
                raise
            return None
        command = getattr(module, attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.line) for name, lazy in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sicbo-hil", prog_name="sicbo-hil")
def cli() -> None:
    """Hardware-in-the-loop tests of Sic Bo (Tai Sai) tables."""


def say_error(text: str) -> None:
    """Write an error to standard error, each of its lines marked as the program's."""
    for line in text.splitlines() or [""]:
        click.echo(f"sicbo-hil: {line}", err=True)


def main() -> None:
    """Run the command line and leave with the exit status that `interface` promises."""
    outlive_readers()
    sys.exit(_run())


def _run() -> int:
    try:
        status = cli.main(standalone_mode=False, prog_name="sicbo-hil")
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except HarnessError as error:
        say_error(str(error))
        return error.exit_status
    except (click.Abort, KeyboardInterrupt):
        say_error("interrupted")
        return INTERRUPTED
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        reason = " ".join(str(error).split()) or "no message"
        say_error(
            f"internal error: {type(error).__name__}: {reason}; nothing was concluded "
            f"(set {TRACEBACK_VARIABLE}=1 to see where)"
        )
        return HarnessError.exit_status
    return status if isinstance(status, int) else 0
