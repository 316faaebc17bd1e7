# SPDX-License-Identifier: BSD-2-Clause
"""A history finds where a level changed, and nothing where none did."""

import dataclasses
import os
import random
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from synthetic import TRUTH, Synthetic, lines_of, run_of, scattered, write
from teemark.cli import main as cli
from teemark.model.compare import EMULATED
from teemark.model.history import FEWEST, by_chance, exact_changes, lines, sampled_changes
from teemark.run import listing
from teemark.wording import fmt

EXACT = Synthetic(noise=0, identical=True, samples=5, algorithms=("sha256",))
READ = "storage/read/tee-ree-fs/4096"
DEARER = {**TRUTH, ("sha256", "ta-c"): (407_000, 16.3)}


def put(folder: Path, made: list[Synthetic], **head: object) -> None:
    for number, one in enumerate(made):
        records = one.records()
        records[0] |= {"started": f"2026-01-{number + 1:02}T00:00:00Z", **head}
        write(records, folder / f"run-{len(made) - number}")  # the names say nothing


def test_exact_levels() -> None:
    assert exact_changes([1000, 1000.5, 1000, 1002, 1002, 900], [1] * 6) == (3, 5)
    assert exact_changes([1000, 1000], [1] * 2) == ()
    assert exact_changes([1000, 1014, 986, 1016], [15] * 4) == (3,)


def test_a_boot_that_the_next_one_takes_back_is_no_level() -> None:
    assert exact_changes([1000, 1136, 1000, 1000], [1] * 4) == ()
    assert exact_changes([1000, 1136, 1136, 1000], [1] * 4) == (1, 3)


def test_levels_of_the_kernels_crypto_are_wider() -> None:
    """`lines` says it: 1 % more is a level of its own, but not of AF_ALG."""
    moved = {key: (call * 1.01, byte * 1.01) for key, (call, byte) in TRUTH.items()}
    found = lines([EXACT.run(), dataclasses.replace(EXACT, truth=moved).run()])
    changed = {one.case: one.changes for one in found if one.case.startswith("oneshot/")}
    assert changed["oneshot/sha256/afalg/65536"] == ()
    assert changed["oneshot/sha256/ta-c/65536"] == (1,)


def test_what_waits_for_a_disk_begins_no_level() -> None:
    """On the board that counts instructions; and no longer than it waits."""
    quiet, waiting = [1e6] * 9, scattered(1.1e6, 0.1, 9)
    runs = [run_of({READ: times}, icount=True) for times in (quiet, quiet, waiting, quiet)]
    (line,) = lines(runs)
    assert (line.changes, line.scattered) == ((), True)
    (line,) = lines([*runs, run_of({READ: [1.01e6] * 9}, icount=True)])
    assert line.changes == (4,)
    (line,) = lines([run_of({READ: waiting}, icount=True)] * 2)
    assert (line.changes, line.scattered) == ((), True)


def test_an_emulators_clock_shows_no_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`compare` decides nothing there, either; on hardware the same runs have two levels."""
    sampled = Synthetic(algorithms=("sha256",), samples=5, noise=0.001)
    slower = {key: (1.5 * call, 1.5 * byte) for key, (call, byte) in TRUTH.items()}
    made = [dataclasses.replace(sampled, seed=seed) for seed in range(12)]
    made[6:] = [dataclasses.replace(one, truth=slower) for one in made[6:]]
    for emulated in (True, False):
        folder = tmp_path / str(emulated)
        put(folder, made, emulated=emulated)
        assert cli.run(["history", str(folder)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert ("0 of 44 cases changed." in shown) == emulated
        assert (f"No level is said to change: {EMULATED}." in shown) == emulated


def test_sampled_levels() -> None:
    rng = random.Random(1)
    quiet = [1e6 * rng.gauss(1, 0.01) for _ in range(30)]
    assert sampled_changes(quiet) == ()
    moved = [value * (1.05 if place >= 18 else 1) for place, value in enumerate(quiet)]
    assert sampled_changes(moved) == (18,)
    assert sampled_changes(moved[18 - FEWEST + 2 : 19]) == ()  # too few


@pytest.mark.parametrize(("count", "least", "most"), [(FEWEST, 0.015, 0.055), (20, 0.0, 0.03)])
def test_a_level_by_chance_is_rare(count: int, least: float, most: float) -> None:
    """The remark says so: by chance alone few of the cases."""
    rng = random.Random(3)
    runs = [[1e6 * rng.gauss(1, 0.01) for _ in range(count)] for _ in range(600)]
    assert least <= sum(bool(sampled_changes(values)) for values in runs) / len(runs) <= most
    place = count // 2 + 1
    moved = [[v * (1.1 if at >= place else 1) for at, v in enumerate(run)] for run in runs[:100]]
    assert sum(sampled_changes(values) == (place,) for values in moved) >= 90


def test_levels_of_times_that_do_not_scatter() -> None:
    assert sampled_changes([1e6] * 7 + [1.001e6] * 6) == (7,)
    assert sampled_changes([1e6] * 7 + [1.001e6] * 2) == (7,)
    assert sampled_changes([0.0] * 6 + [1.0] * 6) == ()


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_values_that_repeat_have_a_scatter(share: float) -> None:
    """A scatter of 0 was taken for 10⁻⁹: 49 to 87 % of such histories showed a false change."""
    rng = random.Random(1)
    false = sum(
        bool(sampled_changes([1000.0 + (rng.random() < share) for _ in range(20)]))
        for _ in range(100)
    )
    assert false <= 3
    many = [1000.0 + (rng.random() < share) for _ in range(10)]
    assert sampled_changes([*many, *(value * 1.1 for value in many)]) == (10,)


def test_a_change_among_many_cases_is_held_against_all_of_them() -> None:
    """Six of 194 cases changed by chance, where "at most about 3 %" of each was said."""
    rng = random.Random(2)
    histories = [[rng.gauss(1e5, 1e3) for _ in range(12)] for _ in range(194)]
    false = sum(bool(sampled_changes(values, 194)) for values in histories)
    assert false <= by_chance(12, 194)[0] == 2
    moved = [values[:6] + [value * 1.08 for value in values[6:]] for values in histories[:50]]
    assert sum(bool(sampled_changes(values, 194)) for values in moved) >= 45
    assert by_chance(50, 194) == (1, 4)


def test_what_teehash_took_for_a_file_has_levels_too() -> None:
    """The shortest of its calls counts where instructions are counted, else the median."""
    step = "teehash/sha256/ta-ce/stream/warm/4MiB/64KiB/inline"
    for icount, value in ((True, 2_000.0), (False, 3_000.0)):
        report = [{"files": [{"total_ns": ns}]} for ns in (4_000, 2_000, 3_000)]
        run = run_of({READ: [1e6] * 9}, icount=icount, reports={step: report})
        line = next(one for one in lines([run, run]) if one.case == step)
        assert (line.runs, line.values, line.changes) == ((0, 1), (value, value), ())


def test_a_change_is_shown_with_its_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dearer = dataclasses.replace(EXACT, truth=DEARER)
    put(tmp_path / "runs", [EXACT, EXACT, dearer, dearer])
    page = tmp_path / "history.html"
    assert cli.run(["history", str(tmp_path / "runs"), "-o", str(page)]) == 0
    shown = capsys.readouterr().out
    said = " ".join(shown.replace(fmt.THIN, " ").split())
    assert "5 of 44 cases changed, last with the run of 2026-01-03 00:00" in said
    (row,) = [line for line in shown.splitlines() if "▲" in line]
    assert "5 SHA-256 cases by" in row
    assert "+1.00 instructions" in row
    assert "2026-01-03 00:00" in row
    assert "sha256/tee/" not in shown
    text = page.read_text()
    assert text.count("<svg") == 2  # wide and narrow
    for name in ("01-01", "01-04", "▲ +6.4"):  # on the axis, and beside the new level
        assert name in text
    assert cli.run(["history", str(tmp_path / "runs"), "--all"]) == 0
    assert "sha256/tee/" in capsys.readouterr().out


def test_runs_are_shown_with_their_commits_and_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dearer = dataclasses.replace(EXACT, truth=DEARER)
    for number, made in enumerate((EXACT, dearer)):
        records = made.records()
        records[0] |= {
            "started": f"2026-01-0{number + 1}T00:00:00Z",
            "commit": {"hash": f"{number}abcdef" + "0" * 33, "branch": "main"},
            "labels": {"cc": "gcc-12"},
        }
        write(records, tmp_path / "runs" / f"r{number}")
    page = tmp_path / "history.html"
    assert cli.run(["history", str(tmp_path / "runs"), "-o", str(page)]) == 0
    assert "2026-01-02 00:00, 1abcdef" in " ".join(capsys.readouterr().out.split())
    for word in ("0abcdef", "1abcdef", "cc=gcc-12", "main"):
        assert word in page.read_text()


def test_cases_that_changed_in_other_families_are_drawn_in_small(tmp_path: Path) -> None:
    truth = {**DEARER, ("sha256", "tee"): (500_000, 20.6)}
    put(tmp_path / "runs", [EXACT, dataclasses.replace(EXACT, truth=truth)])
    page = tmp_path / "history.html"
    assert cli.run(["history", str(tmp_path / "runs"), "-o", str(page)]) == 0
    text = page.read_text()
    assert text.count("<svg") == 4
    for title in ("oneshot/sha256/tee/0", "oneshot/sha256/ta-c/1048576"):
        assert f"<h3>{title}</h3>" in text


def test_boards_and_plans_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a", [EXACT])
    put(tmp_path / "b", [EXACT], board="other")
    (tmp_path / "b/run-1").rename(tmp_path / "a/run-other")
    assert cli.run(["history", str(tmp_path / "a")]) == 2
    assert "--board and --plan" in capsys.readouterr().err
    assert cli.run(["history", str(tmp_path / "a"), "--board", "other"]) == 1
    assert "takes two" in capsys.readouterr().err
    assert cli.run(["history", str(tmp_path / "none")]) == 2


# -- the list ------------------------------------------------------------------------------------


def test_runs_are_listed_in_the_order_of_time_and_what_is_wrong_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, [EXACT] * 3)
    found = listing.entries(tmp_path)
    assert [one.folder for one in found] == ["run-3", "run-2", "run-1"]  # by time
    assert {(one.board, one.plan, one.wrong) for one in found} == {("synthetic", "quick", "")}
    lines = (tmp_path / "run-2" / "run.ndjson").read_bytes().splitlines(keepends=True)
    (tmp_path / "run-2" / "run.ndjson").write_bytes(b"".join(lines[:-1]))
    (tmp_path / "run-1" / "run.ndjson").write_text("no run\n")
    (tmp_path / "run-3" / "run.ndjson").unlink()
    (tmp_path / "latest").symlink_to(tmp_path / "run-2")
    other = {one.folder: one for one in listing.entries(tmp_path)}
    assert set(other) == {"run-1", "run-2"}
    assert other["run-2"].wrong.endswith("the run is incomplete")
    assert "not JSON" in other["run-1"].wrong
    assert cli.run(["history", str(tmp_path), "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["run-1", "run-2"]


def test_the_last_runs_alone_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, [EXACT] * 4)
    assert cli.run(["history", str(tmp_path), "--last", "2"]) == 0
    assert "2 runs, 2026-01-03" in capsys.readouterr().out
    assert cli.run(["history", str(tmp_path), "--board", "another", "--list"]) == 0
    assert capsys.readouterr().out == "no runs\n"


@pytest.mark.quiet
def test_10_000_runs_are_listed_in_two_seconds_of_cpu(tmp_path: Path) -> None:
    """And in 300 MB. The processor's time, so that a busy machine doesn't decide."""
    records = Synthetic(samples=1, algorithms=("sha256",)).records()
    text = b"".join(lines_of([records[0], records[-1]]))
    for number in range(10_000):
        folder = tmp_path / f"run-{number:05}"
        folder.mkdir()
        (folder / "run.ndjson").write_bytes(text)
    with (tmp_path / "list").open("wb") as out:
        command = [sys.executable, "-m", "teemark", "history", str(tmp_path), "--list"]
        _, status, usage = os.wait4(subprocess.Popen(command, stdout=out).pid, 0)
    assert status == 0
    assert (tmp_path / "list").read_bytes().count(b"\n") == 10_000
    assert usage.ru_utime + usage.ru_stime < 2.0
    assert usage.ru_maxrss < 300 * 1024


def test_levels_are_those_of_pelt_in_a_fraction_of_the_time() -> None:
    """The same penalty and scatter for ruptures' Pelt, which takes 8 s of CPU time for a thousand
    values without a change and a hundred times that for ten thousand."""
    import ruptures

    dice = np.random.default_rng(5)
    for number in range(40):
        logs = dice.normal(0.0, 0.01, int(dice.integers(FEWEST, 90)))
        logs[len(logs) // 2 :] += number % 3 * 0.05
        found = sampled_changes(tuple(np.exp(logs)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                ruptures,
                "KernelCPD",
                lambda min_size, **_: ruptures.Pelt("l2", min_size=min_size, jump=1),
            )
            assert sampled_changes(tuple(np.exp(logs))) == found
    values = tuple(np.exp(dice.normal(0.0, 0.01, 10_000)))
    begin = process_time()
    assert sampled_changes(values, cases=200) == ()
    assert process_time() - begin < 20
