# SPDX-License-Identifier: BSD-2-Clause
"""Figures of sections, to the digit, on runs whose truth is known."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from synthetic import Synthetic, run_of, run_with, scattered
from teemark.base.console import terminal
from teemark.findings.subject import Subject, subjects
from teemark.model.fit import fit
from teemark.model.models import build
from teemark.model.stats import Estimate, estimate, exactly
from teemark.page import charts
from teemark.page.bars import WIDE
from teemark.page.blocks import Bar, Block, Chart, Findings, Fold, Paragraph, Section, Table
from teemark.report import run_page, summary
from teemark.report.comparing import case_table, compared, comparison_section, pair_names
from teemark.report.sections.cases import cases
from teemark.report.sections.costs import costs, misfit_cell
from teemark.report.sections.headline import headline
from teemark.report.sections.keys import pkcs11
from teemark.report.sections.throughput import throughput
from teemark.run.reader import RunData
from teemark.wording import fmt

NBSP, THIN = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"
SIZES = (0, 64, 1024, 4096, 8192, 65536)


def text(cell: object) -> str:
    """Returns what a reader sees of a cell."""
    if isinstance(cell, tuple):
        return "".join(map(text, cell))
    shown = cell if isinstance(cell, str) else str(getattr(cell, "text"))  # noqa: B009
    return shown.replace(NBSP, " ").replace(THIN, " ")


def tables(section: Section | None) -> list[list[list[str]]]:
    """Every table as rows of text, the head first, folds included."""
    assert section is not None
    found: list[list[list[str]]] = []

    def walk(blocks: tuple[Block, ...]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                head = [
                    text(f"{'<' if c.align == 'left' else ''}{c.title} {c.unit}".strip())
                    for c in block.columns
                ]
                found.append([head, *([text(cell) for cell in row] for row in block.rows)])
            elif isinstance(block, Fold):
                walk(block.blocks)

    walk(section.blocks)
    return found


def words(section: Section | None) -> str:
    assert section is not None
    return " ".join(text(block.text) for block in section.blocks if isinstance(block, Paragraph))


def subject(run: RunData) -> Subject:
    return subjects([run])[0]


def digests(spread: float = 0.0, factor: float = 1.0) -> RunData:
    """57,200 an empty call; a block 640 in the TEE and 64 outside."""
    times = {
        f"oneshot/sha256/{by}/{n}": call + block * -(-(n + 9) // 64)
        for by, call, block in (("tee", 80_000, 640), ("openssl", 700, 64))
        for n in SIZES
    }
    return run_of(
        {
            key: scattered(ns * factor, spread) if spread else [float(ns)] * 8
            for key, ns in {"invoke/none/tee/none": 57_200, **times}.items()
        },
        icount=not spread,
    )


EXACT, NOISY = digests(), digests(0.01)


# -- single figures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "shown"),
    [(57_200.4, "57 200"), (478_912, "478 912"), (100, "100"), (99.96, "100"), (1.584, "1.58")],
)
def test_instructions_have_all_their_digits(number: float, shown: str) -> None:
    assert text(fmt.instructions(number)) == shown
    assert text(fmt.cost(EXACT, number)) == f"{shown} instructions"
    assert text(fmt.cost_cell(EXACT, number)) == shown


def test_times_have_units() -> None:
    assert text(fmt.cost(NOISY, 57_200)) == "57.2 µs"
    assert text(fmt.cost_cell(NOISY, exactly(57_200))) == "57.2 µs"
    assert (fmt.cost_unit(NOISY), fmt.cost_unit(EXACT)) == ("", "instructions")


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (0.0, fmt.NOTHING),
        (-5.0, fmt.NOTHING),
        (estimate([[-9.0, -5, -4, -3, -2, 1, 4]], "x"), fmt.NOTHING),
        (exactly(-5000.0), "−5.00 µs"),  # noqa: RUF001
    ],
)
def test_what_is_not_above_zero(figure: Estimate | float, shown: str) -> None:
    assert text(fmt.cost_cell(NOISY, figure)) == shown


def test_spreads() -> None:
    interval = estimate([[900.0] * 6 + [1000.0] * 3 + [1100.0] * 6], "x")
    apart = f"x{fmt.TO}y"
    assert (
        text(fmt.interval_in_brackets(NOISY, interval, apart)) == f" (95 % interval {text(apart)})"
    )
    assert fmt.interval_in_brackets(NOISY, interval, "x") == ""
    few = estimate([[900.0]], "x")
    assert fmt.interval_in_brackets(NOISY, few, "x") == " (too few samples for an interval)"
    none = exactly(1.0) / estimate([[-900.0, 0.0, 900.0] * 5], "x")
    assert fmt.interval_in_brackets(NOISY, none, "x").endswith("what it is divided by may be 0)")
    assert fmt.interval_in_brackets(EXACT, exactly(900.0), "x") == ""
    assert (
        text(fmt.interval_in_brackets(EXACT, interval, apart)) == f" (95 % interval {text(apart)})"
    )


@pytest.mark.parametrize(
    ("share", "shown"), [(0.5, "50 %"), (0.0001, "0.010 %"), (0.00009, "< 0.01 %"), (0.0, "0 %")]
)
def test_shares(share: float, shown: str) -> None:
    assert text(fmt.share(share)) == shown


def test_what_would_decide() -> None:
    one = exactly(1.0)
    assert fmt.more_samples(one, 1, 1) == "About 1 more sample a case would decide."
    assert fmt.more_samples(one, 20, 1) == "About 20 more samples a case would decide."
    assert fmt.more_samples(one, 2, 3) == "About 2 more starts a case would decide."
    assert "no practical number of samples would decide" in fmt.more_samples(one, None, 1)
    waited = replace(one, kind="waited")
    assert fmt.more_samples(waited, None, 1).startswith("More samples alone don't decide it: the ")


def test_misfits() -> None:
    values = [1000.0] * 8 + [1300.0]
    bad = fit(range(9), [exactly(v) for v in values], {"call": [1.0] * 9})
    assert bad is not None
    assert text(misfit_cell(bad)) == "! 23 % at 8 B"
    few = fit(range(3), [Estimate(1.0)] * 3, {"call": [1.0] * 3})
    assert few is not None
    assert misfit_cell(few) == "?"
    wide = fit(
        range(9), [estimate([scattered(v, 2.0)], str(v)) for v in values], {"call": [1.0] * 9}
    )
    assert wide is not None
    assert misfit_cell(wide) == "none"


# -- sections -------------------------------------------------------------------------------------


def test_costs_of_counted_instructions() -> None:
    made = tables(costs([subject(EXACT)]))
    assert made[0] == [
        [
            "<backend",
            *(f"{size} instructions" for size in ("0 B", "1 KiB", "64 KiB")),
            *("byte instructions", "from … to", "misfit"),
        ],
        ["TEE API", "80 640", "90 880", "736 000", "10.0", "10.0", "none"],
        ["OpenSSL", "764", "1788", "66 300", "1.00", "1.00", "none"],
    ]
    assert made[1] == [
        ["<backend", "call instructions", "block instructions"],
        ["TEE API", "80 000", "640"],
        ["OpenSSL", "700", "64.0"],
    ]


def test_what_waits_is_a_time_in_the_tables_of_a_board_that_counts() -> None:
    """Milliseconds stood under “instructions” where the samples of a write lie far apart."""
    truth = {n: 2e7 + 1e4 * n for n in (256, 4096, 16384, 65536)}
    for spread, unit in ((0.2, "ns"), (0.0, "instructions")):
        times = {f"storage/write/tee-ree-fs/{n}": scattered(t, spread) for n, t in truth.items()}
        made = subject(run_of(times, icount=True))
        (head, row), terms = tables(costs([made]))
        assert head[4] == f"byte {unit}"
        assert row[1].endswith("ms") == (unit == "ns") == ("instructions" not in head[1])
        assert terms[0][1] == f"call {unit}"
        assert "each block: of the algorithm" not in words(costs([made]))
        curve = throughput([made])
        assert (curve is None) == (unit == "ns"), "nothing follows from what waited: it isn't drawn"
        if curve is not None:
            chart = next(one for one in curve.blocks if isinstance(one, Chart))
            assert chart.data
            assert chart.data.columns[1].unit == f"{unit} a byte"


def test_costs_with_intervals() -> None:
    made = tables(costs([subject(NOISY)]))
    head = ["<backend", "0 B", "1 KiB", "64 KiB", "byte ns", "from … to", "limit MiB/s", "misfit"]
    assert made[0][0] == head
    tee = made[0][1]
    assert tee[1].startswith(("79.", "80."))
    assert tee[3].endswith(" µs")
    assert " … " in tee[5]
    assert tee[7] == "none"
    assert "block ns" in made[1][0]
    assert "2000 draws" in words(costs([subject(NOISY)]))


def test_terms_and_when_they_are_paid() -> None:
    times = {
        f"oneshot/sha256/c/{n}": 5000.0 + 640 * -(-(n + 9) // 64) - 300 * (n > 0) for n in SIZES
    }
    section = costs([subject(run_of({k: [v] * 8 for k, v in times.items()}, icount=True))])
    assert tables(section)[1][1] == ["C, normal world", "5000", "640", "−300"]  # noqa: RUF001
    assert section is not None
    folds = [block for block in section.blocks if isinstance(block, Fold)]
    assert [(fold.title, fold.note) for fold in folds] == [
        ("What SHA-256 is made of", "3 terms"),
        ("When each term is paid", "2 terms"),
    ]
    assert "A term that is negative saves that much" in str(folds[-1])
    assert "each block: of the algorithm" in str(folds[-1])
    assert "negative" not in str(costs([subject(EXACT)]))


def test_references() -> None:
    kinds = {"none": 0, "values": 0, "memref-in": 1, "memref-out": 1, "memref-inout": 1}
    calls = {f"invoke/{kind}/tee/none": 57_000.0 + 9_000 * n for kind, n in kinds.items()}
    whole = {
        key: case for key, case in digests().cases.items() if key.startswith("oneshot/sha256/tee")
    }
    times = {key: float(case.samples[0].ns) for key, case in whole.items()}
    made = tables(
        costs([subject(run_of({k: [v] * 8 for k, v in (calls | times).items()}, icount=True))])
    )
    assert made[-1] == [
        ["<backend", "call instructions", "reference instructions"],
        ["TEE API", "57 000", "9000"],
    ]


def test_what_no_model_describes_is_not_shown_as_one() -> None:
    times = {f"storage/create/file/{n}": 9e5 for n in (256, 4096, 7000, 65536)}
    times["storage/create/file/4096"] *= 1.5
    times |= {f"storage/create/file-fsync/{n}": 9e5 for n in (256, 4096, 7000, 65536)}
    made = tables(costs([subject(run_of({k: [v] * 8 for k, v in times.items()}, icount=True))]))
    rows = {row[0].split()[0]: row[1:] for row in made[0][1:]}
    assert rows["file"][3:5] == ["–"] * 2  # noqa: RUF001
    assert rows["file"][5] == "! 33 % at 4 KiB"
    # Here the size shows in nothing, which isn't the same as a byte that costs 0.
    assert rows["file-fsync"] == [*["900 000"] * 3, "–", "–", "none"]  # noqa: RUF001


def test_no_measured_rate_exceeds_the_limit_and_the_interval_holds_a_knee() -> None:
    """Bytes beyond 32 KiB cost a tenth more, which no term of the model says."""
    sizes = (0, 64, 1024, 4096, 16384, 262144, 1048576)
    times = {n: 500.0 + 10 * n + max(0, n - 32768) for n in sizes}
    run = run_of({f"oneshot/random/c/{n}": [v] * 8 for n, v in times.items()}, icount=True)
    (cost,) = build(run).costs
    interval = cost.byte.interval
    assert interval is not None
    assert 11.0 in interval
    assert 11.0 not in (cost.slope.interval or ())
    assert not cost.byte.exact
    assert cost.least_byte is not None
    assert cost.least_byte <= min(time / size for size, time in times.items() if size)


def test_side_by_side() -> None:
    slow = run_of(
        {key: [2.0 * case.samples[0].ns] * 8 for key, case in EXACT.cases.items()}, icount=True
    )
    section = comparison_section(subjects([EXACT, slow]))
    assert section is not None
    changed, moved, cases = tables(section)
    assert [row[1] for row in changed[1:]] == ["+100 %", "+57 200 instructions a call"]
    assert cases[0] == [
        "<case (instructions a call)",
        "x (base)",
        "x (new)",
        "change",
        "<verdict",
    ]
    assert moved == cases[:11]
    assert "13 cases compared: 13 worse, 0 better." in words(section)
    assert len(cases) == 1 + len(EXACT.cases)
    assert ["57 200", "114 400", "+100 %", "▲ worse"] in [row[1:] for row in cases]
    assert (section.key, section.title) == ("comparison", "Side by side")
    same = tables(comparison_section(subjects([EXACT, EXACT])))[0]
    assert {tuple(row[-2:]) for row in same[1:]} == {("0", "= same")}
    back = tables(comparison_section(subjects([slow, EXACT])))[1]
    assert {row[-1] for row in back[1:]} == {"▼ better"}
    chance = tables(comparison_section(subjects([NOISY, digests(0.01, 1.001)])))[0]
    assert {row[-1] for row in chance[1:]} <= {"? undecided", "= same"}
    assert comparison_section(subjects([EXACT])) is None


def test_the_first_sentences() -> None:
    def first(run: RunData) -> list[tuple[str, bool]]:
        section = headline([subject(run)])
        assert section is not None
        found = next(block for block in section.blocks if isinstance(block, Findings))
        return [(text((one.claim,)), one.sure) for one in found.items]

    assert first(EXACT) == [
        ("A call into the TEE costs 57 200 instructions before it does anything.", True),
        (
            "SHA-256 inside takes 10.0 instructions a byte, outside (OpenSSL) 1.00: 10 times as "
            "much.",
            True,
        ),
    ]
    assert first(NOISY)[0] == ("A call into the TEE costs 57.2 µs before it does anything.", True)
    assert not first(digests(0.3))[0][1]


def test_every_kind_of_run_has_its_answer() -> None:
    """Three sentences of a plan that calls and computes; what others measured, else."""
    crypto = {
        f"oneshot/sha256/{by}/{n}": base + 2.0 * n
        for by, base in (("afalg", 4000), ("openssl", 900))
        for n in (64, 1024, 4096, 65536)
    }
    stored = {
        "storage/create/tee-ree-fs/7000": 70e6,
        "storage/create/file-fsync/7000": 7e6,
    }
    for times, keys in (
        (crypto, ["backend/sha256"]),
        (stored, ["stored-objects"]),
        (crypto | stored | {"invoke/none/tee/none": 57e3}, ["empty-call"]),
    ):
        run = run_of({key: [value] * 9 for key, value in times.items()}, icount=True)
        assert [one.key for one in subject(run).found("answer")] == keys


def test_all_cases() -> None:
    run = run_of({"oneshot/sha256/c/1024": [1000.0] * 8 + [1200.0]}, icount=True)
    (table,) = tables(cases([subject(run)]))
    assert table[0][2:] == [
        "median instructions",
        "from instructions",
        "to instructions",
        "samples",
    ]
    assert table[1][1:] == ["1 KiB", "1000", "1000", "1200", "9"]
    (timed,) = tables(cases([subject(run_of({"oneshot/sha256/c/1024": [1000.0] * 9}))]))
    assert timed[0][2:] == ["median", "95 %", "rate MiB/s", "p95", "sd", "samples"]


# -- what is drawn --------------------------------------------------------------------------------


def drawn(run: RunData, monkeypatch: pytest.MonkeyPatch) -> dict[str, charts.Series]:
    """The series of the throughput chart, by backend, as they are drawn."""
    found: dict[str, charts.Series] = {}

    def keep(series: Sequence[charts.Series], *_: object, **_unit: object) -> str:
        found.update({one.backend.name: one for one in series})
        return "<svg></svg>"

    monkeypatch.setattr(charts, "throughput", keep)
    made = throughput(subjects([run]))
    assert made is not None
    for block in made.blocks:
        if isinstance(block, Chart):
            block.draw(WIDE)
    return found


@given(st.floats(1e-9, 1e9), st.floats(1, 1e6))
def test_a_logarithmic_axis_has_three_ticks_at_least(low: float, times: float) -> None:
    ticks = charts.levels(low, low * times)
    assert 3 <= len(ticks) <= 8
    assert ticks == sorted(ticks)
    assert len({charts._tick(tick) for tick in ticks}) == len(ticks)


def test_a_chart_s_points_and_bars_are_in_mib(monkeypatch: pytest.MonkeyPatch) -> None:
    size, times = 1 << 20, [0.9e6, 1e6, 1.1e6] * 8
    run = run_of({f"oneshot/sha256/tee/{n}": times for n in (size, 2 * size)})
    series = drawn(run, monkeypatch)["tee"]
    assert series.points == ((size, 1000.0), (2 * size, 2000.0))
    known = build(run).stats[0].throughput_interval
    assert known is not None
    assert series.low_high[0] == pytest.approx((known.low / 2**20, known.high / 2**20))


def test_a_counted_chart_s_points_are_instructions_a_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_with({f"oneshot/sha256/tee/{n}": 10.0 * n for n in (1024, 4096)})
    assert [y for _, y in drawn(run, monkeypatch)["tee"].points] == pytest.approx([10.0, 10.0])


def bars_of(blocks: Sequence[Block]) -> Iterator[Bar]:
    for block in blocks:
        if isinstance(block, Table):
            yield from (cell for row in block.rows for cell in row if isinstance(cell, Bar))
        elif isinstance(block, Fold):
            yield from bars_of(block.blocks)


def test_the_dearest_byte_has_the_longest_bar() -> None:
    section = costs(subjects([EXACT]))
    assert section is not None
    assert [bar.share for bar in bars_of(section.blocks)] == pytest.approx([1.0, 0.1], rel=0.01)


def test_the_largest_change_has_the_longest_bar() -> None:
    times = {f"oneshot/sha256/tee/{n}": 1e6 for n in (64, 1024)}
    more = {key: 1e6 + 1e5 * n for n, key in enumerate(times, 1)}
    of = compared(*subjects([run_with(times), run_with(more)]))
    table = case_table(of, of.comparison.worst_first)
    assert [bar.share for bar in bars_of([table])] == pytest.approx([1.0, 0.5])


def test_the_layers_of_a_pkcs11_call_add_up() -> None:
    layers = {"calls": 10, "total_ns": 1000, "invoke_ns": 600, "memory_ns": 300}
    layers |= {"invokes": 10, "allocations": 10}
    times = {"pkcs11/hmac-sha256/pkcs11/none": [100.0] * 8}
    section = pkcs11(subjects([run_of(times, layers=layers)]))
    (row,) = next(table for table in tables(section) if "library" in " ".join(table[0]))[1:]
    assert row[2:5] == ["60.0 ns", "30.0 ns", "10.0 ns"]


def test_the_terminal_shows_the_dearest_causes(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = (("temporary", 300e3), ("allocated", 50e3))
    times = {
        f"shm/{kind}/tee/in/{n}": ns * (1 + n / 1e6) for kind, ns in kinds for n in (4096, 1 << 20)
    }
    summary.dearest(terminal(), subject(run_with(times, 0.001)))
    assert capsys.readouterr().out.startswith("1 ")


def test_runs_without_a_commit_are_named_by_their_labels() -> None:
    run = run_with({"invoke/none/tee/none": 57_000})
    assert run.header is not None
    labelled = [
        replace(run, header=structs.replace(run.header, labels={"build": build}))
        for build in ("base", "slower")
    ]
    assert pair_names(*labelled) == ("build=base", "build=slower")


def test_causes_are_open_only_where_one_was_found() -> None:
    none = run_page.make(
        [run_with({"invoke/none/tee/none": 57_000, "invoke/refused/tee/none": 40_000})]
    )
    assert not any(
        one.topic == "cause" and one.status == "found" for one in none.subjects[0].findings
    )
    one = run_page.make([Synthetic(identical=True, counter=1.01, page=190).run()])
    helps = "What would help"
    assert helps in one.html
    assert helps not in none.html
