# SPDX-License-Identifier: BSD-2-Clause
"""Findings of runs whose truth is known: both sides of each threshold, and undecided between."""

import re
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from synthetic import Synthetic, run_of, run_with, scattered
from teemark.base.finding import Finding
from teemark.findings.ground import Ground
from teemark.findings.rules import judge
from teemark.model import models
from teemark.run import reader
from teemark.run.reader import RunData
from teemark.run.records import Skip
from teemark.wording import fmt

SIZES = (0, 56, 64, 1024, 4096, 65536, 1048576)
EMPTY = "invoke/none/tee/none"
NBSP, THIN, MINUS = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "−"  # noqa: RUF001


def blocks(n: int) -> int:
    return -(-(n + 9) // 64)


def digests(call: float, byte: float, backend: str) -> dict[str, float]:
    return {f"oneshot/sha256/{backend}/{n}": call + 64 * byte * blocks(n) for n in SIZES}


def said(of: RunData) -> dict[str, Finding]:
    return {finding.key: finding for finding in judge(Ground.of(of))}


def plain(text: str | None) -> str:
    return (text or "").replace(NBSP, " ").replace(THIN, " ")


# -- the empty call -------------------------------------------------------------------------------


def test_an_empty_call_with_its_interval() -> None:
    found = said(run_with({EMPTY: 57_200}, 0.02, loops=1))["empty-call"]
    assert plain(found.claim) == "A call into the TEE costs 57.2 µs before it does anything."
    assert plain(found.evidence).startswith("95 % interval of the median 56.")
    assert "20 samples; 95 of 100 calls take less than 58.9" in plain(found.evidence)
    assert found.sure


def test_of_samples_of_many_calls_no_quantile_of_calls_is_said() -> None:
    found = said(run_with({EMPTY: 57_200}, 0.02, loops=4))["empty-call"]
    assert "95 of 100" not in found.evidence
    assert "95 of 100" not in said(run_with({EMPTY: 57_200}, 0.02, count=19))["empty-call"].evidence


def test_an_exact_call_is_counted() -> None:
    times = [57_184.0] * 9 + [57_232.0] * 2
    found = said(run_of({EMPTY: times}, icount=True))["empty-call"]
    assert (
        plain(found.claim)
        == "A call into the TEE costs 57 184 instructions before it does anything."
    )
    assert plain(found.evidence) == (
        "The median of 11 samples; within the run they lie between 57 184 and 57 232."
    )
    alike = said(run_of({EMPTY: [57_184.0] * 11}, icount=True))["empty-call"]
    assert alike.evidence == "The median of 11 samples; within the run they are all alike."


def test_too_few_samples_are_never_sure() -> None:
    """Not even when they are all alike."""
    found = said(run_with({EMPTY: 57_200}, 1e-9, count=5))["empty-call"]
    assert not found.sure
    assert found.evidence == "Too few samples for an interval; 5 samples."
    assert said(run_with({EMPTY: 57_200}, 1e-9, count=6))["empty-call"].sure


@pytest.mark.parametrize(("spread", "sure"), [(0.1, True), (0.5, False)])
def test_a_call_that_is_known_badly(spread: float, sure: bool) -> None:
    found = said(run_with({EMPTY: 57_200}, spread))
    assert found["empty-call"].sure is sure
    assert ("scatter" in found) != sure


# -- the way in and out ---------------------------------------------------------------------------


def test_the_way_is_an_empty_call_where_no_counter_tells() -> None:
    """Not the intercept, which has in it what every message costs inside: setting up 30,000, and
    12 blocks of 2,560 make as much as the way."""
    found = said(run_with({EMPTY: 60_000} | digests(90_000, 40, "tee")))["call-outweighs-compute"]
    assert (
        plain(found.claim) == "Getting in and out of the TEE costs as much as the SHA-256 of 690 B."
    )
    assert "As long as an empty call, since the TA can't read a counter" in found.evidence
    assert "60 000 instructions" in plain(found.evidence)
    assert "from 12 KiB a call on" in plain(found.advice)


def test_the_way_is_by_the_counter_where_there_is_one() -> None:
    exact = Synthetic(counter=1.0, identical=True).run()
    found = said(exact)["call-outweighs-compute"]
    assert "By the TA's counter, the way in and out, with the buffers" in plain(found.evidence)
    assert "takes 408 75" in plain(found.evidence)
    assert "the SHA-256 of 19 KiB" in plain(found.claim)  # 408,750 / 20.6


def test_no_way_no_verdict() -> None:
    assert "call-outweighs-compute" not in said(run_with(digests(90_000, 40, "tee")))
    assert "call-outweighs-compute" not in said(run_with({EMPTY: 60_000}))


# -- rates ----------------------------------------------------------------------------------------

RATES = {
    "same-code": ("ta-c", "c"),
    "extensions": ("tee", "ta-ce"),
    "inside-and-outside": ("tee", "openssl"),
}
SIDES = (
    ("undecided", "undecided"),
    ("only ", "faster"),
    ("faster than", "faster"),
    ("as fast", "same"),
    ("as much, to within", "same"),
    ("as much", "slower"),
    ("as many", "slower"),
    ("With the CPU's", "slower"),
)
"""Words of a claim, and what they mean; the first that is found counts."""


def side_of(finding: Finding) -> str:
    return next(side for words, side in SIDES if words in finding.claim)


@pytest.mark.parametrize("key", RATES)
@pytest.mark.parametrize(
    ("ratio", "spread", "side"),
    [
        (1.0, 0.01, "same"),
        (1.03, 0.01, "same"),
        (0.97, 0.01, "same"),
        (1.05, 0.02, "undecided"),
        (0.952, 0.02, "undecided"),
        (1.08, 0.01, "slower"),
        (0.92, 0.01, "faster"),
        (0.3, 0.01, "faster"),
        (30.0, 0.01, "slower"),
        (1.0, 0.5, "undecided"),
        (1.049, 0.0, "same"),
        (1.051, 0.0, "slower"),
        (1 / 1.049, 0.0, "same"),
        (1 / 1.051, 0.0, "faster"),
    ],
)
def test_rates(key: str, ratio: float, spread: float, side: str) -> None:
    one, other = RATES[key]
    of = run_with(digests(80_000, 20 * ratio, one) | digests(90_000, 20, other), spread)
    finding = said(of)[key]
    assert side_of(finding) == side
    assert finding.figures[0].value == pytest.approx(ratio, rel=0.05)
    assert finding.sure == (side != "undecided")
    assert (finding.status == "undecided") == (side == "undecided")
    if side == "undecided" and spread == 0.5:
        assert plain(finding.advice).startswith("About ")
        assert plain(finding.advice).endswith("more samples a case would decide.")


def test_a_small_difference_is_said_as_it_is() -> None:
    found = said(run_with(digests(80_000, 28.8, "ta-c") | digests(250, 28.7, "c")))["same-code"]
    assert plain(found.claim) == (
        "The very same C source of SHA-256 is as fast in the TEE as outside, to within 5 %: it "
        "takes 0.35 % more instructions a byte."
    )
    less = said(run_with(digests(80_000, 28.7, "ta-c") | digests(250, 28.8, "c")))["same-code"]
    assert plain(less.claim).endswith("it takes 0.35 % fewer instructions a byte.")


def test_words_of_rates() -> None:
    slower = said(run_with(digests(8e4, 40, "ta-c") | digests(250, 20, "c"), 0.01))["same-code"]
    assert plain(slower.claim).startswith(
        "The very same C source of SHA-256 takes 2.0× (95 % interval "  # noqa: RUF001
    )
    assert plain(slower.claim).endswith("as much time a byte in the TEE as outside.")
    faster = said(run_with(digests(8e4, 10, "ta-c") | digests(250, 20, "c")))["same-code"]
    assert plain(faster.claim).endswith(
        "takes only 0.50× as many instructions a byte in the TEE as outside."  # noqa: RUF001
    )
    run = run_with(digests(8e4, 60, "tee") | digests(8e4, 2, "ta-ce") | digests(9e2, 2, "openssl"))
    found = said(run)
    cause = found["no-crypto-extensions-in-tee"]
    assert "CFG_CRYPTO_WITH_CE=y" in cause.remedy
    assert plain(cause.advice).endswith("It saves 97 % of a byte of SHA-256.")
    assert plain(found["extensions"].claim) == (
        "With the CPU's crypto instructions in the TA it takes 2.00 instructions a byte."
    )
    assert not found["extensions"].advice, "the cause says it"
    assert plain(found["inside-and-outside"].claim) == (
        "SHA-256 inside takes 60.0 instructions a byte, outside (OpenSSL) 2.00: 30 times as much."
    )
    same = said(run_with(digests(8e4, 2, "tee") | digests(8e4, 2, "ta-ce")))["extensions"]
    assert not same.advice
    timed = said(run_with(digests(8e4, 60, "tee") | digests(8e4, 2, "ta-ce"), 0.01))["extensions"]
    assert re.search(r"“TEE API” takes .* ns a byte \(95 % interval", plain(timed.evidence))


def test_a_model_that_misses_makes_its_verdict_unsure() -> None:
    times = digests(8e4, 40, "ta-c") | digests(250, 20, "c")
    times["oneshot/sha256/c/4096"] *= 1.5
    found = said(run_with(times))
    same = found["same-code"]
    assert "a byte of a message of" in same.evidence, "as measured: the model doesn't hold"
    assert "1 model of 2 is more than 10 % off" in plain(found["misfit"].claim)
    assert "SHA-256 by c" in found["misfit"].evidence
    assert "at 4 KiB" in plain(found["misfit"].evidence)


# -- against OpenSSL, and the kernel --------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["ta-c", "c"])
def test_a_rate_below_zero_is_compared_with_nothing(wrong: str) -> None:
    times = digests(8e4, 40, "ta-c") | digests(250, 20, "c")
    times |= digests(5e8, -20, wrong)
    assert "same-code" not in said(run_with(times))


@pytest.mark.parametrize(("off", "sure"), [(1.0, True), (1.5, False)])
def test_the_way_against_a_model_that_misses(off: float, sure: bool) -> None:
    times = {EMPTY: 60_000} | digests(60_000, 40, "tee")
    times["oneshot/sha256/tee/4096"] *= off
    found = said(run_with(times))
    if not sure:
        assert "call-outweighs-compute" not in found, "nothing is calculated with it"
    else:
        assert found["call-outweighs-compute"].sure


def test_against_openssl_at_both_ends() -> None:
    of = run_with(digests(80_000, 60, "tee") | digests(800, 2, "openssl"))
    found = said(of)["inside-and-outside"]
    assert plain(found.evidence) == (
        "A whole message: at 64 B 83 times as much (87 680 against 1056 "
        "instructions), at 1 MiB 30 times as much (62 998 400 against 2 098 080 "
        "instructions)."
    )
    noisy = said(run_with(digests(80_000, 60, "tee") | digests(800, 2, "openssl"), 0.5))
    assert not noisy["inside-and-outside"].sure
    assert "interval" in noisy["inside-and-outside"].claim


def kernel(of: Callable[[int], float], spread: float = 0.0) -> list[str]:
    """Returns what is said of the kernel's SHA-256 beside OpenSSL's, with 2 a byte."""
    times = {f"oneshot/sha256/afalg/{n}": of(n) for n in SIZES}
    run = run_with(times | digests(1000, 2, "openssl"), spread)
    return [plain(one.claim) for one in judge(Ground.of(run)) if one.key == "backend/sha256"]


@pytest.mark.parametrize("spread", [0.0, 0.01])
def test_the_kernel_pays_off_from_a_size_that_was_measured(spread: float) -> None:
    small, large = kernel(lambda n: 10_000 + 64 * blocks(n), spread)  # breaks even at 9 KiB
    assert "openssl" in small.partition(";")[0]
    assert "to 4 KiB" in small
    assert large.startswith("SHA-256: afalg")
    assert "from 64 KiB to 1 MiB" in large


def test_nothing_is_extrapolated() -> None:
    """It would pay off at 1.6 MiB; nobody measured there."""
    (said,) = kernel(lambda n: 85_000 + 64 * 1.95 * blocks(n))
    assert "openssl is the choice with the fewest instructions from 56 B to 1 MiB" in said


def test_the_kernel_may_be_faster_everywhere_or_lose_in_the_end() -> None:
    (said,) = kernel(lambda n: 10 + n)
    assert "afalg is the choice with the fewest instructions from 56 B to 1 MiB" in said
    first, last = kernel(lambda n: 500 + 64 * 3 * blocks(n))
    assert ("to 64 B" in first, "from 1 KiB" in last) == (True, True)


def test_what_is_as_fast_is_not_advised() -> None:
    assert not kernel(lambda n: 1000 + 64 * 2 * blocks(n))
    assert not kernel(lambda n: 1000 + 64 * 2 * blocks(n), 0.05)


# -- ratios with a threshold ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "status"),
    [(100e6, "found"), (430_000, "found"), (420_500, "undecided"), (400_000, "ruled out")],
)
def test_a_session_is_worth_keeping(first: float, status: str) -> None:
    times = {EMPTY: 400_000, "session/first-open/tee/none": first}
    found = said(run_with(times, 0.01))["ta-load-first-call"]
    assert (found.status, found.sure) == (status, status != "undecided")


def test_words_of_sessions() -> None:
    times = {EMPTY: 4e5, "session/first-open/tee/none": 1e8, "session/open/tee/none": 7e5}
    found = said(run_with(times, 0.01))["ta-load-first-call"]
    assert "as 250 empty calls" in found.claim
    assert "100 ms" in plain(found.evidence)
    assert "700 µs" in plain(found.evidence)


@pytest.mark.parametrize(
    ("temporary", "status"),
    [
        (3e6, "found"),
        (1.1e6, "found"),
        (1.05e6, "undecided"),
        (1e6, "ruled out"),
        (5e5, "ruled out"),
    ],
)
def test_buffers_are_worth_allocating(temporary: float, status: str) -> None:
    times = {"shm/temporary/tee/in/1048576": temporary, "shm/allocated/tee/in/1048576": 1_000_000}
    found = said(run_with(times, 0.01))["tmpref-registration"]
    assert (found.status, found.sure) == (status, status != "undecided")
    assert ("1 MiB" in plain(found.advice)) == (status == "found")


def test_buffers_that_are_dearer_at_one_size_alone() -> None:
    """1.72 times at 64 B, and the same at 1 MiB: the largest size alone would clear them."""
    times = {
        "shm/temporary/tee/in/64": 98_000,
        "shm/allocated/tee/in/64": 57_000,
        "shm/temporary/tee/in/1048576": 1_041_000,
        "shm/allocated/tee/in/1048576": 1_000_000,
    }
    found = said(run_with(times))["tmpref-registration"]
    assert (found.status, plain(found.advice).split(". ")[-1]) == (
        "found",
        "It saves 42 % of a call with 64 B in temporary memory.",
    )
    times["shm/temporary/tee/in/1048576"] = 1_200_000  # found at both: the dearer one is said
    assert "64 B" in plain(said(run_with(times))["tmpref-registration"].advice)


@pytest.mark.parametrize(("plain_file", "answer"), [(7e6, "yes"), (7e7, "undecided"), (9e7, "no")])
def test_storage_is_compared_with_what_is_on_the_disk(plain_file: float, answer: str) -> None:
    times = {
        EMPTY: 57_200.0,
        "storage/create/tee-ree-fs/7000": 70e6,
        "storage/create/file-fsync/7000": plain_file,
        "storage/create/file/7000": 4_000,
    }
    of = run_with(times, 0.02, rpcs_per_call=31)
    found = said(of)["stored-objects"]
    assert (found.status == "undecided") == (answer == "undecided") == (not found.sure)
    assert "7000 B" in plain(found.claim)
    assert "31.0 times" in found.evidence
    assert ("10.0×" in found.claim) == (answer == "yes")  # noqa: RUF001
    assert bool(found.advice) == (answer != "no")
    del times["storage/create/file-fsync/7000"]
    assert "stored-objects" not in said(run_with(times, 0.02))


@pytest.mark.parametrize(
    ("own", "status", "severity"),
    [(5, "found", "note"), (10, "undecided", "note"), (20, "found", "caution")],
)
def test_what_measuring_itself_adds(own: float, status: str, severity: str) -> None:
    times = {"invoke/none/empty/none": own, "oneshot/sha256/c/0": 1000.0}
    found = said(run_with(times, 0.01, loops=1000))["harness"]
    assert (found.status, found.severity) == (status, severity)
    assert found.sure == (status != "undecided")


def test_words_of_the_harness() -> None:
    def words(own: float) -> Finding:
        times = {"invoke/none/empty/none": own, "oneshot/sha256/c/0": 1000.0}
        return said(run_with(times, 0.01, loops=1000))["harness"]

    assert plain(words(5).claim) == "Measuring itself adds 0.50 % to the smallest case."
    assert plain(words(20).claim) == "Measuring itself is 2.0 % of the smallest case."
    assert plain(words(10).claim).startswith("Whether measuring itself is more than 1 % of the")


def test_shared_buffers_that_are_known_badly() -> None:
    """Surely slower, by nobody knows how much."""
    times = {"shm/temporary/tee/in/64": 9e6, "shm/allocated/tee/in/64": 1e6}
    found = said(run_with(times, 0.3))["tmpref-registration"]
    assert (found.status, found.sure) == ("found", False)


def test_an_interval_that_holds_0_is_not_distinguishable_from_it() -> None:
    """Though the median lies above."""
    own = [0.0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    of = run_of({"invoke/none/empty/none": own, "oneshot/sha256/c/0": [1000.0] * 11})
    assert said(of)["harness"].claim == "What measuring itself adds is not distinguishable from 0."


def test_nothing_is_not_distinguishable_from_0() -> None:
    of = run_of(
        {"invoke/none/empty/none": [0.0] * 6 + [5.0] * 3, "oneshot/sha256/c/0": [1000.0] * 9}
    )
    assert "more than ten times the median" in said(of)["scatter"].evidence
    assert said(of)["harness"].claim == "What measuring itself adds is not distinguishable from 0."
    assert fmt.cost(of, -3.0) == "not distinguishable from 0"
    assert fmt.cost_cell(of, models.build(of).stats[0].estimate) == "not distinguishable from 0"


# -- what is wrong with a run ---------------------------------------------------------------------


def test_a_fixed_pool_of_shared_memory_is_found_by_what_the_board_says_of_itself() -> None:
    """Not by its name. The largest buffer is told to the byte, and so is what was too large."""

    def on(*capabilities: str, pool: int | None = None, skips: tuple[Skip, ...] = ()) -> RunData:
        of = run_with(
            {
                f"shm/{kind}/tee/in/1048576": ns
                for kind, ns in (("temporary", 3e5), ("allocated", 1e5))
            },
            0.01,
        )
        facts = msgspec.structs.replace(
            of.machine.tee, capabilities=capabilities or None, pool_bytes=pool
        )
        return replace(of, machine=msgspec.structs.replace(of.machine, tee=facts), skips=skips)

    words = {"type": "skip", "case": "shm/allocated/tee/in/4194304", "code": "no-memory"}
    skip = msgspec.convert(words | {"reason": "TEE_ERROR_OUT_OF_MEMORY"}, Skip)
    told = said(on("GlobalPlatform", pool=4_190_208, skips=(skip,)))
    found = told["shared-memory-pool"]
    assert "".join(filter(str.isdigit, found.claim)).startswith("4190208")
    assert (found.figures[0].value, found.sure) == (4_190_208, True)
    assert skip.case in found.evidence
    assert "copied into the pool" in told["tmpref-registration"].claim
    assert not said(on("GlobalPlatform"))["shared-memory-pool"].sure  # an older teebench's run
    for dynamic in (on("GlobalPlatform", "registered memory", skips=(skip,)), on()):
        told = said(dynamic)
        assert "shared-memory-pool" not in told
        assert "registered and released" in told["tmpref-registration"].claim


def test_a_defect_of_the_tee_is_a_caution() -> None:
    key = "storage/truncate/tee-ree-fs/65536"
    skip = msgspec.convert(
        {"case": key, "code": "tee-defect", "reason": "it loses objects", "hint": "Create anew."}
        | {"type": "skip"},
        Skip,
    )
    of = replace(run_with({EMPTY: 1.0}), skips=(skip,))
    found = said(of)["tee-defect"]
    assert (found.severity, found.advice) == ("caution", "Create anew.")
    assert found.claim.endswith("it loses objects.")
    assert key in found.evidence
    other = msgspec.structs.replace(skip, code="no-rpmb")
    assert "tee-defect" not in said(replace(of, skips=(other,)))


def test_medians_that_are_known_badly_are_counted() -> None:
    of = run_of(
        {
            "invoke/none/tee/none": scattered(1000, 0.4),
            "oneshot/sha256/c/0": scattered(1100, 0.01),
            "oneshot/sha256/c/1": [5.0] * 3,
        }
    )
    found = said(of)["scatter"]
    assert plain(found.claim) == (
        "1 median of 3 is known to no better than 10 % either way, and 1 median of 3 has too few "
        "samples for an interval."
    )
    assert "invoke/none/tee/none spans" in plain(found.evidence)
    assert "oneshot/sha256/c/1 has 3 samples" in plain(found.evidence)
    assert "scatter" not in said(run_of({"oneshot/sha256/c/0": scattered(1000, 0.01)}))


def test_what_waits_is_timed_on_a_board_that_counts() -> None:
    """Its clock goes on: there is an interval, or none, and no count."""
    waits = [2e8, 1.6e8, 2.3e8, 2.1e8, 1.9e8, 2.2e8, 2.4e8, 1.7e8]
    times = {
        "storage/create/tee-ree-fs/256": waits,
        "storage/create/file-fsync/256": [194_840.0] * 7 + [9e6],
        EMPTY: [57_200.0] * 8,
    }
    found = said(run_of(times, icount=True))
    assert plain(found["waited"].claim) == (
        "1 case of 3 is timed, not counted: half of its samples lie over 1 % apart."
    )
    assert "storage/create/tee-ree-fs/256 took 160 ms to 240 ms." in plain(found["waited"].evidence)
    assert found["waited"].severity == "caution"
    stored = found["stored-objects"]
    assert plain(stored.evidence).startswith("205 ms against 195 µs (medians).")
    assert stored.status == "undecided", "nothing follows from such times"
    assert "takes longer than writing a file through to the disk is undecided" in stored.claim
    assert "nothing follows from such times" in stored.remedy, "more samples would not decide"
    assert stored.rank == 0
    few = {key: values[:3] for key, values in times.items()}
    assert "is undecided" in said(run_of(few, icount=True))["stored-objects"].claim
    assert "waited" not in said(run_of({EMPTY: [57_200.0] * 7 + [58_000.0]}, icount=True))
    assert "waited" not in said(run_of(times))


@pytest.mark.parametrize(("apart", "exact"), [(0.0099, True), (0.0101, False)])
def test_how_far_apart_counts_may_lie(apart: float, exact: bool) -> None:
    """The middle half of them; a few may be far off."""
    of = run_of({EMPTY: [1e5] * 2 + [1e5 + 1e5 * apart] * 2}, icount=True)
    low, high = 1e5, 1e5 * (1 + apart)
    assert (high - low) / ((low + high) / 2) == pytest.approx(apart, rel=0.01)
    assert models.build(of).stats[0].estimate.exact is exact
    outlier = run_of({EMPTY: [1e5] * 9 + [2e5]}, icount=True)
    assert models.build(outlier).stats[0].estimate.exact


def test_what_is_spoken_of() -> None:
    """SHA-256, or else the first algorithm that both have."""
    sha1 = {k.replace("sha256", "sha1"): v for k, v in digests(8e4, 20, "ta-c").items()}
    sha1 |= {k.replace("sha256", "sha1"): v for k, v in digests(300, 20, "c").items()}
    assert "SHA-1" in said(run_with(sha1))["same-code"].claim
    both = sha1 | digests(8e4, 20, "ta-c") | digests(300, 20, "c")
    assert "SHA-256" in said(run_with(both))["same-code"].claim
    assert "same-code" not in said(run_with(digests(8e4, 20, "ta-c")))


def test_starts_are_what_decides_between_starts() -> None:
    """The same samples, as one start and as four that differ: only the former are sure."""
    of = run_with(digests(8e4, 20, "ta-c") | digests(300, 20, "c"), 0.001)
    shifts = (1.0, 1.08, 0.93, 1.02)

    def started(measured: reader.MeasuredCase) -> reader.MeasuredCase:
        factors = shifts if measured.record.backend == "c" else (1.0,) * 4
        samples = tuple(
            tuple(msgspec.structs.replace(s, ns=int(s.ns * factor)) for s in measured.samples)
            for factor in factors
        )
        return replace(measured, starts=samples)

    many = replace(of, cases={key: started(case) for key, case in of.cases.items()})
    one, four = said(of)["same-code"], said(many)["same-code"]
    assert (side_of(one), side_of(four)) == ("same", "undecided")
    assert re.search(r"About \d+ more starts? a case", plain(four.advice))


def test_every_finding_has_words() -> None:
    for synthetic in (Synthetic(counter=1.0), Synthetic(identical=True), Synthetic(samples=3)):
        for finding in said(synthetic.run()).values():
            if finding.status == "found" or finding.topic != "cause":
                assert finding.claim.endswith(".")
            assert finding.claim or finding.evidence or finding.lacks or finding.topic == "board"
            assert "None" not in f"{finding.claim} {finding.evidence} {finding.advice}"
