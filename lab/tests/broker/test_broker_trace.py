# SPDX-License-Identifier: BSD-2-Clause
"""Whose an instruction of a traced message is: publisher's, broker's, subscriber's, kernel's."""

from pathlib import Path

import pytest

from teemark.boards import config
from teemark.broker.trace import parts, record
from teemark.cli import main as cli
from teemark.trace.profile import CaseTrace, Function, Node, TracedSample

FUNCTIONS = (
    Function("EL0", "tz_bench", "cost_of_one"),  # 0
    Function("EL1", "kernel", "el0t_64_sync"),  # 1
    Function("", "another process", "[mosquitto]"),  # 2
    Function("EL0", "mosquitto", "[mosquitto]", named=False),
    Function("EL0", "mqtt_tz.so", "on_in"),  # 4
    Function("S-EL0", "TA broker", "forward"),
    Function("S-EL0", "TA broker", "crypt_pieces"),  # 6
    Function("", "another process", "[tz_bench]"),
    Function("EL0", "tz_bench", "on_message"),  # 8
    Function("", "another process", "[kernel thread]"),
    Function("EL0", "libmosquitto.so.1", "mosquitto__loop"),  # 10
)


def test_threads_are_told_apart_by_what_runs_in_them() -> None:
    """Two threads of one program: the one that receives is the subscriber's, even where other code
    of the program ran in it first."""
    nodes = (
        Node(-1, 0, 10, 1),
        Node(0, 1, 20, 1),
        Node(-1, 2, 0, 1),
        Node(2, 3, 30, 1),
        Node(3, 4, 40, 1),
        Node(4, 5, 50, 1),
        Node(5, 6, 60, 2),
        Node(-1, 7, 0, 1),
        Node(7, 0, 1, 1),
        Node(7, 8, 70, 1),
        Node(8, 1, 80, 1),
        Node(-1, 9, 0, 1),
        Node(11, 1, 90, 1),
        Node(-1, 1, 3, 1),
        Node(13, 10, 4, 1),
    )
    total = sum(node.self for node in nodes)
    table = parts(CaseTrace("broker", total, (TracedSample(total, None),), FUNCTIONS, nodes))
    assert [row[:4] for row in table.rows] == [
        ("broker", "S-EL0", "TA broker: crypto", "60"),
        ("broker", "S-EL0", "TA broker", "50"),
        ("broker", "EL0", "mqtt_tz.so", "40"),
        ("broker", "EL0", "mosquitto", "30"),
        ("kernel", "EL1", "kernel", "90"),
        ("publisher", "EL1", "kernel", "23"),
        ("publisher", "EL0", "tz_bench", "10"),
        ("publisher", "EL0", "libmosquitto.so.1", "4"),
        ("subscribers", "EL1", "kernel", "80"),
        ("subscribers", "EL0", "tz_bench", "71"),
    ]
    assert sum(int(str(row[3]).replace("\u202f", "")) for row in table.rows) == total


@pytest.mark.parametrize("key", ["broker/cpu-1/here/64", "broker/latency-1/tee/64", "broker/"])
def test_a_key_that_is_no_message_is_a_mistake(
    key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["trace", key]) == 2
    assert f"{key} is no message of the plan broker" in capsys.readouterr().err


@pytest.mark.board
@pytest.mark.long(300)
@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_the_parts_of_a_real_message_are_all_of_it(tmp_path: Path) -> None:
    """Each of the four takes something, the TA's cryptography included, and nothing is left out."""
    trace = record(config.find("qemu-v8-icount"), "broker/cpu-1/tee/64", tmp_path)
    rows = parts(trace.cases[0]).rows
    assert {row[0] for row in rows} == {"broker", "kernel", "publisher", "subscribers"}
    assert ("broker", "S-EL0", "TA broker: crypto") in {row[:3] for row in rows}
    counts = [int(str(row[3]).replace("\u202f", "")) for row in rows]
    assert sum(counts) == trace.cases[0].instructions == sum(n.self for n in trace.cases[0].nodes)
