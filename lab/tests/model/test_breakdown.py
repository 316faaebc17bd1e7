# SPDX-License-Identifier: BSD-2-Clause
"""Calls with known parts, taken apart again; what a run can't tell is said, not guessed."""

import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from synthetic import MACHINE, Synthetic, run_from, run_of, scattered, unexplained
from teemark.base.errors import DataError
from teemark.cli.explain import command
from teemark.findings.subject import subjects
from teemark.model import models
from teemark.model.breakdown import Breakdown, Name, Part, breakdowns, shown
from teemark.model.legs import CaseLegs
from teemark.model.stats import Sampling, exactly
from teemark.page import bars, terminal
from teemark.page.blocks import Bar, Column, Table, plain
from teemark.report import run_page
from teemark.report.sections.breakdown import parts_of
from teemark.run.reader import RunData
from teemark.wording import fmt

CLIENT, SWITCH, ENTRY, REFERENCE, PAGE = 3_000.0, 27_000.0, 26_000.0, 9_000.0, 190.0
SETUP, BLOCK, EVENT = 8_000.0, 3_800.0, 1_400.0
SIZES = (0, 64, 4096, 65536, 1048576)
DIRECT, REFUSED = "invoke/direct/tee/none", "invoke/refused/tee/none"
EMPTY = "invoke/none/tee/none"
LIBRARY = 500.0
CALL = CLIENT + SWITCH + ENTRY


def carried(size: int) -> float:
    return REFERENCE + PAGE * -(-size // 4096)


def blocks(size: int) -> int:
    return -(-(size + 9) // 64)


def digest(size: int, repeat: int = 1) -> float:
    return CALL + carried(size) + carried(64) + repeat * (SETUP + blocks(size) * BLOCK)


def truth() -> dict[str, dict[int, float]]:
    """The times by case, then by repetitions."""
    found = {EMPTY: {1: CALL}, DIRECT: {1: CALL - LIBRARY}}
    found[REFUSED] = {1: CLIENT - LIBRARY + SWITCH}
    found |= {f"shm/allocated/tee/in/{n}": {1: CALL + carried(n)} for n in SIZES[1:]}
    found |= {f"oneshot/sha256/tee/{n}": {r: digest(n, r) for r in (1, 2, 4)} for n in SIZES}
    pieces = 16 * (CALL + carried(65536)) + carried(64)
    found["stream/sha256/tee/1048576/65536"] = {1: CALL + pieces + SETUP + blocks(1048576) * BLOCK}
    return found


def run_with(
    cases: Mapping[str, Mapping[int, float]],
    *,
    spread: float = 0.0,
    icount: bool | None = None,
    runq: int | None = 0,
    legs: Mapping[str, Sequence[Sequence[tuple[float, float, int]]]] | None = None,
    seed: int = 1,
) -> RunData:
    """A run of these cases; of `legs` each case has traced calls."""
    machine = deepcopy(MACHINE)
    if legs is not None:
        machine |= {"settings": {"trace_events": True}}
    counts = not spread if icount is None else icount
    records: list[dict[str, object]] = [Synthetic(identical=counts).records()[0], machine]
    samples: list[dict[str, object]] = []
    for key, times in cases.items():
        workload, algorithm, backend, parameters = key.split("/", 3)
        size = next((word for word in parameters.split("/") if word.isdigit()), None)
        records.append(
            {"type": "case", "case": key, "workload": workload, "algorithm": algorithm}
            | {"backend": backend, "parameters": parameters, "verified": True, "samples": 12}
            | {"bytes": int(size) if size else None, "repeat": list(times)}
            | {"loops": [1] * len(times)}
        )
        for repeat, ns in times.items():
            found = scattered(ns, spread, 12, seed) if spread else [ns] * 12
            samples += [
                {"type": "sample", "case": key, "seq": len(samples) + i, "repeat": repeat}
                | {"loops": 1, "ns": round(one) + (runq or 0), "source": "client-clock"}
                | {"runq_ns": runq}
                for i, one in enumerate(found)
            ]
    records += samples
    for key, calls in (legs or {}).items():
        for seq, ways in enumerate(calls):
            client = CLIENT - LIBRARY if key == REFUSED else CLIENT
            waits = (runq or 0) if len(ways) == 1 else 0  # That of an RPC is between its legs
            took = ways[-1][1] - ways[0][0] + client + EVENT / 2 + waits
            records.append(
                {"type": "legs", "case": key, "seq": seq, "repeat": 1, "ns": round(took)}
                | {"legs": [[round(a), round(b), ret] for a, b, ret in ways]}
                | {"resolution_ns": 1, "source": "tracepoints"}
            )
    records.append({"type": "end", "complete": True, "reason": "done"})
    return run_from(records)


def apart(run: RunData) -> dict[str, Breakdown]:
    return {one.key: one for one in breakdowns(run, models.build(run))}


def values(one: Breakdown) -> dict[str, float | None]:
    return {part.name: part.value.value if part.value else None for part in one.parts}


def way(dwell: float) -> tuple[float, float, int]:
    return (0.0, dwell + EVENT / 2, 0)


TRACED = {REFUSED: [[way(SWITCH)]] * 8, EMPTY: [[way(SWITCH + ENTRY)]] * 8}


def test_every_part_of_a_digest_is_found_again() -> None:
    one = apart(run_with(truth(), legs=TRACED))["oneshot/sha256/tee/1048576"]
    expected = {
        "client": CLIENT,
        "switch": SWITCH,
        "ta-entry": ENTRY,
        "mapping": carried(1048576) + carried(64),
        "setup": SETUP,
        "compute": blocks(1048576) * BLOCK,
        "run-queue": 0.0,
        "unexplained": 0.0,
    }
    found = values(one)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=200), name


def test_a_stream_pays_the_way_for_every_piece() -> None:
    found = values(apart(run_with(truth(), legs=TRACED))["stream/sha256/tee/1048576/65536"])
    assert found["ta-entry"] == pytest.approx(17 * ENTRY)
    assert found["mapping"] == pytest.approx(16 * carried(65536) + carried(64))
    assert found["unexplained"] == pytest.approx(0.0, abs=200)


def test_a_part_that_is_paid_many_times_says_how_often() -> None:
    """“invoke/direct less invoke/refused” is 45,226; beside it stood 768,842."""
    found = apart(run_with(truth(), legs=TRACED))
    for name in ("client", "switch", "ta-entry"):
        many, once = found["stream/sha256/tee/1048576/65536"].part(name), found[EMPTY].part(name)
        assert many is not None
        assert once is not None
        assert many.source == f"{once.source} (17 times)"
    mapping = found["stream/sha256/tee/1048576/65536"].part("mapping")
    assert mapping is not None
    assert "65536 (16 times) and " in (mapping.source or "")


def test_a_question_to_the_core_is_no_call_to_take_apart() -> None:
    """Older runs have one: it is shorter than what a call to a TA begins with."""
    found = apart(run_with(truth() | {"invoke/core/tee/none": {1: CLIENT}}))
    assert EMPTY in found
    assert not {"invoke/core/tee/none", DIRECT, REFUSED} & set(found)


def test_without_tracepoints_client_and_switch_are_known_together() -> None:
    one = apart(run_with(truth()))[EMPTY]
    found = values(one)
    assert (found["client"], found["switch"]) == (None, None)
    assert found["client-switch"] == pytest.approx(CLIENT + SWITCH)
    part = one.part("client")
    assert part is not None
    assert part.reason == "the run was made without --trace-events"
    assert part.measure == "run with --trace-events"


def test_without_the_refused_call_an_empty_call_is_one_part() -> None:
    cases = {key: times for key, times in truth().items() if key != REFUSED}
    one = apart(run_with(cases))[EMPTY]
    part = one.part("client-switch-entry")
    assert part is not None
    assert part.covers == ("client", "switch", "ta-entry")
    assert part.value is not None
    assert part.value.value == CALL
    assert values(one)["ta-entry"] is None


def test_what_isnt_measured_stays_unexplained() -> None:
    cases = {key: times for key, times in truth().items() if not key.startswith("shm")}
    one = apart(run_with(cases))["oneshot/sha256/tee/65536"]
    assert values(one)["mapping"] is None
    assert unexplained(one).value == pytest.approx(carried(65536) + carried(64), abs=1)


def test_an_operation_of_another_form_is_not_split() -> None:
    """Each block dearer than the one before: only the sum of set-up and blocks is known."""

    def grows(size: int, repeat: int) -> float:
        work: float = SETUP + BLOCK * blocks(size) ** 1.3
        return CALL + carried(size) + carried(64) + repeat * work

    cases = truth() | {
        f"oneshot/sha256/tee/{n}": {r: grows(n, r) for r in (1, 2, 4)} for n in SIZES
    }
    one = apart(run_with(cases))["oneshot/sha256/tee/65536"]
    setup, compute = one.part("setup"), one.part("compute")
    assert setup is not None
    assert compute is not None
    assert setup.value is None
    assert "no sum of a set-up and blocks describes it" in (setup.reason or "")
    assert compute.covers == ("setup",)
    assert compute.value is not None
    assert compute.value.value == pytest.approx(SETUP + BLOCK * blocks(65536) ** 1.3)
    stream = apart(run_with(cases))["stream/sha256/tee/1048576/65536"]
    assert values(stream)["setup"] is None


def test_buffers_of_another_form_have_no_model() -> None:
    """Sizes that weren't measured are told by a model of those that were, if that fits."""
    cases = {key: times for key, times in truth().items() if key != "shm/allocated/tee/in/65536"}
    found = apart(run_with(cases))["oneshot/sha256/tee/65536"]
    assert values(found)["mapping"] == pytest.approx(carried(65536) + carried(64), rel=0.02)
    for n, wild in ((64, 9_000), (4096, 400_000), (1048576, 60_000)):
        cases[f"shm/allocated/tee/in/{n}"] = {1: CALL + wild}
    cases["shm/allocated/tee/in/16384"] = {1: CALL + 5_000}
    assert values(apart(run_with(cases))["oneshot/sha256/tee/65536"])["mapping"] is None


def test_no_clock_of_the_work_no_guess() -> None:
    cases = {EMPTY: {1: CALL}, "oneshot/sha256/tee/65536": {1: digest(65536)}}
    one = apart(run_with(cases))["oneshot/sha256/tee/65536"]
    assert values(one)["compute"] is None
    compute = one.part("compute")
    assert compute is not None
    assert "repeat=1,2,4" in (compute.measure or "")


def test_waiting_for_a_cpu_is_a_part_of_its_own() -> None:
    one = apart(run_with(truth(), runq=50_000))["oneshot/sha256/tee/65536"]
    found = values(one)
    assert found["run-queue"] == pytest.approx(50_000)
    assert found["client-switch"] == pytest.approx(CLIENT + SWITCH)
    assert found["compute"] == pytest.approx(blocks(65536) * BLOCK, rel=1e-6)
    assert unexplained(one).value == pytest.approx(0.0, abs=1)


def test_a_kernel_that_doesnt_tell_the_wait() -> None:
    one = apart(run_with(truth(), runq=None))[EMPTY]
    part = one.part("run-queue")
    assert part is not None
    assert part.value is None
    assert "schedstat" in (part.reason or "")


def test_rpcs_are_the_time_between_legs() -> None:
    """20 µs of service after each of two RPCs; an interrupt's leg isn't one of them."""
    rpc, interrupt = 0xFFFF0005, 0xFFFF0004
    calls = [
        [
            (0, 50_000, rpc),
            (70_000, 90_000, interrupt),
            (91_000, 99_000, rpc),
            (119_000, 200_000, 0),
        ]
    ] * 8
    cases = {EMPTY: {1: CALL}, "storage/read/tee-ree-fs/4096": {1: 205_000.0}}
    one = apart(run_with(cases, legs={"storage/read/tee-ree-fs/4096": calls}))[
        "storage/read/tee-ree-fs/4096"
    ]
    assert values(one)["rpcs"] == pytest.approx(40_000)
    part = one.part("rpcs")
    assert part is not None
    assert part.source == "tracepoints: 2 RPCs a call"


@pytest.mark.parametrize("wait", [0, 6_000])
def test_an_rpc_of_the_empty_call_is_counted_once(wait: int) -> None:
    """Its time stood in `client` and in `rpcs`: the rest was as much below zero. The wait for a CPU
    is in the RPC."""
    served, dwell = 9_000.0, SWITCH + ENTRY
    asks = [
        (0.0, 20_000.0 + EVENT / 2, 0xFFFF0005),
        (20_000.0 + served + EVENT, dwell + served + 1.5 * EVENT, 0),
    ]
    cases = truth() | {EMPTY: {1: CALL + served - wait}}
    run = run_with(cases, runq=wait, legs=TRACED | {EMPTY: [asks] * 8})
    found = values(apart(run)[EMPTY])
    assert found["client"] == pytest.approx(CLIENT)
    assert found["switch"] == pytest.approx(SWITCH)
    assert found["rpcs"] == pytest.approx(served)
    assert found["unexplained"] == pytest.approx(0.0, abs=1)


def test_a_wait_in_a_call_that_asks_back_is_in_its_rpcs() -> None:
    """The process waits while tee-supplicant has the CPU: that is the RPC, counted once."""
    key = "storage/read/tee-ree-fs/4096"
    calls = [[(0, 50_000, 0xFFFF0005), (120_000, 200_000, 0)]] * 8
    cases = {EMPTY: {1: CALL}, key: {1: 205_000.0}}
    one = apart(run_with(cases, runq=60_000, legs={key: calls}))[key]
    assert values(one)["rpcs"] == pytest.approx(70_000)
    assert one.part("run-queue") is None
    part = one.part("rpcs")
    assert part is not None
    assert part.covers == ("run-queue",)


def test_one_size_with_a_slope_or_a_counter_is_explained() -> None:
    """A report's figure of an operation takes part in the table of the call's parts."""
    key = "oneshot/sha256/tee/1048576"
    keep = {key: times for key, times in truth().items() if "oneshot" not in key}
    one = apart(run_with(keep | {key: truth()[key]}))[key]
    compute = one.part("compute")
    assert compute is not None
    assert compute.value is not None
    assert compute.value.value == pytest.approx(SETUP + BLOCK * blocks(1048576))
    assert compute.source == "slope over repetitions"
    assert compute.covers == ("setup",)
    assert abs(unexplained(one).value) < 0.01 * one.total.value


def test_nothing_is_left_by_construction_and_the_table_says_so() -> None:
    found = apart(run_with(truth()))
    for key, says in ((EMPTY, True), ("oneshot/sha256/tee/65536", False)):
        assert ("by construction" in (found[key].parts[-1].source or "")) is says


def test_a_set_up_that_two_sizes_tell_has_no_interval() -> None:
    """A line goes through two points whatever they are: how far it is off nobody knows."""
    cases = {
        key: times
        for key, times in truth().items()
        if not key.startswith("oneshot") or key.endswith(("/0", "/1048576"))
    }
    setup = apart(run_with(cases))["oneshot/sha256/tee/1048576"].part("setup")
    assert setup is not None
    assert setup.value is not None
    assert setup.value.value == pytest.approx(SETUP, rel=0.1)
    assert setup.value.interval is None


def test_sources_that_disagree_are_a_finding_and_not_averaged() -> None:
    slow = {REFUSED: TRACED[REFUSED], EMPTY: [[way(1.3 * (SWITCH + ENTRY))]] * 8}
    one = apart(run_with(truth(), legs=slow))[EMPTY]
    (check,) = one.checks
    assert check.answer == "no"
    assert check.one.value == pytest.approx(SWITCH + ENTRY, rel=0.02)
    assert [check.answer for check in apart(run_with(truth(), legs=TRACED))[EMPTY].checks] == [
        "yes"
    ]


def test_a_way_that_is_known_in_part_is_held_against_nothing() -> None:
    """The TA's counter tells it with the buffers, whose mapping nothing tells here."""
    key = "oneshot/sha256/tee/1048576"
    run = run_from(Synthetic(identical=True, counter=1.0).records())
    checks = {check.what: check for check in apart(run)[key].checks}
    assert "the way in and out" not in checks
    empty = models.build(run).case(EMPTY)
    assert empty is not None
    buffers = {f"shm/allocated/tee/in/{n}": [empty.time.median] * 9 for n in (64, 1048576)}
    whole = replace(run, cases={**run.cases, **run_of(buffers, icount=True).cases})
    checks = {check.what: check for check in apart(whole)[key].checks}
    assert checks["the way in and out"].one.value == pytest.approx(empty.time.median)


def test_scatter_makes_intervals() -> None:
    one = apart(run_with(truth(), spread=0.02))["oneshot/sha256/tee/1048576"]
    for name in ("mapping", "setup", "compute", "unexplained"):
        part = one.part(name)
        assert part is not None
        assert part.value is not None
        assert part.value.interval is not None
        assert part.value.interval.width > 0
    interval = unexplained(one).interval
    assert interval is not None
    assert 0.0 in interval


def test_one_of_each_kind_is_shown() -> None:
    keys = [one.key for one in shown(tuple(apart(run_with(truth())).values()))]
    assert keys == [EMPTY, "oneshot/sha256/tee/1048576", "stream/sha256/tee/1048576/65536"]


def test_legs_need_their_case() -> None:
    with pytest.raises(DataError, match="legs of oneshot/x/tee/1"):
        run_with({EMPTY: {1: CALL}}, legs={"oneshot/x/tee/1": [[way(1.0)]]})


# -- the command and the report -------------------------------------------------------------------


def test_explain_prints_parts_and_json(tmp_path: Path) -> None:
    file = Synthetic(identical=True, counter=1.0).write(tmp_path)
    done = CliRunner().invoke(command, [str(file)], standalone_mode=False)
    assert done.exception is None
    assert "unexplained" not in done.output  # nothing under half a per cent is drawn
    assert "oneshot/sha256/tee/1048576" in done.output
    assert len(done.output.splitlines()) <= 40
    key = "oneshot/sha256/tee/4096"
    done = CliRunner().invoke(command, [str(file), "--case", key], standalone_mode=False)
    assert "unexplained" in done.output
    done = CliRunner().invoke(command, [str(file), "--json"], standalone_mode=False)
    said = json.loads(done.output)
    one = next(b for b in said["breakdowns"] if b["case"] == "oneshot/sha256/tee/4096")
    parts = {part["name"]: part for part in one["parts"]}
    assert parts["unexplained"]["value"] is not None
    assert parts["client"]["value"] is None
    assert parts["client"]["reason"]
    assert parts["client"]["measure"]
    known = sum(part["value"] for part in one["parts"] if part["value"] is not None)
    assert known == pytest.approx(one["total"]["value"])
    assert any(finding["key"] == "empty-call" for finding in said["findings"])


def test_a_case_that_isnt_there_is_a_wrong_word(tmp_path: Path) -> None:
    file = Synthetic(identical=True, counter=1.0).write(tmp_path)
    done = CliRunner().invoke(command, [str(file), "--case", "no/such/case/1"])
    assert done.exit_code == 2
    assert "can't be taken apart" in done.output


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_figure_of_a_table_is_cut(width: int) -> None:
    count = f"26{fmt.THIN}704{fmt.THIN}740"
    figures = (count, f"{count}{fmt.TO}{count}")
    cells = ("client library and driver", *figures, f"{fmt.MINUS}0.031{fmt.THIN}%")
    heads = ("takes", "95 %", "share")
    source = "invoke/direct/tee/none less invoke/refused/tee/none, and what else there is of it"
    table = Table(
        (Column("part", "left"), *map(Column, heads), Column("known from", "left")),
        ((*cells, source), ("unexplained", "0", "exact", "0", "")),
    )
    out = StringIO()
    terminal.show(Console(file=out, width=width), [table])
    shown = out.getvalue()
    assert all(len(line) <= width for line in shown.splitlines()), shown
    for cell in (*cells[1:], "known from"):
        assert cell in shown.replace("\n    ", " "), shown
    letters = re.sub(r"\s", "", shown)
    assert all(word in letters for word in source.split()) or width in (80, 100)


def test_a_call_that_waits_is_a_time_on_the_exact_board_too() -> None:
    """Its parts, the whole, and the heading over them are of one unit."""
    run = run_with(truth(), spread=0.1, icount=True)
    (subject,) = subjects([run])
    table = parts_of(subject, apart(run)[EMPTY])[0]
    assert isinstance(table, Table)
    assert table.columns[1].unit == "ns"
    *parts, (_, whole, interval, *_) = table.rows
    for cell in (whole, interval, *(part[1] for part in parts)):
        assert not isinstance(cell, Bar)
        text = cell if isinstance(cell, str) else plain(cell)
        number = rf"{fmt.MINUS}?[\d{fmt.THIN}.]+"
        assert re.fullmatch(f"{number}({fmt.TO}{number})?", text), text
    steady = run_with(truth())
    counted = parts_of(subjects([steady])[0], apart(steady)[EMPTY])[0]
    assert isinstance(counted, Table)
    assert counted.columns[1].unit == "instructions"


def test_a_bar_is_no_longer_than_its_room() -> None:
    """Each part has a cell, and the small ones' are taken from the large one."""
    names: tuple[Name, ...] = ("client", "switch", "ta-entry", "mapping", "setup", "rpcs")
    parts = [Part(name, exactly(1.0)) for name in names]
    one = replace(apart(run_with(truth()))[EMPTY], parts=(Part("compute", exactly(1e6)), *parts))
    for cells in (7, 10, 36, 56, 76):
        made = [blocks for _, blocks in bars.line(one, cells)]
        assert len(made) == len(parts) + 1
        assert sum(map(len, made)) == cells
    assert sum(len(blocks) for _, blocks in bars.line(one, 3)) == 3


def test_the_report_has_a_bar_and_a_table() -> None:
    made = run_page.make([run_with(truth(), legs=TRACED)])
    assert "Where the time of a call goes" in made.html
    assert re.search(r"<rect[^>]*var\(--c-5\)", made.html)
    assert "client library and driver" in made.markdown


def test_a_drawn_call_names_its_parts_and_leaves_out_what_nobody_sees() -> None:
    """Shares stand beside the names; a part below half a percent isn't drawn. Every call has its
    bar: one without looks like a mistake beside the others."""
    parts = (Part("client", exactly(20.0)), Part("compute", exactly(79.6)))
    base = apart(run_with(truth()))[EMPTY]
    one = replace(base, parts=(*parts, Part("rpcs", exactly(0.4))))
    whole = replace(base, parts=(Part("compute", exactly(999.0)), Part("rpcs", exactly(1.0))))
    for width in (bars.WIDE, bars.NARROW):
        svg = bars.render([("one", "100 ns", one), ("whole", "1 us", whole)], width)
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg.replace(fmt.THIN, " "))
        named = ["client library and driver 20 %", "compute 80 %"]
        assert texts == ["one", "100 ns", *named, "whole", "1 us", "compute 100 %"]
        wide = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"[^>]*paper', svg)]
        shares = (0.2, 0.796, 0.999)
        assert wide == [pytest.approx(share * width, abs=0.1) for share in shares]
        assert 'role="img" aria-label="one: 100 ns; whole: 1 us"' in svg


def test_events_are_those_of_a_call_and_of_a_leg() -> None:
    ways = (((0, 10, 0), (20, 40, 0)), ((0, 10, 0),))
    one = CaseLegs("k", (1000, 1200), ways, 0.0, Sampling())
    assert one.legs == 1.5
    assert one.event(exactly(800.0)).value == pytest.approx(200.0)
