# SPDX-License-Identifier: BSD-2-Clause
"""One message, instruction by instruction: publisher, broker, TEE and subscribers."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from teemark.base import paths
from teemark.base.errors import UsageMistake
from teemark.boards.config import BoardFile
from teemark.boards.own_ta import ready_board
from teemark.broker import measure
from teemark.broker.mosquitto import Mosquitto, build
from teemark.exact.analyse import profile_of, sources
from teemark.exact.record import recording
from teemark.page.blocks import Table, left, right
from teemark.page.trace_table import share
from teemark.trace import store, window
from teemark.trace.profile import SCHEMA, CaseTrace, Trace, TracedSample
from teemark.trace.symbols import read_elf
from teemark.wording import fmt

_CRYPTO = re.compile(
    r"aes_.*|mode_.*|(en)?crypt(_pieces)?|tag|same_bytes|set_key|expand|sub_.*|g?hash(_block)?|"
    r"authenticate|planes|bytes_of|transpose_.*|shift_rows|mix_columns|multiply|reverse|extensions"
)
"""Matches the functions of AES-GCM in the TA: those of common/src/gcm*.c."""

_WHOSE = {"mosquitto": "broker", "on_message": "subscribers"}
_WHOSE |= dict.fromkeys(("tz_bench", "libmosquitto.so.1"), "publisher")
"""Maps a program or function to the party (broker, subscribers or publisher) whose thread runs it.
If a thread has several, the party that is last in the alphabet counts."""


def record(file: BoardFile, key: str, out: Path) -> Trace:
    """Returns the trace of a case's message, such as broker/cpu-1/tee/64, and writes it to `out`.
    The message is sent on a fresh boot, after three others."""
    ways = ((way, counts) for way in measure.WAYS if (counts := measure.numbers(key, way)))
    message = next(ways, None)
    if message is None:
        hint = "such as broker/cpu-1/tee/64: `teemark plan show broker` prints them"
        raise UsageMistake(f"{key} is no message of the plan broker", hint=hint)
    way, (readers, size, qos) = message
    with recording(file) as (board, folder):
        with ready_board(board):
            mosquitto = Mosquitto(board)
            mosquitto.install()
            measure.enrol(mosquitto, readers)
            mosquitto.start(way.options, ["persistence false"], tz=way.tz)
            measure.bench(mosquitto, way, readers, 1, size, qos, 0)
            named_by = sources(board.optee, board.capture(["cat", "/proc/kallsyms"]).text)
            mosquitto.stop()
        built = paths.build() / "broker" / "aarch64"
        files = [built / "tz_bench", built / "mqtt_tz.so"]
        home = build()
        files += home.glob("usr/sbin/mosquitto")
        files += home.glob("usr/lib/aarch64-linux-gnu/*.so.*")
        names = {path.resolve(): path.name for path in files if path.is_file()}
        elves = tuple(read_elf(path, name) for path, name in names.items())
        named_by = replace(named_by, programs=elves + named_by.programs)
        recorded = window.read(folder / "window-0")
        case = profile_of(key, recorded, (TracedSample(recorded.instructions, None),), named_by)
    trace = Trace(schema=SCHEMA, optee=board.optee.what, cases=(case,))
    out.mkdir(parents=True, exist_ok=True)
    store.write(trace, out)
    return trace


def parts(case: CaseTrace) -> Table:
    """Returns a table of the instructions of publisher, broker, subscribers and kernel, by part of
    the system. A thread of tz_bench is the subscribers' if it receives a message, else the
    publisher's."""
    roots, who = list[int](), dict[int, str]()
    counts: Counter[tuple[str, str, str]] = Counter()
    for index, node in enumerate(case.nodes):
        roots.append(roots[node.parent] if node.parent >= 0 else index)
        function = case.functions[node.function]
        if whose := _WHOSE.get(function.name) or _WHOSE.get(function.component):
            who[roots[index]] = max(whose, who.get(roots[index], ""))
    for root, node in zip(roots, case.nodes, strict=True):
        function = case.functions[node.function]
        crypto = function.level == "S-EL0" and _CRYPTO.fullmatch(function.name)
        part = f"{function.component}{': crypto' if crypto else ''}"
        counts[who.get(root, "kernel"), function.level, part] += node.self
    rows = tuple(
        (*key, fmt.count(count), share(count, case.instructions))
        for key, count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))
        if count
    )
    columns = (*left("party", "level", "part"), *right("instructions", "share"))
    return Table(columns, rows, caption="The instructions of a message by party, level and part")
