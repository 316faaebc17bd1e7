# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""rpi3-secure-hash: logs of four runs, notes, and a report on chunked and single-shot hashing."""

from __future__ import annotations

import math

from teemark.reference.audit.base import (
    checks,
    core_name,
    listed,
    microseconds,
    misfits,
    number,
)
from teemark.reference.audit.secure_hash_derived import DERIVED
from teemark.reference.audit.secure_hash_runs import (
    DOC,
    RUNS,
    bytes_per_second,
    in_run,
    mid,
    overhead_of,
)
from teemark.reference.data import Reference
from teemark.reference.span import Span


def trace_seconds(reference: Reference, run: str = "40MB") -> float:
    """How long the console needs for the line that the TA prints for each chunk."""
    line = reference.get(DOC, "runs", "Trace line of one chunk", run).text
    characters = len(line) + reference.constant("uart-line-end")
    return characters * reference.constant("uart-bits") / reference.constant("uart-baud")


def latency_is_total_over_calls(reference: Reference) -> list[str]:
    """Is the IPC latency a latency?"""
    shown = []
    for run in RUNS:
        latency = reference.get(DOC, "runs", "Average IPC latency", run)
        total, calls = in_run(reference, "Total Time", run), in_run(reference, "IPC Calls", run)
        if (Span(total.mid, total.mid, total.mid) / calls.mid).overlaps(latency.span):
            shown.append(
                f"{run}: {number(total.mid)} ÷ {calls.mid:.0f} = {latency.text} µs, of which "
                f"{number(mid(reference, 'Hash Compute Time', run) / calls.mid)} µs is hashing"
            )
    if not shown:
        return []
    return [
        "“Average IPC latency” is the total time divided by the number of calls, so it grows with "
        "the data a call carries and is no latency. " + "; ".join(shown) + "."
    ]


def trace_line_in_every_call(reference: Reference) -> list[str]:
    """How much of a call is the line it prints?"""
    line = reference.get(DOC, "runs", "Trace line of one chunk", "40MB").text
    figure = reference.get(DOC, "summary", "TEE overhead per IPC call", "chunked")
    seconds = trace_seconds(reference)
    low, high = figure.base.low, figure.base.high
    if seconds < 0.1 * low:
        return []
    baud = reference.constant("uart-baud")
    bits = reference.constant("uart-bits")
    sentence = (
        f"Every update printed a line on the serial console: {len(line)} characters and the end "
        f"of the line are {len(line) + reference.constant('uart-line-end'):.0f}, × {bits:.0f} "
        f"bits ÷ {number(baud, 6)} baud = {microseconds(seconds)}, which is "
        f"{100 * seconds / high:.0f} to {100 * seconds / low:.0f} % of the {figure.published} "
        "that a call is said to cost."
    )
    one_more = reference.constant("later-empty-call-one-more-line")
    empty = reference.constant("later-empty-call")
    if one_more > empty:
        sentence += (
            f" A later log of the same board has an empty call at {number(empty)} ms, and at "
            f"{number(one_more)} ms with one more line: {number(one_more - empty)} ms a line."
        )
    return [sentence]


def overhead_against_small_messages(reference: Reference) -> list[str]:
    """Does the cost of a call agree with rpi3-small-messages?"""
    here = reference.get(DOC, "summary", "TEE overhead per IPC call", "chunked")
    there = reference.get("rpi3-small-messages", "metrics", "Overhead per operation", "Value")
    floor = reference.get("rpi3-small-messages", "floor", "Minimum execution time", "value")
    factor = here.base.low / there.base.high
    if factor < 2:
        return []
    return [
        f"The overhead of a call is {here.published} here, and {there.put_right} in "
        f"“{there.document.title}” ({there.document.date}), on the same kind of board and for the "
        f"same chunk: a factor of {number(here.base.mid / there.base.mid)}. There, a whole hash of "
        f"up to 100 bytes takes {floor.published}, less than the "
        f"{microseconds(trace_seconds(reference))} of one trace line: what was measured here is "
        "largely the console."
    ]


def reading_and_tee_exceed_the_total(reference: Reference) -> list[str]:
    """Do reading and the time in the TEE fit into the total?"""
    shown = []
    for run in RUNS:
        read = mid(reference, "File Read I/O Time", run)
        tee = mid(reference, "TEE Time Delta", run)
        total = mid(reference, "Total Time", run)
        if read + tee > total + reference.constant("tee-clock-step"):
            shown.append(
                f"{run}: {number(read)} + {number(tee)} = {number(read + tee)} µs > "
                f"{number(total)} µs"
            )
    if not shown:
        return []
    return [
        "“TEE Time Delta” runs from the first call to the last, so it contains the reading of the "
        "file in the normal world: together they exceed the total. " + "; ".join(shown) + "."
    ]


def single_shot_exceeds_its_total(reference: Reference) -> list[str]:
    """Do the parts of the single-shot run fit into its total?"""

    def get(row: str) -> float:
        return reference.get(DOC, "single-shot", row, "Medium File").span.mid

    read, tee, total = get("File Read I/O"), get("Time in TEE"), get("Total Execution Time")
    if read + tee <= total + reference.constant("tee-clock-step"):
        return []
    return [
        f"Single-shot: {number(read)} µs of reading and {number(tee)} µs in the TEE are "
        f"{number(read + tee)} µs, which is {number(read + tee - total)} µs more than the total of "
        f"{number(total)} µs. One program that reads, then calls, can't do both at once."
    ]


def two_definitions_of_overhead(reference: Reference) -> list[str]:
    """Is overhead the same thing in both methods?"""

    def get(row: str) -> float:
        return reference.get(DOC, "single-shot", row, "Medium File").span.mid

    published = get("Overhead in TEE")
    chunked_way = get("Total Execution Time") - get("File Read I/O") - get("Hash Compute Time")
    calls = mid(reference, "IPC Calls", "40MB")
    tee_way = mid(reference, "TEE Time Delta", "40MB") - mid(reference, "Hash Compute Time", "40MB")
    if abs(chunked_way - published) <= max(1000.0, 0.25 * abs(published)):
        return []
    return [
        f"The two methods are compared by two formulas. Chunked overhead is total − reading − "
        f"hashing; by it the single-shot run has {number(chunked_way)} µs. Single-shot overhead is "
        f"TEE time − hashing = {number(published)} µs; by that the 40 MB run has "
        f"{number(tee_way)} µs, {microseconds(tee_way / calls / 1e6)} a call."
    ]


def single_shot_was_another_file(reference: Reference) -> list[str]:
    """Did both methods hash the same file, from the same cache?"""
    hashing = reference.get(DOC, "single-shot", "Hash Compute Time", "Medium File").span.mid / 1e6
    reading = reference.get(DOC, "single-shot", "File Read I/O", "Medium File").span.mid / 1e6
    rates = [bytes_per_second(reference, run) for run in RUNS]
    size = hashing * sum(rates) / len(rates)
    files = [
        reference.get(DOC, "medium-files", "File Size", column)
        for column in ("4.8MB JSON", "6.2MB PDF")
    ]
    if any(abs(size / figure.base.mid - 1) < 0.1 for figure in files):
        return []
    reads = {
        run: mid(reference, "File Size", run) / mid(reference, "File Read I/O Time", run)
        for run in RUNS
    }
    return [
        f"The single-shot “medium file” isn't one of the others: at the "
        f"{number(min(rates) / 1e6)} to {number(max(rates) / 1e6)} MB/s of the chunked runs, "
        f"{microseconds(hashing)} of hashing is {number(size / 1e6, 3)} MB, not "
        f"{listed([figure.published for figure in files])}. It was read at "
        f"{number(size / reading / 1e6, 3)} MB/s, like the cold run "
        f"({number(reads['4.5MB cold'], 3)} MB/s) and unlike the warm ones "
        f"({number(reads['4.5MB warm'], 3)} MB/s and more): the comparison is cold against warm."
    ]


def tee_times_are_whole_milliseconds(reference: Reference) -> list[str]:
    """Can the clock in the TEE resolve what is said?"""
    step = reference.constant("tee-clock-step")
    rows = ("Hash Compute Time", "TEE Time Delta", "REE Time Delta")
    times = [mid(reference, row, run) for row in rows for run in RUNS]
    overhead = reference.get(DOC, "single-shot", "Overhead in TEE", "Medium File").span.mid
    if any(time % step for time in times) or overhead > 20 * step:
        return []
    return [
        f"All {len(times)} times taken in the TEE are multiples of {step:.0f} µs: the clock ticks "
        f"once a millisecond. The single-shot overhead of {number(overhead)} µs is a difference of "
        f"two such times, so it is known to ± {number(2 * step)} µs, "
        f"{100 * 2 * step / overhead:.0f} % of itself."
    ]


def one_rpc_for_two_times(reference: Reference) -> list[str]:
    """Does the number of RPCs suffice for what was read over them?"""
    counts = {mid(reference, "RPC Count", run) for run in RUNS}
    needed = reference.constant("ree-time-readings")
    if max(counts) >= needed:
        return []
    return [
        f"“RPC Count: {max(counts):.0f}” is kept by hand and is too low: “REE Time Delta” is a "
        f"difference of {needed:.0f} readings, each one an RPC, and each run also loaded the TA "
        "from the normal world's file system, as its log shows."
    ]


def calls_left_out(reference: Reference) -> list[str]:
    """Are all calls counted?"""
    shown = []
    for run in RUNS:
        counted = mid(reference, "IPC Calls", run)
        chunks = math.ceil(mid(reference, "File Size", run) / mid(reference, "Chunk Size", run))
        other = mid(reference, "Other entries of the TA in the log", run)
        if counted < chunks + 2 + other:
            shown.append(f"{run}: {counted:.0f} counted, {chunks + 2 + other:.0f} in the log")
    if not shown:
        return []
    return [
        "“IPC Calls” counts the first, the last and one a chunk; opening the session, fetching the "
        "statistics and closing the session enter the secure world too. " + "; ".join(shown) + "."
    ]


def overhead_of_another_file(reference: Reference) -> list[str]:
    """Is each overhead that of its own file?"""
    figure = reference.get(DOC, "overhead", "4.8MB JSON", "Average per Call")
    overhead = overhead_of(reference, "4.5MB warm").mid
    calls = mid(reference, "IPC Calls", "4.5MB warm")
    if math.floor(overhead / calls) != figure.span.mid:
        return []
    other = reference.get(DOC, "medium-files", "File Size", "4.8MB JSON")
    return [
        f"The {figure.put_right} a call of the {other.published} file is digit for digit that of "
        f"the 4.5 MB file's log: {number(overhead)} ÷ {calls:.0f} = "
        f"{number(overhead / calls, 7)} µs, cut off. It seems to be that run's figure."
    ]


def share_is_not_constant(reference: Reference) -> list[str]:
    """Is the share of the overhead the same for all sizes?"""
    shares = {
        run: 100 * overhead_of(reference, run).mid / mid(reference, "Total Time", run)
        for run in ("4.5MB warm", "40MB", "100MB")
    }
    if max(shares.values()) < 1.15 * min(shares.values()):
        return []
    per_mib = {
        run: mid(reference, "IPC Calls", run) / (mid(reference, "File Size", run) / 2**20)
        for run in shares
    }
    return [
        "The share of the overhead isn't “consistent regardless of file size”: "
        + listed([f"{number(share, 3)} % ({run})" for run, share in shares.items()])
        + ". The first and last call cost the same for every file, so a small file makes more "
        "calls per MiB: "
        + listed([f"{number(calls, 3)} ({run})" for run, calls in per_mib.items()])
        + "."
    ]


def hashing_too_slow_for_the_core(reference: Reference) -> list[str]:
    """Does the hashing rate fit the core and its clock?"""
    return cycles(reference, bytes_per_second(reference, "40MB"), "The 40 MB file")


def cycles(reference: Reference, rate: float, what: str) -> list[str]:
    """SHA-256 on a Raspberry Pi 3 against what is published for its core."""
    clock = reference.constant("rpi3-clock") * 1e9
    core = reference.words("rpi3-core")
    published = [
        row for row in reference.cycles_for(core, "sha256") if row.implementation == "scalar"
    ]
    measured = clock / rate
    best = min(float(row.cycles) for row in published)
    if measured < 2 * best:
        return []
    return [
        f"{what}: {number(clock / 1e9)} GHz ÷ {number(rate / 1e6)} MB/s is "
        f"{number(measured, 3)} cycles a byte, where {number(best)} are published for plain code "
        f"on a {core_name(core)} ({published[0].source}): {number(measured / best, 2)} times as "
        f"many. Such code at this rate would mean a clock of {number(rate * best / 1e6, 3)} MHz; "
        "the clock and the compiler's options deserve a look."
    ]


def secure_hash_derived_figures(reference: Reference) -> list[str]:
    """Does every derived figure follow from its sources?"""
    return misfits(reference, DOC, DERIVED)


CHECKS = checks(
    DOC,
    ("mislabelled", "runs", latency_is_total_over_calls),
    ("mislabelled", "overhead summary", trace_line_in_every_call),
    ("contradiction", "overhead", overhead_against_small_messages),
    ("contradiction", "profile", share_is_not_constant),
    ("impossible", "runs", reading_and_tee_exceed_the_total),
    ("impossible", "single-shot", single_shot_exceeds_its_total),
    ("contradiction", "single-shot method-comparison", two_definitions_of_overhead),
    ("contradiction", "single-shot method-comparison", single_shot_was_another_file),
    ("unsupported", "single-shot", tee_times_are_whole_milliseconds),
    ("contradiction", "runs overhead-notes", one_rpc_for_two_times),
    ("mislabelled", "runs overhead-notes", calls_left_out),
    ("copied", "overhead medium-files", overhead_of_another_file),
    ("unsupported", "large-files runs", hashing_too_slow_for_the_core),
    (
        "contradiction",
        "runs large-files medium-files overhead-notes overhead profile single-shot",
        secure_hash_derived_figures,
    ),
)
