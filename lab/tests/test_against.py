# SPDX-License-Identifier: BSD-2-Clause
"""`teemark compare RUN --against SET`: verdicts on published figures, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from teemark.base.errors import UsageMistake
from teemark.cli import main as cli
from teemark.findings.subject import subjects
from teemark.reference.data import Number, Reference
from teemark.studies.against import ORDER, Held, choose, hold, judge
from teemark.studies.measured import exactly
from test_seed_tables import DOCUMENTS, made_up, made_up_lines

SWITCH = ("rpi3-small-messages", "metrics", "Context Switch Overhead", "Value")
"""In µs; a made-up run takes 100, give or take 1 %."""

MOST = ("rpi3-small-messages", "metrics", "Max Throughput", "Value")
STABLE = ("rpi3-small-messages", "memory", "Stable file size", "Fixed Behavior")
CLOCK = ("rpi3-small-messages", "metrics", "Hardware Frequency", "Value")


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., str]:
    """Write a run of a plan; `head` changes its first record."""

    def write(plan: str, head: Mapping[str, object] = {}, cut: bool = False, **changes: Any) -> str:
        lines = made_up_lines(plan, **changes)
        lines[0] = json.dumps(json.loads(lines[0]) | head) + "\n"
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "run.ndjson").write_text("".join(lines[: -1 if cut else None]))
        return str(folder)

    return write


def with_switch(reference: Reference, text: str) -> Reference:
    """The figures, had the document printed that of a context switch."""
    figure = msgspec.structs.replace(
        reference.get(*SWITCH), text=text, corrected=Number.read(text),
        upper=None, corrected_upper=None,
    )  # fmt: skip
    return replace(reference, figures={**reference.figures, SWITCH: figure})


def verdict_on(reference: Reference, text: str, **changes: Any) -> Held:
    """The verdict on a context switch, had the document printed that."""
    changed = with_switch(reference, text)
    (subject,) = subjects([made_up(SWITCH[0], **changes)])
    held = hold(subject, changed.documents[SWITCH[0]], changed).held
    return next(one for one in held if one.figure.key == SWITCH)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("50", "worse"),
        ("96", "worse"),
        ("100", "same"),
        ("100.0", "same"),
        ("104", "better"),
        ("400.0", "better"),
    ],
)
def test_a_time_is_judged_by_its_interval(reference: Reference, text: str, verdict: str) -> None:
    one = verdict_on(reference, text, spread=0.002)
    assert one.verdict == verdict
    assert one.ratio is not None
    assert one.ratio.value == pytest.approx(100 / float(text), rel=0.003)
    assert one.ratio.interval is not None
    assert one.ratio.value in one.ratio.interval


def test_what_is_too_near_is_undecided_and_says_what_would_decide(reference: Reference) -> None:
    one = verdict_on(reference, "105", spread=0.2)
    assert one.verdict == "undecided"
    assert one.more is not None
    assert one.more > 0


def test_a_printed_figure_is_all_that_rounds_to_it(reference: Reference) -> None:
    """1 µs is 0.5 to 1.5, 1.0 µs is 0.95 to 1.05; "about" allows a whole unit of the last digit."""
    assert reference.get(*SWITCH).corrected_unit == "µs"
    cases: tuple[tuple[Literal["=", "~"], str, float, str], ...] = (
        ("=", "100", 100.5, "same"),
        ("=", "100", 101.4, "same"),
        ("=", "100", 101.6, "worse"),  # beyond the rounding and 1 % more
        ("~", "100", 101.6, "same"),
        ("=", "100.0", 101.4, "worse"),
        ("=", "1", 1.4, "same"),
        ("=", "1.0", 1.4, "worse"),
        ("=", "1", 0.4, "better"),
        ("~", "1", 0.4, "same"),
    )
    for relation, text, us, verdict in cases:
        printed = with_switch(reference, text).get(*SWITCH)
        printed = msgspec.structs.replace(printed, relation=relation)
        one = judge(Held(printed, "undecided", exactly(us * 1e-6)))
        assert one.verdict == verdict, (relation, text, us)


def test_of_a_rate_less_is_worse_and_of_a_frequency_neither(reference: Reference) -> None:
    rate, clock = reference.get(*MOST), reference.get(*CLOCK)
    for figure, factor, verdict in (
        (rate, 2, "better"),
        (rate, 0.5, "worse"),
        (clock, 1, "same"),
        (clock, 0.5, "differs"),
        (clock, 2, "differs"),
    ):
        value = exactly(figure.base.mid * factor)
        assert judge(Held(figure, "undecided", value)).verdict == verdict


def test_more_than_is_a_bound(reference: Reference) -> None:
    figure = reference.get(*STABLE)
    assert figure.relation == ">"
    for factor, verdict in ((100, "same"), (1, "same"), (0.5, "differs")):
        value = exactly(figure.base.mid * factor)
        assert judge(Held(figure, "undecided", value)).verdict == verdict


def test_a_mean_needs_the_runs_mean_on_the_same_side(reference: Reference) -> None:
    """One sample that takes a thousand times as long makes the mean longer, not the median."""
    for outlier in (1, 1_000_000):
        (subject,) = subjects([made_up("mqtt-tz-blocks", outlier=outlier)])
        held = hold(subject, reference.documents["mqtt-tz-blocks"], reference)
        means = [one for one in held.compared if one.mean]
        assert means
        better = [one for one in means if one.verdict == "better"]
        assert bool(better) == (outlier == 1)
    assert "mean" in next(one.reason for one in means if one.verdict == "undecided")


@pytest.mark.parametrize(
    ("mean", "verdict"), [(1.0, "same"), (1.4, "undecided"), (0.6, "undecided")]
)
def test_the_same_takes_the_mean_where_the_document_has_one(
    reference: Reference, mean: float, verdict: str
) -> None:
    figure = reference.get(*SWITCH)
    printed = figure.base.mid
    value = replace(exactly(printed), mean=mean * printed)
    one = judge(Held(figure, "undecided", value, mean=True))
    assert one.verdict == verdict
    assert ("mean" in one.reason) == (verdict == "undecided")
    assert judge(Held(figure, "undecided", value)).verdict == "same"  # of a figure that is a median


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_set(put: Callable[..., str], capsys: pytest.CaptureFixture[str], name: str) -> None:
    emulated = {"emulated": name == "mqtt-tz-blocks"}
    words = ["compare", put(name, emulated), "--against", name]
    force = ["--force"] * emulated["emulated"]
    assert cli.run([*words, *force, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert bool(found["forced"]) == emulated["emulated"]
    places = [ORDER.index(one["verdict"]) for one in found["figures"]]
    assert places == sorted(places)
    assert len(set(places)) > 1
    for one in found["figures"]:
        if one["verdict"] == "not compared":
            assert one["reason"]
            continue
        assert one["measured"] is not None
        if one["verdict"] in ("worse", "better"):
            longer = one["measured_low"] > one["printed_high"]
            assert longer or one["measured_high"] < one["printed_low"]
            assert (one["verdict"] == "worse") == (longer == (one["dimension"] != "rate"))
    assert cli.run([*words, *force, "--all"]) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if "/" not in line]  # a path is never broken
    assert max(map(len, lines)) <= 80
    assert "figures compared: " in text
    for form in ("markdown", "html"):
        assert cli.run([*words, *force, "--format", form]) == 0
        assert f"Held against {name}" in capsys.readouterr().out


def test_which_set_is_meant(reference: Reference) -> None:
    run, other = made_up("rpi3-small-messages"), made_up("api-vs-custom")
    assert choose("rpi3", run, reference).id == "rpi3-small-messages"  # the run's plan decides
    assert choose("rpi3-secure-hash", run, reference).id == "rpi3-secure-hash"
    assert choose("mqtt", run, reference).id == "mqtt-tz-blocks"
    with pytest.raises(UsageMistake, match="rpi3-secure-hash or rpi3-small-messages"):
        choose("rpi3", other, reference)
    for name in ("rpi4", ""):
        with pytest.raises(UsageMistake, match="no set of published figures") as caught:
            choose(name, run, reference)
        assert all(one in str(caught.value.hint) for one in DOCUMENTS)


@pytest.mark.parametrize(
    ("words", "head", "said"),
    [
        (
            ("api-vs-custom", "rpi3-small"),
            {},
            ("is of the plan api-vs-custom", "--plan rpi3-small-messages`;"),
        ),
        (
            ("api-vs-custom", "api"),
            {"emulated": True},
            ("the run is of an emulated board", "on a real board;"),
        ),
        (
            ("api-vs-custom", "api"),
            {"emulated": True, "icount": True},
            ("the run counts instructions", "on a real board;"),
        ),
        (("mqtt-tz-blocks", "mqtt"), {}, ("are of an emulated board",)),
        (
            ("mqtt-tz-blocks", "mqtt"),
            {"emulated": True},
            ("depend on the machine that it runs on",),
        ),
    ],
)
def test_what_is_refused(
    put: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, str],
    head: Mapping[str, object],
    said: tuple[str, ...],
) -> None:
    plan, name = words
    assert cli.run(["compare", put(plan, head), "--against", name]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert all(part in error for part in (*said, "--force compares them all the same"))


def test_force_says_so_above_the_result(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", put("api-vs-custom", cut=True), "--against", "api-vs-custom"]
    assert cli.run(words) == 1
    assert "truncated" in capsys.readouterr().err
    assert cli.run([*words, "--force"]) == 0
    assert "! Compared by force:" in capsys.readouterr().out.split("verdict")[0]


def test_a_run_that_measured_nothing_of_it(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", put("rpi3-small-messages"), "--against", "mqtt-tz-blocks", "--force"]
    assert cli.run([*words]) == 1
    assert "measured nothing that mqtt-tz-blocks has published" in capsys.readouterr().err


def test_usage(put: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    run = put("api-vs-custom")
    for words, why in (
        ([run, run, "--against", "api"], "one run"),
        ([run, "--against", "api", "--fail-on", "5%"], "neither NEW nor --fail-on"),
        ([run], "no run to compare with"),
        ([run, "--against", "rpi3"], "rpi3-secure-hash or rpi3-small-messages"),
    ):
        assert cli.run(["compare", *words]) == 2
        assert why in " ".join(capsys.readouterr().err.split())
