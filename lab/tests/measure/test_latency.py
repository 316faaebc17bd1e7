# SPDX-License-Identifier: BSD-2-Clause
"""Late wake-ups: the program that measures them, on this machine, and what is said of them."""

import json
import os
import resource
import subprocess
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from fake_board import FakeBoard
from teemark.base import paths
from teemark.base.errors import BoardError, UsageMistake
from teemark.cli import main as cli
from teemark.exact import record
from teemark.measure import latency
from teemark.measure.latency import Delays, Options
from teemark.page.blocks import Paragraph, Table, plain
from teemark.report import latency_page

PROGRAM = paths.built_programs("native") / latency.PROGRAM
QUICK = Options(samples=20, settle_ms=20)

needs_program = pytest.mark.skipif(not PROGRAM.is_file(), reason="make host builds it")


def privileged() -> bool:
    done = subprocess.run(["chrt", "-f", "50", "true"], capture_output=True, check=False)
    return done.returncode == 0


needs_priority = pytest.mark.skipif(not privileged(), reason="no real-time priority here")


@pytest.fixture
def here(tmp_path: Path) -> FakeBoard:
    return FakeBoard(tmp_path)


@needs_program
@pytest.mark.parametrize(
    ("words", "what"),
    [((), "usage"), (("0", "0", "9", "x", "1", "0"), "PERIOD_US"), (("0", "0", "-1"), "usage")],
)
def test_wrong_arguments_are_named(words: tuple[str, ...], what: str) -> None:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert what in done.stderr


@needs_program
def test_a_cpu_that_is_not_there_is_an_error() -> None:
    argv = [str(PROGRAM), "1023", "1023", "5", "1000", "1", "0"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "CPU 1023" in done.stderr


@needs_program
@needs_priority
def test_the_baseline_is_whole_however_low_the_limit_is(here: FakeBoard) -> None:
    options = msgspec.structs.replace(QUICK, stop_ns=1)
    base = latency.measure(here, options, "an empty loop", ())
    assert (len(base.late), base.stopped) == (QUICK.samples, False)


@needs_program
@needs_priority
def test_every_wake_up_is_late_by_something_and_the_load_ends_with_the_program(
    here: FakeBoard, tmp_path: Path
) -> None:
    mine = tmp_path / "pid"
    load = ("sh", "-c", f"echo $$ >{mine}; exec sleep 1000")
    delays = latency.measure(here, QUICK, "sleep", load)
    assert len(delays.late) == QUICK.samples
    assert min(delays.late) > 0
    assert not delays.stopped
    with pytest.raises(ProcessLookupError):
        os.kill(int(mine.read_text()), 0)


@needs_program
@needs_priority
def test_a_case_is_repeated_until_the_measurement_ends(here: FakeBoard) -> None:
    """teebench, with the options that it has, outlasts the wake-ups; the case needs no TEE."""
    (case,) = record.plan_of(["oneshot/sha256/c/64"], 1).cases[1:]
    program, *words = latency.calls(case)
    argv = (str(PROGRAM.with_name(program)), *words)
    assert len(latency.measure(here, QUICK, case.key, argv).late) == QUICK.samples


@needs_program
@needs_priority
def test_without_a_program_an_empty_loop_runs_beside_and_ends_when_it_is_told(
    here: FakeBoard,
) -> None:
    """The loop went on until it was killed, 10 s later."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert len(latency.measure(here, QUICK, latency_page.EMPTY_LOOP, ()).late) == QUICK.samples
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2


@needs_program
@needs_priority
def test_a_load_that_ends_too_early_is_no_measurement(here: FakeBoard) -> None:
    with pytest.raises(BoardError, match="status 7 after") as caught:
        latency.measure(here, QUICK, "quick", ("sh", "-c", "exit 7"))
    assert "longer" in (caught.value.hint or "")


@needs_program
@needs_priority
def test_the_first_wake_up_beyond_the_limit_stops_it(tmp_path: Path) -> None:
    argv = [str(PROGRAM), "0", "0", "500", "1000", "1", "1", "sleep", "1000"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert (answer["stopped"], len(answer["late_ns"])) == (True, 1)


BASE = Delays(latency_page.EMPTY_LOOP, (4000, 5000, 7000))


def said(*loads: Delays) -> str:
    blocks = list(latency_page.blocks((BASE, *loads), exact=True))
    return " ".join(plain(block.text) for block in blocks if isinstance(block, Paragraph))


def test_what_the_calls_add_is_the_most_beyond_the_baselines_most() -> None:
    assert "up to 57\N{NARROW NO-BREAK SPACE}000 instructions late" in said(
        Delays("calls", (5000, 57_000))
    )
    assert "the calls add 50\N{NARROW NO-BREAK SPACE}000" in said(Delays("calls", (57_000,)))
    assert "no later" in said(Delays("calls", (6000, 6500)))


def test_quantiles_are_values_that_occurred() -> None:
    blocks = list(latency_page.blocks((BASE, Delays("calls", (1, 2, 3, 400))), exact=True))
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert table.rows[1] == ("calls", "4", "2", "400", "400", "400")


def test_the_trace_names_the_call_that_was_under_way() -> None:
    events = (
        "  other-7  [000] d..1.  10.000001: optee_invoke_fn_begin: param=00000000 (3, 0, 0, 0)\n"
        "  other-7  [000] d..1.  10.000009: optee_invoke_fn_end: param=00000000 (0, 0, 0, 0)\n"
        "  my prog-42  [000] d..1.  10.000100: optee_invoke_fn_begin: param=00000000 (3, 0, 0, 0)\n"
    )
    stopped = Delays("calls", (5000, 900_000), stopped=True, events=events)
    assert stopped.culprit == "my prog (thread 42)"
    assert "wake-up beyond the limit, number 2: my prog (thread 42) was in the TEE last" in said(
        stopped
    )


@pytest.mark.parametrize("words", [(), ("--while", "invoke/none/tee/none", "--", "true")])
def test_calls_or_a_program_but_one_of_them(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["latency", *words]) == UsageMistake("").exit_status
    assert "name the calls, or one program" in capsys.readouterr().err


def test_what_was_measured_is_shown_where_a_later_load_fails(
    here: FakeBoard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(_board: object, _options: Options, load: str, _argv: object) -> Delays:
        if load.startswith("shm"):
            raise BoardError("the board is gone")
        return Delays(load, (5000, 6000))

    monkeypatch.setattr(latency, "measure", measure)
    monkeypatch.setattr("teemark.cli.latency.reached", lambda _board: nullcontext(here))
    loads = ["--while", "invoke/none/tee/none", "--while", "shm/temporary/tee/in/64"]
    assert cli.run(["latency", *loads]) == BoardError("").exit_status
    out, err = capsys.readouterr()
    assert "Beside invoke/none/tee/none a wake-up is up to 6.00" in out
    assert "the board is gone" in err


def test_delays_are_had_as_json(
    here: FakeBoard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(latency, "measure", lambda _b, _o, load, _argv: Delays(load, (5, 7)))
    monkeypatch.setattr("teemark.cli.latency.reached", lambda _board: nullcontext(here))
    assert cli.run(["latency", "--json", "--while", "invoke/none/tee/none"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["late"] for one in told["delays"]] == [[5, 7], [5, 7]]
    assert told["exact"] is False
