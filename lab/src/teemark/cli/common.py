# SPDX-License-Identifier: BSD-2-Clause
"""Options and arguments that several subcommands have."""

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from teemark.base.console import json_text, plain, terminal
from teemark.base.errors import UsageMistake
from teemark.base.files import write_whole
from teemark.wording import fmt

if TYPE_CHECKING:
    from teemark.boards.own_ta import OwnTa
    from teemark.model.compare import Limit
    from teemark.page.blocks import Block
    from teemark.plan.file import Plan

PATH = click.Path(path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
TREE = click.Path(exists=True, file_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


def _boards(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from teemark.boards import config

    return [name for name in config.available() if name.startswith(incomplete)]


def _plans(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from teemark.plan.file import plan_names

    return [name for name in plan_names() if name.startswith(incomplete)]


_COMPLETED = {"--board": _boards, "--plan": _plans}
"""Options whose values a shell completes, with the functions that list these values."""


def subcommand(
    name: str, under: click.Group | None = None, *, fields_of: type | None = None, **more: Any
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Makes a function a command, of the group `under` if given. The defaults of the function's
    parameters, or of the fields of the data class `fields_of`, are what `option` and `argument`
    return."""

    def decorate(function: Any) -> click.Command:
        declared = inspect.signature(fields_of or function).parameters
        for parameter, made_by in reversed([(p.name, p.default) for p in declared.values()]):
            function = made_by(parameter)(function)
        group: Any = under if under is not None else click
        whole: click.Command = group.command(name, **more)(function)
        return whole

    return decorate


def argument(metavar: str | None = None, **more: Any) -> Any:
    """Returns the declaration of an argument; `metavar` is its name in the help."""
    return lambda name: click.argument(name, metavar=metavar, **more)


def _once(_ctx: click.Context, param: click.Parameter, values: Sequence[Any]) -> Any:
    """Returns an option's only value, or None; two would leave it open which one counts."""
    if len(values) > 1:
        named = " and ".join(map(str, values))
        raise UsageMistake(
            f"{param.opts[-1]} is there {len(values)} times: {named}",
            hint="name one, and give the command once more for the other",
        )
    return values[0] if values else None


def option(
    words: str,
    help: str,  # noqa: A002
    *,
    kind: click.ParamType[Any] | None = None,
    default: Any = None,
    **more: Any,
) -> Any:
    """Returns the declaration of an option from its words in the help, "-o --out DIR". An option
    without a value is a flag; one with a value may be there once. An N is a number of at least 1, a
    RUN is a path."""
    flags = [word for word in words.split() if word.startswith("-")]
    metavar = next((word for word in words.split() if not word.startswith("-")), None)
    if metavar is None:
        return lambda name: click.option(*flags, name, is_flag=True, help=help)
    if not more.get("multiple"):
        default = None if default is None else (default,)
        more |= {"multiple": True, "callback": _once}
    if default is not None:  # None would count as a value, also of a required option
        more |= {"default": default, "show_default": bool(default[0])}
    kind = kind or {"N": click.IntRange(1), "RUN": PATH}.get(metavar)
    more |= {"metavar": metavar, "type": kind, "shell_complete": _COMPLETED.get(flags[-1])}
    return lambda name: click.option(*flags, name, help=help, **more)


def several(words: str, help: str, **more: Any) -> Any:  # noqa: A002
    """Returns an option that may be repeated; its value is a tuple."""
    return option(words, f"{help} May be repeated.", multiple=True, **more)


def board_option(default: str | None, help: str) -> Any:  # noqa: A002
    return option("--board NAME", help, default=default)


def out_option(default: str) -> Any:
    """Returns -o and --out, for a command that makes a folder of its own."""
    return option("-o --out DIR", f"Folder of the run. [default: {default}]", kind=PATH)


def form_option(*more: str) -> Any:
    """Returns -f and --json, for a command with several formats."""
    choice = click.Choice(("text", "json", *more))

    def both(name: str) -> Callable[[Any], Any]:
        form = click.option("-f", "--format", name, type=choice, default="text")
        return lambda function: form(
            click.option("--json", name, flag_value="json", help="As --format json.")(function)
        )

    return both


LATEST = Path("runs/latest")
"""The link to the newest whole run in the folder where the commands are given."""


def latest_run() -> Path:
    """Returns the newest whole run of this folder; raises UsageMistake if there is none."""
    if not LATEST.exists():
        raise UsageMistake(
            f"no RUN is named, and there is no {LATEST} here",
            hint="name a run's folder, or make a run: `teemark run --plan quick`",
        )
    return LATEST


run_argument = argument(
    "[RUN]", required=False, type=PATH, callback=lambda _ctx, _param, value: value or latest_run()
)
runs_argument = argument(
    "[RUN]...", nargs=-1, type=PATH, callback=lambda _ctx, _param, value: value or (latest_run(),)
)
board_argument = argument(shell_complete=_COMPLETED["--board"])
plan_argument = argument(shell_complete=_COMPLETED["--plan"])
exact_board_option = board_option("qemu-v8-icount", "One that counts instructions.")
all_option = option("--all", "List every case.")
output_option = option("-o --output FILE", "Write to this file instead of stdout.", kind=OUTPUT)
optee_option = option(
    "--optee WHICH",
    "`debian` or `source`; or the folder of OP-TEE's source or of a build. [default: the board's]",
)
patch_option = several("--patch FILE", "Build OP-TEE's source with this patch.", kind=FILE)
only_option = several("--only PATTERN", "Only the plan's cases that match: 'oneshot/*/tee/*'.")
push_option = several(
    "--push FILE", "Put this program, library or TA on the board meanwhile.", kind=FILE
)
names_option = several(
    "--names FILE", "A TA's header, or a names.toml: names of TAs and commands.", kind=FILE
)
ta_option = option(
    "--ta DIR",
    "A Trusted Application of your own: its folder, or its signed UUID.ta (docs/own-ta.md).",
    kind=PATH,
)


class WithProgram(click.Command):
    """A command that runs a program: the words after `--` are stored as `program` in ctx.meta."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["program"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


def load(ta_path: Path | None, plan_word: str | None) -> "tuple[OwnTa | None, Plan]":
    """Returns the TA and the plan of a command line; the default plan is the TA's own."""
    from teemark.boards import own_ta
    from teemark.plan.file import BENCH, load_plan

    if ta_path is None:
        if plan_word is None:
            raise UsageMistake("no plan", hint="name one by --plan")
        return None, load_plan(plan_word)
    ta = own_ta.find(ta_path)
    beside = ta_path if ta_path.is_dir() else ta_path.parent
    if plan_word is None and not (beside / BENCH).is_file():
        raise UsageMistake(
            f"{ta_path} has no {BENCH}", hint="write one (docs/own-ta.md), or name a --plan"
        )
    plan = load_plan(plan_word or str(beside / BENCH))
    if plan.ta is None:
        raise UsageMistake(
            f"plan {plan.name} calls no Trusted Application of yours",
            hint="it needs [ta] and [[call]]: docs/own-ta.md",
        )
    return ta, plan


def parse_limit(text: str, option_name: str = "--fail-on") -> "Limit":
    """Reads the limit of the option `option_name`, such as `5%` or `1000i` (instructions); raises
    UsageMistake for other text."""
    from teemark.model.compare import Limit

    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%|i)", text.strip())
    if match is None:
        raise UsageMistake(
            f"{option_name} {text} is no limit", hint="a share such as 5%, or instructions: 1000i"
        )
    number = float(match[1])
    return Limit(share=number / 100) if match[2] == "%" else Limit(instructions=number)


def kept(done: int, planned: int, what: str, folder: Path) -> str:
    """Says what a command keeps that a signal ended, and how it goes on."""
    return (
        f"teemark: ended early: {done} of {fmt.plural(planned, what)} in {folder}, and what was "
        f"built, are kept; the same command with `--out {folder}` goes on from there"
    )


def put(text: str, output: Path | None) -> None:
    """Writes text to the file, whole or not at all; without a file, to stdout."""
    if output is not None:
        write_whole(output, text)
    else:
        click.echo(text, nl=False)


def put_json(data: object) -> None:
    click.echo(json_text(data), nl=False)


def picked(thing: object, *names: str) -> dict[str, Any]:
    """Returns the named attributes of an object, for JSON."""
    return {name: getattr(thing, name) for name in names}


def put_blocks(
    form: str,
    output: Path | None,
    blocks: "Callable[[], Sequence[Block]]",
    data: Callable[[], object],
) -> None:
    """Writes the blocks as text or Markdown, or the data as JSON, according to `form`."""
    from teemark.page import markdown
    from teemark.page.terminal import show

    if form == "json":
        put(json_text(data()), output)
    elif form == "markdown":
        put("\n\n".join(markdown.block(block, 1) for block in blocks()) + "\n", output)
    else:
        console = terminal(plain=output is not None)
        with console.capture() as text:
            show(console, blocks())
        put(plain(text.get()) if output is not None else text.get(), output)
