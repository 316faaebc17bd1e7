# SPDX-License-Identifier: BSD-2-Clause
"""The command line: one table of subcommands, one place that prints errors.

To add a subcommand: a file in teemark/cli/ that defines a click command of its name, whose function
returns an exit status (None for 0), one row here, and a line or two in examples.txt. The row holds
the short help, so that `teemark --help` imports none of them.
"""

import contextlib
import importlib
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click

from teemark.base import console, paths, shutdown
from teemark.base.errors import TeemarkError, UsageMistake, meant
from teemark.version import full_version


@dataclass(frozen=True, slots=True)
class Row:
    """A subcommand. It is defined in teemark.cli by the module `module`, or else by the module of
    its own name (with _ for -)."""

    name: str
    help: str
    module: str = ""


GROUPS: dict[str, tuple[Row, ...]] = {
    "Measure": (
        Row("run", "Run a plan on a board and report."),
        Row("plan", "List the plans, or show the cases of one."),
        Row("watch", "Show a program's calls into the TEE."),
        Row("memory", "Say what TAs take of the TEE's memory."),
        Row("latency", "Say how late interrupts are beside calls."),
        Row("new-ta", "Make a Trusted Application to be measured."),
    ),
    "Read runs": (
        Row("report", "Make the reports again from a run."),
        Row("explain", "Say where the time of a call goes."),
        Row("compare", "Say what became better or worse."),
        Row("table", "Show boards beside each other, a line each."),
        Row("history", "Show many runs, and where their levels changed."),
        Row("audit", "Look for figures that can't be right."),
        Row("export", "Print a run in another tool's format."),
    ),
    "On the board that counts instructions": (
        Row("gate", "Fail where a call takes more instructions."),
        Row("trace", "Record a call instruction by instruction."),
        Row("what-if", "Compare builds of OP-TEE by traces."),
        Row("pr", "Say what a change to OP-TEE costs or saves."),
        Row("upstream", "Say which findings in OP-TEE still hold in a tree."),
        Row("releases", "Show OP-TEE version by version, and the commits behind jumps."),
    ),
    "Boards": (
        Row("board", "List the boards."),
        Row("doctor", "Say what is wrong with a board, and the remedy."),
        Row("setup", "Install the programs and TAs on a board."),
        Row("vboard", "Bring the virtual board to this machine."),
        Row("up", "Boot a virtual board and keep it up.", "remote"),
        Row("down", "Stop a virtual board that was kept up.", "remote"),
        Row("exec", "Run a command on a board.", "remote"),
        Row("shell", "Open a shell on a board.", "remote"),
        Row("push", "Copy files to a board.", "remote"),
        Row("pull", "Copy a file from a board.", "remote"),
    ),
    "MQTT-TZ": (Row("broker", "Show or measure a broker that seals in the TEE."),),
    "For other programs": (Row("schema", "Print the JSON Schema of run.ndjson."),),
}
"""The subcommands by heading, in the order of the help."""

TABLE = tuple(row for rows in GROUPS.values() for row in rows)


def examples(row: Row) -> list[str]:
    """Returns the command lines of examples.txt that show this subcommand."""
    lines = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split()[:1] == [row.name]]


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in TABLE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for row in TABLE:
            if row.name == cmd_name:
                name = row.module or row.name.replace("-", "_")
                module = vars(importlib.import_module(f"teemark.cli.{name}"))
                commands = (attr for attr in module.values() if isinstance(attr, click.Command))
                command = next(command for command in commands if command.name == cmd_name)
                typed = "\n".join(f"  teemark {line}" for line in examples(row))
                command.epilog = f"\b\nExamples:\n{typed}"
                return command
        if ctx.resilient_parsing:
            return None
        hint = f"{meant(cmd_name, (row.name for row in TABLE))}see `teemark --help`"
        raise UsageMistake(f"there is no command {cmd_name}", hint=hint)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(row.name) for row in TABLE)
        for heading, rows in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(row.name.ljust(width), row.help) for row in rows])


def _put_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"teemark {full_version()}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_put_version,
    help="Show the version and its commit.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show what ssh says, too, when it connects.")
def cli(*, verbose: bool) -> None:
    """Measure what trusted execution and hardware crypto cost on a board.

    Exit status: 0 fine, 1 a finding or a failure, 2 a mistake on the command line. `exec` and
    `shell` pass on the status of the command that ran on the board.
    """
    if verbose:
        console.say_more()


def _say(message: str, hint: str | None = None) -> None:
    """Prints an error, which may quote a board; harmful characters are removed."""
    console.say(f"teemark: error: {message}", hint)


def run(args: list[str] | None = None) -> int:
    """Run a command line; return the exit status. Only this function prints errors."""
    try:
        words = sys.argv[1:] if args is None else args  # `origin.command` repeats them
        status = cli.main(args, prog_name="teemark", standalone_mode=False, obj=words)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        context = (
            error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        )
        _say(" ".join(error.format_message().split()), f"see `{context or 'teemark'} --help`")
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 128 + signal.SIGINT
    except TeemarkError as error:
        _say(error.message, error.hint)
        return error.exit_status
    except OSError as error:
        return _unwritten(error)
    return status if isinstance(status, int) else 0


def _unwritten(error: OSError) -> int:
    # Point stdout elsewhere, so that the interpreter's last flush doesn't complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # the reader has gone
        return 128 + signal.SIGPIPE
    _say(f"can't write to {error.filename or 'standard output'}: {error.strerror}")
    return 1


def _have_streams() -> None:
    """Opens /dev/null for stdin and stderr if they are closed: otherwise the next file opened would
    get their number. If stdout is closed, prints an error and exits."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), fd)
            if fd == 1:
                _say("standard output is closed", "send it somewhere, if only to /dev/null")
                sys.exit(1)


def main() -> NoReturn:
    _have_streams()
    console.plain_streams()
    with contextlib.suppress(TeemarkError):
        console.remember(paths.build() / "took.json")
    try:
        shutdown.install()
        status = run()
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else 1
    except KeyboardInterrupt:  # a second one, while `run` handled the first
        status = 128 + signal.SIGINT
    shutdown.finish(status)
