# SPDX-License-Identifier: BSD-2-Clause
"""teemark broker demo|measure"""

from datetime import UTC, datetime
from pathlib import Path

import click

from teemark.broker import demo as scene
from teemark.broker import measure as bench
from teemark.broker.mosquitto import installed
from teemark.cli.common import board_option, option, out_option, subcommand
from teemark.cli.remote import reached
from teemark.run import reader
from teemark.run.writer import directory_for


@click.group("broker")
def command() -> None:
    """MQTT-TZ: a broker whose messages are sealed anew in the TEE for each reader.

    docs/broker.md says what it is and what it costs.
    """


@subcommand("demo", command)
def demo(board: str = board_option("qemu-v8", "A virtual board.")) -> int:
    """Show a broker, three clients, and what each sees of a message.

    One client has no key. The broker's memory is searched for the plaintext, and once more with a
    broker that has the keys itself, where the search has to find it.
    """
    with reached(board) as target, installed(target) as mosquitto:
        return 0 if scene.show(mosquitto, click.echo) else 1


@subcommand("measure", command, short_help="Measure what a message costs the broker.")
def measure(
    board: str = board_option("qemu-v8-icount", "A virtual board."),
    clients: int = option(
        "--clients N", "Enrol so many; 100 and 1,000 get a message together.", default=bench.READERS
    ),
    out: Path | None = out_option("runs/TIME-BOARD-broker"),
) -> int:
    """Measure what a message costs the broker: plain, in the normal world, in the TEE.

    On a board that counts instructions, CPU time is an exact number of instructions, and this takes
    about 8 minutes of CPU time. Prints each figure as it comes, and writes a run of the plan
    `broker`, for report, compare, export and history.
    """
    from teemark.report import run_page, summary  # takes half a second

    directory = directory_for(out, board, "broker")
    started = datetime.now(UTC)
    with reached(board) as target, installed(target) as mosquitto:
        values = bench.measure(mosquitto, click.echo, clients)
        file = bench.write(target, values, started, directory)
    page = run_page.make([reader.read(file.parent)], [None])
    summary.show(page.subjects[0])
    click.echo(f"report: {run_page.write(page, file.parent)}")
    return 0
