# SPDX-License-Identifier: BSD-2-Clause
"""Advice on memory, backends and pieces: right where the truth is known."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from synthetic import Synthetic, run_of, run_with, scattered
from teemark.cli.main import run as teemark
from teemark.findings.choices import Choice, best, choices, choose, sentence
from teemark.findings.ground import Ground
from teemark.model import models
from teemark.model.models import Models
from teemark.model.stats import exactly

SIZES = (0, 55, 56, 64, 1024, 4096, 8192, 65536, 1048576)


INVOKE = {"invoke/none/tee/none": 57_000} | {
    f"invoke/memref-{way}/tee/none": 66_000 for way in ("in", "out", "inout")
}


def digest(n: int, call: float = 57_000, block: float = 3_800) -> float:
    return call + block * -(-(n + 9) // 64)


def made(times: Mapping[str, float]) -> Models:
    return models.build(run_with(times))


def shm(kind: str, base: float, page: float) -> dict[str, float]:
    return {
        f"shm/{kind}/tee/inout/{n}": base + page * -(-n // 4096) for n in (64, 4096, 65536, 1048576)
    }


def test_the_kind_of_memory() -> None:
    times = shm("temporary", 110_000, 500) | shm("allocated", 60_000, 190)
    run = run_of({key: [ns] * 8 for key, ns in times.items()}, icount=True)
    (found,) = choose(Ground.of(run))
    assert (found.question, found.subject, found.choose, found.over) == (
        "memory",
        "inout",
        "allocated",
        "temporary",
    )
    assert (found.first, found.last) == (64, 1048576)
    assert found.saves == pytest.approx(1 - (60_000 + 256 * 190) / (110_000 + 256 * 500))
    assert sentence(Ground.of(run), found) == (
        "Memory for a call (inout): allocated is the choice with the fewest instructions from "
        "64\u00a0B to 1\u00a0MiB; at 1\u00a0MiB it takes 54\u202f% less than temporary."
    )


def test_nothing_is_advised_where_intervals_overlap() -> None:
    times = shm("temporary", 60_000, 190) | shm("allocated", 60_010, 190)
    run = run_of({key: scattered(ns, 0.02) for key, ns in times.items()})
    assert not choose(Ground.of(run))


@pytest.mark.parametrize(("more", "chosen"), [(1.009, 0), (1.011, 1)])
def test_a_hundredth_is_no_choice(more: float, chosen: int) -> None:
    """Not even where both are counted."""
    times = {"shm/registered/tee/inout/64": 60_000 * more, "shm/allocated/tee/inout/64": 60_000}
    run = run_of({key: [ns] * 8 for key, ns in times.items()}, icount=True)
    assert len(choose(Ground.of(run))) == chosen


def test_code_that_is_there_to_be_compared_with_is_no_choice() -> None:
    """Ours outside of the TEE: `c` and `ce`, however fast."""
    truth = {"ce": 20_000, "c": 25_000, "openssl": 30_000, "afalg": 40_000, "ta-ce": 90_000}
    times = {f"oneshot/sha256/{who}/16384": [ns] * 8 for who, ns in truth.items()}
    found = choose(Ground.of(run_of(times, icount=True)))
    assert [(one.choose, one.over) for one in found] == [("openssl", "afalg")]


def test_what_another_finding_says_is_no_choice_of_the_report() -> None:
    """Allocated memory in place of temporary; `explain --choices`, which has no other findings,
    says it."""
    times = {f"shm/{kind}/tee/in/64": ns for kind, ns in (("temporary", 9e4), ("allocated", 5e4))}
    ground = Ground.of(run_of({key: [ns] * 8 for key, ns in times.items()}, icount=True))
    assert [one.question for one in choose(ground)] == ["memory"]
    assert not list(choices(ground))


def test_pieces_that_no_stream_was_measured_of_are_predicted() -> None:
    times = {f"oneshot/sha256/tee/{n}": digest(n) for n in SIZES} | INVOKE
    stream = {"stream/sha256/tee/1048576/65536": digest(1048576) + 16 * 66_000}
    for more, predicted in (({}, True), (stream, False)):
        every = choices(Ground.of(run_with(times | more)))
        (found,) = (one for one in every if one.key == "pieces/sha256/tee")
        assert found.evidence.startswith("Predicted") is predicted


def test_the_backend_changes_with_the_size() -> None:
    """afalg has the dearer call and the cheaper byte; at 1 KiB they are as good as equal."""
    truth = {
        ("openssl", 64): 300,
        ("afalg", 64): 700,
        ("openssl", 1024): 2000,
        ("afalg", 1024): 2001,
        ("openssl", 16384): 30_000,
        ("afalg", 16384): 20_000,
    }
    times = {f"oneshot/sha256/{who}/{n}": scattered(ns, 0.01) for (who, n), ns in truth.items()}
    found = [one for one in choose(Ground.of(run_of(times))) if one.question == "backend"]
    assert [(one.choose, one.first, one.last, one.undecided) for one in found] == [
        ("openssl", 64, 64, (1024,)),
        ("afalg", 16384, 16384, ()),
    ]


@pytest.mark.parametrize(
    ("alike", "said"),
    [
        ((64, 256), "at 64 B and 256 B"),
        ((4096, 16384), "at 4 KiB and 16 KiB"),
        ((256, 1024, 4096, 16384), "from 256 B to 16 KiB"),
        ((64, 256, 1024, 4096), "from 64 B to 4 KiB"),
        ((64, 1024, 16384), "at 64 B, 1 KiB and 16 KiB"),
    ],
)
def test_sizes_at_which_none_is_better_are_named(alike: tuple[int, ...], said: str) -> None:
    """That the kernel is as fast as OpenSSL for long messages stood in no report."""
    times = {
        f"oneshot/sha256/{who}/{n}": 1000.0 + n * (2 if who == "afalg" and n not in alike else 1)
        for who in ("openssl", "afalg")
        for n in (64, 256, 1024, 4096, 16384)
    }
    ground = Ground.of(run_with(times))
    (found,) = (one for one in choose(ground) if one.question == "backend")
    assert found.undecided == alike
    words = re.sub("[\u00a0\u202f]", " ", sentence(ground, found))
    assert f", no better {said}{':' if len(alike) == 4 else ';'}" in words


@pytest.mark.parametrize("sizes", [(64, 1024, 65536), (65536, 1024, 64)])
def test_a_size_at_which_two_others_are_equal_is_no_size_of_the_choice(
    sizes: tuple[int, ...],
) -> None:
    """OpenSSL takes twice as long as both others at the last: "no better" there would be untrue."""
    costs = {"openssl": (100, 100, 1000), "afalg": (900, 200, 500), "libkcapi": (950, 300, 500)}
    made = best(
        "backend",
        "sha256",
        {name: dict(zip(sizes, map(exactly, row), strict=True)) for name, row in costs.items()},
    )
    assert [(choice.choose, choice.undecided) for choice in made] == [("openssl", ())]


def test_pieces() -> None:
    """With 66,000 a piece and 59.4 a byte, those of 64 KiB pay 1.7 % more than
    one call, and those of 8 KiB 14 %."""
    found = [
        one
        for one in advise_of(made({f"oneshot/sha256/tee/{n}": digest(n) for n in SIZES} | INVOKE))
        if one.question == "pieces"
    ]
    assert [(one.choose, one.over) for one in found] == [("65536", "1024")]


def test_streams_that_were_measured_say_how_far_the_models_may_be_off() -> None:
    """Where the one that was measured takes 10 % less than its model, no pieces are as good."""
    times = {f"oneshot/sha256/tee/{n}": digest(n) for n in SIZES} | INVOKE
    measured = {"stream/sha256/tee/1048576/65536": (digest(1048576) + 57_000 + 15 * 66_000) / 1.1}
    found = [one for one in advise_of(made(times | measured)) if one.question == "pieces"]
    assert [(one.choose, one.over) for one in found] == [("1048576", "65536")]


@pytest.mark.parametrize("lacking", INVOKE)
def test_pieces_need_the_way_in_and_a_model_that_fits(lacking: str) -> None:
    """The cost of a further call into the TEE isn't known without it."""
    way = {key: ns for key, ns in INVOKE.items() if (key == lacking) and "memref" in key}
    good = {f"oneshot/sha256/tee/{n}": digest(n) for n in SIZES}
    squares = {f"oneshot/sha256/tee/{n}": 57_000 + n * n / 100 for n in SIZES} | INVOKE
    for times in (good | way, squares):
        assert not [one for one in advise_of(made(times)) if one.question == "pieces"]


def test_one_call_where_no_pieces_are_good_enough() -> None:
    times = {f"oneshot/sha256/ta-ce/{n}": digest(n, 1e6, 100) for n in SIZES}
    found = advise_of(made(times | dict.fromkeys(INVOKE, 1000000.0)))
    assert [(one.choose, one.over) for one in found if one.question == "pieces"] == [
        ("1048576", "65536")
    ]


def advise_of(found: Models) -> tuple[Choice, ...]:
    run = run_of({"oneshot/sha256/tee/64": [1] * 8}, icount=True)
    return choose(Ground(run, found))


# -- the commands --------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return Synthetic(identical=True).write(tmp_path)


def test_advise(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert teemark(["explain", str(written), "--choices"]) == 0
    shown = capsys.readouterr().out
    text = " ".join(shown.split())
    inside = r"• SHA-256 inside the TEE: ta-ce is the choice .* MiB it takes \d.*? less than ta-c"
    assert re.search(inside, text)


def test_it_is_said_that_a_run_is_incomplete(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written.write_bytes(b"".join(written.read_bytes().splitlines(keepends=True)[:-1]))
    assert teemark(["explain", "--choices", str(written)]) == 0
    assert "This run is incomplete" in capsys.readouterr().err
