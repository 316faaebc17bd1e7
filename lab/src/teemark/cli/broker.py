# SPDX-License-Identifier: BSD-2-Clause
"""teemark broker demo|measure"""

from __future__ import annotations

import click

from teemark.broker import demo as scene
from teemark.broker import measure as bench
from teemark.broker.desk import Desk, Version
from teemark.cli.common import board_option, option
from teemark.cli.reach import reached


@click.group("broker")
def command() -> None:
    """MQTT-TZ: a broker whose messages are sealed anew in the TEE for each reader.

    docs/broker.md says what it is and what it costs.
    """


_mosquitto = option(
    "--mosquitto VERSION", "The broker's version.", kind=click.Choice(["2.1", "2.0"]), default="2.1"
)


@command.command("demo")
@board_option("qemu-v8", "A virtual board.")
@_mosquitto
def demo(board: str, mosquitto: Version) -> int:
    """Show a broker, three clients, and what each sees of a message.

    One client has no key. The broker's memory is searched for the plaintext, and once more with a
    broker that has the keys itself, where the search has to find it.
    """
    with reached(board) as target:
        desk = Desk(target, mosquitto)
        desk.install()
        return 0 if scene.show(desk, click.echo) else 1


@command.command("measure")
@board_option("qemu-v8-icount", "A virtual board.")
@_mosquitto
@option(
    "--clients N", "Enrol so many; from 100 on, a message for 100 of them.", default=bench.READERS
)
@option("--csv FILE", "Write all values there.", "file", kind=click.Path(dir_okay=False))
def measure(board: str, mosquitto: Version, clients: int, file: str | None) -> int:
    """Measure what a message costs the broker: plain, in the normal world, in the TEE.

    On a board that counts instructions, CPU time is instructions, exactly.
    """
    with reached(board) as target:
        desk = Desk(target, mosquitto)
        desk.install()
        rows = bench.measure(desk, click.echo, clients)
    bench.report(rows, "instructions" if target.deterministic else "ns", click.echo)
    if file is not None:
        bench.write(rows, file)
    return 0
