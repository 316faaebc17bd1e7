# SPDX-License-Identifier: BSD-2-Clause
"""The right row is named, with the right number, unit and sign: each value by what it means."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from synthetic import Synthetic, run_of, run_with, scattered
from teemark.base.work import Work
from teemark.findings import choices, keys, trust
from teemark.findings.choices import Choice, best
from teemark.findings.ground import Ground
from teemark.findings.offload import Offload, device_lines
from teemark.model import history
from teemark.model.compare import Comparison, Difference, Limit, Verdict
from teemark.model.forms import Form
from teemark.model.legs import CaseLegs
from teemark.model.models import Streamed
from teemark.model.stats import Kind, Sampling, estimate, exactly
from teemark.page import charts, dots
from teemark.report import comparing
from teemark.run.reader import RunData
from teemark.run.records import Skip, Watched
from teemark.studies import measured, table
from teemark.wording import fmt
from teemark.wording.interval import Interval
from test_causes import (
    EMPTY,
    QUIET,
    buffers,
    by_trace,
    call,
    digests,
    found,
    made,
    on_silicon,
    waiting,
    with_machine,
)
from test_figures import subject, tables
from test_keys import layers

CASE = "oneshot/sha256/tee/64"


def plain(text: str) -> str:
    return text.replace(fmt.THIN, " ").replace("\N{NO-BREAK SPACE}", " ")


# -- comparisons ---------------------------------------------------------------------------------


def pair(change: float, verdict: Verdict = "worse", case: str = CASE, **more: object) -> Difference:
    made = Difference(
        case, 1, exactly(1000.0), exactly(1000.0 * (1 + change)), verdict, Work.of(case), have=10
    )
    return replace(made, **more)  # type: ignore[arg-type]


def compared(*pairs: Difference, lost: tuple[str, ...] = (), icount: bool = False) -> Comparison:
    run = run_with({CASE: 1000.0}, spread=0.0 if icount else 0.01)
    run = run if icount else on_silicon(run)
    return Comparison(run, run, pairs, lost, ())


def test_plus_and_minus_is_half_of_the_interval() -> None:
    assert plain(comparing.change(pair(0.1, interval=Interval(1.06, 1.14)))) == "+10.0 % ±4.0"
    assert plain(comparing.change(pair(0.1))) == "+10.0 % ±?"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "+1.23 %"), (-0.0123, f"{fmt.MINUS}1.23 %"), (0.0, "0 %")]
)
def test_only_a_rise_has_a_plus(value: float, text: str) -> None:
    assert plain(comparing.signed(value)) == text


def test_all_cases_show_what_the_worst_of_them_shows() -> None:
    seen = compared(*(pair(0.0, "same", visible=share) for share in (0.02, 0.08, 0.05)))
    text = plain(comparing.visible(seen))
    assert text.startswith("A case that takes 5.0 % more would have been called worse")
    assert text.endswith("half of the cases show less, all of them 8.0 %.")


def test_the_smallest_change_is_that_of_the_case_that_shows_it() -> None:
    """10 instructions of a dear call are a smaller change than 200 of a cheap one."""
    dear, cheap = (
        pair(0.0, "same", case, exact=True, world="tee", visible=share, first=exactly(count))
        for case, share, count in (
            ("oneshot/sha256/tee/4096", 0.0001, 100_000.0),
            ("oneshot/sha256/tee/64", 0.02, 10_000.0),
        )
    )
    text = plain(comparing.visible(compared(dear, cheap, icount=True)))
    assert "of 10 instructions in oneshot/sha256/tee/4096, " in text


def test_a_case_that_is_gone_fails_and_is_named() -> None:
    judged, limit = compared(pair(0.0, "same"), lost=("oneshot/sha1/tee/64",)), Limit(share=0.05)
    assert plain(comparing.result(judged, limit)) == ("FAIL: 0 cases worse by 5 % or more, 1 gone.")
    assert comparing.failures(judged, limit) == ["oneshot/sha1/tee/64: not measured any more"]


def test_cases_that_may_be_worse_are_counted() -> None:
    unsure = pair(0.04, "undecided", interval=Interval(0.99, 1.09))
    sure = pair(0.0, "same", "oneshot/sha1/tee/64", interval=Interval(0.99, 1.01))
    judged = compared(unsure, sure)
    assert plain(comparing.result(judged, Limit(share=0.05))) == (
        "PASS: no case is known to be worse by 5 % or more; of 2, 1 may be."
    )


# -- axes ----------------------------------------------------------------------------------------


def places(picture: str) -> list[float]:
    """Returns where dots lie."""
    boxes = re.findall(r"<rect [^>]*rx[^>]*>", picture)
    return [float(re.findall(r'\bx="([\d.-]+)"', box)[0]) + dots.RADIUS for box in boxes]


def test_equal_ratios_are_equal_distances_on_a_logarithmic_axis() -> None:
    row = dots.DotRow("", tuple(dots.Dot(value, "1", "") for value in (1.0, 10.0, 100.0)))
    low, middle, high = places(dots.render([row], 400, str))
    assert middle - low == pytest.approx(high - middle, abs=0.2)


def test_bars_to_both_sides_stay_in_the_chart() -> None:
    row = dots.DotRow("", tuple(dots.Dot(value, "1", "") for value in (-0.3, 0.05)))
    assert all(0 < place < 400 for place in places(dots.render([row], 400, str, around_0=True)))


def test_a_chart_has_the_ticks_around_its_curve() -> None:
    assert charts.levels(2.1, 45.0) == [2, 5, 10, 20, 50]


# -- causes --------------------------------------------------------------------------------------


def figures(run: RunData, key: str) -> dict[str, float]:
    return {figure.what: figure.value for figure in found(run)[key].figures}


def test_a_kibibyte_of_a_tas_data() -> None:
    run = made({f"ta-size/{kib}/tee/none": 50e3 + 100.0 * kib for kib in (32, 1024)}, 0.00001)
    assert figures(run, "ta-size-remap")["a KiB of the TA's data"] == pytest.approx(100, 0.005)


def test_read_only_memory_is_copied_byte_by_byte() -> None:
    run = made(buffers(registered_ro=(60e3, 360e3), allocated=(50e3, 100e3)), 0.00001)
    shown = figures(run, "shadow-copy")
    assert shown["copying, as a share of shm/allocated/tee/in/1048576"] == pytest.approx(
        2.5, rel=0.01
    )
    assert shown["a byte"] == pytest.approx(250e3 / (1048576 - 4096), rel=0.001)


def test_a_query_of_the_clock() -> None:
    cases = {f"time/ree/tee/{n}": 50e3 + n * 30e3 for n in (4, 16)}
    cases |= {f"time/system/tee/{n}": 50e3 + n * 1e3 for n in (4, 16)}
    assert figures(made(cases, 0.0001), "ree-time-rpc") == pytest.approx(
        {"TEE_GetREETime over TEE_GetSystemTime": 30, "TEE_GetREETime": 30e3}, rel=0.02
    )


def test_the_size_that_pays_most_for_temporary_memory_is_named() -> None:
    run = made(buffers(temporary=(75e3, 300e3), allocated=(50e3, 100e3)), 0.0001)
    (name, ratio), (_, extra) = figures(run, "tmpref-registration").items()
    assert name == "shm/temporary/tee/in/1048576 over shm/allocated/tee/in/1048576"
    assert (ratio, extra) == pytest.approx((3, 200e3), rel=0.01)


def test_random_bytes_without_the_call() -> None:
    cases = {EMPTY: 50e3, "rng/random/tee/64": 150e3, "rng/random/getrandom/64": 1e3}
    (ratio,) = figures(made(cases, 0.0001), "slow-rng").values()
    assert ratio == pytest.approx(100, rel=0.01)


def test_the_algorithm_that_lacks_the_instructions_most_is_named() -> None:
    cases = digests("sha1", tee=30.0, ta_ce=10.0) | digests("sha256", tee=40.0, ta_ce=10.0)
    (name, ratio), *_ = figures(made(cases, 0.0001), "no-crypto-extensions-in-tee").items()
    assert name == "a byte of sha256, tee over ta-ce"
    assert ratio == pytest.approx(4, rel=0.01)


def test_the_same_code_costs_a_share_of_a_byte() -> None:
    cause = found(made(digests("sha256", ta_c=30.0, c=10.0), 0.001))["same-code"]
    assert cause.costs is not None
    assert cause.costs.value == pytest.approx(1 - 1 / 3, rel=0.02)


def test_a_step_of_the_clock_is_a_share_of_the_shortest_sample() -> None:
    run = with_machine(made({EMPTY: 1e3, CASE: 1e6}, 0.0), "clock", resolution_ns=100)
    assert figures(run, "clock-resolution")["a step, of the shortest sample"] == pytest.approx(0.1)


def test_the_case_that_waited_most_lost_what_it_waited() -> None:
    run = made({EMPTY: 100e3, CASE: 10e6}, 0.0001)
    late = waiting(run, 50_000).cases[EMPTY]
    run = replace(waiting(run, 0), cases={**waiting(run, 0).cases, EMPTY: late})
    cause = found(run)["contention"]
    assert cause.costs is not None
    assert cause.figures[1].what == f"of {EMPTY}"
    assert cause.figures[1].value == pytest.approx(0.5, rel=0.01)
    assert cause.costs.value == cause.figures[0].value, "ranked by the time of all calls"


def test_the_clock_that_is_furthest_apart_is_named() -> None:
    one = Ground.of(made({EMPTY: 50e3}))
    counted: Any = {
        key: SimpleNamespace(key=key, answer="yes", deviation=share)
        for key, share in (("a", 0.001), ("b", -0.03))
    }
    finding = trust.two_clocks(replace(one, models=replace(one.models, counted=counted)))
    assert finding is not None
    assert "at most 3.0 % apart" in plain(finding.claim)
    assert f"Furthest apart: b {fmt.MINUS}3.0 %" in plain(finding.evidence)


def test_the_model_that_is_furthest_off_is_named() -> None:
    one = Ground.of(made({EMPTY: 50e3}))

    def off(backend: str, misfit: float) -> SimpleNamespace:
        worst = SimpleNamespace(residual=-misfit, x=4096.0)
        fit = SimpleNamespace(fits=False, misfit=misfit, worst=worst)
        return SimpleNamespace(fit=fit, algorithm="sha256", backend=backend)

    costs: Any = (off("tee", 0.2), off("ta-c", 0.4), off("c", 0.3))
    doubt = trust.misfits(replace(one, models=replace(one.models, costs=costs)))
    assert doubt is not None
    assert plain(doubt.evidence) == "The worst is SHA-256 by ta-c, 40 % off at 4 KiB."


def test_pieces_whose_model_may_be_off_are_not_advised() -> None:
    for off, nearly in ((0.01, True), (0.1, False)):
        assert choices._nearly(exactly(1.01), off) is nearly


def test_the_widest_interval_is_named() -> None:
    times = {EMPTY: scattered(50e3, 0.1), CASE: scattered(50e3, 0.4)}
    doubt = found(run_of(times))["scatter"]
    assert f"The interval of {CASE} spans" in doubt.evidence


def test_an_object_is_held_against_a_file() -> None:
    cases = {"storage/create/tee-ree-fs/16": 20e6, "storage/create/file-fsync/16": 2e6}
    shown = found(made(cases, 0.0001))["stored-objects"]
    assert shown.figures[0].value == pytest.approx(10, rel=0.01)
    assert "takes 10.0" in plain(shown.claim)


def test_many_short_calls_of_memset_are_no_slow_one() -> None:
    assert by_trace(call({"memset": (12_000, 10)}))["size-optimised-core"] == "ruled out"


def test_the_return_of_the_core_is_no_workaround() -> None:
    cause = found(made({EMPTY: 50e3}), call(QUIET, smcs=3))["spectre-workaround-smc"]
    assert cause.figures[0].value == 2


def test_what_hardly_counts_is_no_cause() -> None:
    traced = call(QUIET | {"thread_user_enable_vfp": (1, 1), "el0_sync_abort": (1, 1)})
    assert by_trace(traced)["lazy-vfp"] == "ruled out"


# -- keys ----------------------------------------------------------------------------------------


def ground(cases: Mapping[str, float]) -> Ground:
    return Ground.of(made(cases, 0.0001))


SIGN = {"sign/ecdsa-p256/tee/none": 2e6, "sign/ecdsa-p256/openssl/none": 0.2e6, EMPTY: 50e3}


def test_the_way_in_is_a_share_of_the_signature() -> None:
    finding = keys.signature_cost(ground(SIGN))
    assert finding is not None
    assert "The way into the TEE is 2.5 % of it" in plain(finding.claim)


def test_importing_has_each_step_once() -> None:
    steps = {"allocate": 10e3, "import": 100e3, "prepare": 190e3}
    cases = {f"key-steps/ecdsa-p256/tee/sign/{step}": ns for step, ns in steps.items()}
    finding = keys.key_kept(ground(SIGN | cases))
    assert finding is not None
    assert finding.figures[0].value == pytest.approx(300e3, rel=0.01)


def test_an_algorithm_that_ends_the_ta_does_not_work() -> None:
    run = made({"sign/ed25519/tee/none": 1e6, "sign/x448/tee/none": 1e6}, tee_says=False)
    ended = Skip(case="derive/x448/tee/none", code="ta-ended", reason="it died")
    finding = keys.says_and_does(Ground.of(replace(run, skips=(ended,))))
    assert finding is not None
    assert finding.claim == (
        "The TEE says that it hasn't ed25519, but they work. Using x448 ends the TA."
    )


def test_the_call_that_shares_memory_most_is_named() -> None:
    runs = [layers(memory, name).run for name, memory in (("hmac-sha256", 560), ("sha256", 300))]
    both = replace(runs[0], cases={**runs[0].cases, **runs[1].cases})
    finding = keys.pkcs11_memory(Ground.of(both))
    assert finding is not None
    assert "56 % of hmac-sha256, 30 % of sha256." in plain(finding.claim)


# -- choices -------------------------------------------------------------------------------------


def about(value: float, spread: float = 0.001) -> object:
    return estimate([scattered(value, spread)], f"{value} {spread}")


def test_a_choice_is_better_beyond_both_intervals_and_for_all_its_sizes() -> None:
    costs = {"a": {64: about(10.0), 4096: about(20.0)}, "b": {64: about(15.0), 4096: about(40.0)}}
    (choice,) = best("backend", "sha256", costs)  # type: ignore[arg-type]
    assert (choice.choose, choice.over, choice.first, choice.last) == ("a", "b", 64, 4096)
    assert choice.saves == pytest.approx(0.5, rel=0.01)
    near = {"a": {64: about(10.0, 0.3)}, "b": {64: about(11.0, 0.3)}}
    assert best("backend", "sha256", near) == ()  # type: ignore[arg-type]


def test_the_interval_of_a_saving_has_its_low_end_first() -> None:
    ratio = about(10.0, 0.1) / about(20.0, 0.1)  # type: ignore[operator]
    saved = Choice("backend", "sha256", "a", "b", 64, 64, ratio).saved
    assert saved is not None
    assert saved.low < 0.5 < saved.high


# -- interrupts ----------------------------------------------------------------------------------


def test_interrupts_of_the_idle_machine_are_not_the_calls() -> None:
    line = " 40: {} GIC 72 omap-sham"
    watched = Watched(
        calls=100,
        ns=20_000_000,
        user_us=1,
        sys_us=1,
        idle_ns=1_000_000,
        raised=((line.format(0), line.format(120)),),
        idle_raised=((line.format(0), line.format(1)),),
    )
    ((_, rate),) = device_lines(watched)
    assert rate == pytest.approx(1.0)


# -- documents -----------------------------------------------------------------------------------


def test_the_fastest_driver_is_the_one_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = (f"oneshot/sha256/afalg:{name}/4096" for name in ("slow", "fast"))
    judged = [Offload(key, "software", (), driver=key) for key in (slow, fast)]
    monkeypatch.setattr(measured, "offloads", lambda *_: judged)
    lookup = measured.Lookup(subject(made({slow: 40e3, fast: 10e3})))
    assert lookup._fastest("software", "oneshot/sha256", "4096") == fast


@pytest.mark.parametrize(
    ("emulated", "document", "ratio"),
    [(True, False, None), (True, True, 0.5), (False, False, 0.5), (False, True, None)],
)
def test_an_emulators_times_have_no_ratio_to_hardwares(
    emulated: bool, document: bool, ratio: float | None
) -> None:
    kind: Kind = "emulated" if emulated else "timed"
    figure = SimpleNamespace(
        value=1,
        base=SimpleNamespace(mid=100.0),
        corrected_unit="ms",
        document=SimpleNamespace(emulated=document),
    )
    cells: Any = SimpleNamespace(
        _figure=lambda *_: figure,
        _value=lambda *_: measured.Value(replace(exactly(50.0), kind=kind)),
        _of_means=lambda _: False,
        seed=SimpleNamespace(columns={"c": SimpleNamespace(sd_of=None)}),
        lookup=SimpleNamespace(subject=subject(made({EMPTY: 50e3}))),
    )
    run = cells.lookup.subject.run if emulated else on_silicon(cells.lookup.subject.run)
    cells.lookup.subject = subject(run)
    assert table._Cells._quotient(cells, "r", "c") == ratio


# -- over time -----------------------------------------------------------------------------------


def test_a_change_is_against_the_level_before_it() -> None:
    runs = [run_with({CASE: value}) for value in (1e5, 1e5, 2e5, 2e5, 3e5, 3e5)]
    (line,) = history.lines(runs)
    assert line.last_change == pytest.approx(0.5)
    (last, changes), (first, _) = history.events(runs, [line])
    assert (last, first) == (4, 2)
    assert changes[0].tells.change == pytest.approx(0.5)


# -- legs ----------------------------------------------------------------------------------------

ONE = CaseLegs("k", (100,), (((0, 10, 0xFFFF0000), (30, 50, 0)),), 0.0, Sampling())


def test_legs_requests_and_what_an_event_costs() -> None:
    assert ONE.dwell(None).value == 30
    assert ONE.working(None).value == 50 - 20
    assert ONE.served(None, exactly(100.0)).value == 20
    assert ONE.event(exactly(80.0)).value == (100 - 80) / 2


# -- terms ---------------------------------------------------------------------------------------


def test_a_cipher_pays_for_pages_twice_and_for_each_request() -> None:
    form = Form("message", 16, 0, cipher=True, by_kernel=True)
    base, more = form.row(65537)
    assert base["block"] == 4097
    assert more == {"page": 2 * 17.0, "request": 2.0}


@pytest.mark.parametrize(
    ("size", "terms"),
    [
        (0, {"feed": 0, "again": 0, "tail": 0}),
        (55, {"feed": 1, "again": 0, "tail": 1}),
        (56, {"feed": 1, "again": 1, "tail": 1}),
        (64, {"feed": 1, "again": 1, "tail": 0}),
    ],
)
def test_a_second_block_starts_the_function_again(size: int, terms: dict[str, float]) -> None:
    assert Form("message", 64, 9).row(size)[1] == terms


def test_a_prediction_that_is_too_high_is_off_to_the_right_side() -> None:
    measured = Ground.of(made({"stream/sha256/tee/4096/64": 100e3}, 0.0)).models.stats[0]
    assert Streamed(measured, exactly(110e3)).off == pytest.approx(0.1, rel=0.01)


# -- sections ------------------------------------------------------------------------------------


def test_counted_figures_run_from_the_least_to_the_most() -> None:
    from teemark.report.sections.cases import cases

    run = run_of({EMPTY: [100.0] * 18 + [90.0, 130.0]}, icount=True)
    ((head, row),) = tables(cases([subject(run)]))
    shown = dict(zip(head, row, strict=True))
    assert (shown["from instructions"], shown["to instructions"]) == ("90.0", "130")


def test_two_starts_are_said_to_be_two() -> None:
    from teemark.report.sections.headline import measured
    from test_figures import words

    run = Synthetic(starts=2, between=0.01, algorithms=("sha1",)).run()
    assert "its 2 starts" in plain(words(measured([subject(run)])))


def test_machines_of_four_processors_are_not_loaded_by_one_process() -> None:
    import test_doctor

    busy = test_doctor.board_facts(kernel={"load_average": 1.5}, cpu={"online": 4})
    assert "load" not in test_doctor.found(busy)
    past = test_doctor.board_facts(health={"throttled": "50000"})
    assert "throttled" not in test_doctor.found(past)
    now = test_doctor.board_facts(health={"throttled": "50005"})
    assert "too little voltage" in str(test_doctor.found(now)["throttled"])
