# SPDX-License-Identifier: BSD-2-Clause
"""rpi3-small-messages: the floor for tiny messages, the rate for large ones, 1.6 µs a chunk."""

from __future__ import annotations

from teemark.reference.audit import secure_hash
from teemark.reference.audit.base import Derived, checks, microseconds, misfits, number
from teemark.reference.audit.secure_hash_runs import bytes_per_second
from teemark.reference.data import Reference
from teemark.reference.span import Span

DOC = "rpi3-small-messages"


def crossing_leaves_no_time_to_map(reference: Reference) -> list[str]:
    """Is the cost of a call enough to map what it carries?"""
    overhead = reference.get(DOC, "metrics", "Overhead per operation", "Value")
    chunk = reference.get(DOC, "metrics", "Chunk per operation", "Value").base.mid
    pages = chunk / reference.constant("page")
    clock = reference.constant("rpi3-clock") * 1e9
    small, large = reference.constant("map-4KiB"), reference.constant("map-1MiB")
    per_page = (large - small) / (2**20 / reference.constant("page") - 1) * 1e-6
    if overhead.base.high >= 0.1 * pages * per_page:
        return []
    seconds = overhead.base.mid
    return [
        f"{overhead.put_right} for a call that carries {number(chunk / 2**20)} MiB is "
        f"{microseconds(seconds / pages)} for each of its {pages:.0f} pages: "
        f"{number(seconds / pages * clock, 2)} cycles at {number(clock / 1e9)} GHz, to check and "
        f"map a page and to unmap it. OP-TEE's issue 6142 reports {number(large)} µs at 1 MiB and "
        f"{number(small)} µs at 4 KiB, {microseconds(per_page)} a page. So the figure leaves out "
        "what the call itself costs."
    ]


def efficiency_against_overheads(reference: Reference) -> list[str]:
    """Does the efficiency agree with the other reports?"""
    here = reference.get(DOC, "metrics", "Hashing efficiency", "Value")
    lost = 100 - here.span.mid
    others = [
        reference.get("rpi3-secure-hash", "profile", "40MB File", "Overhead"),
        reference.get("api-vs-custom", "overhead", "Total Overhead", "TEE Internal API"),
    ]
    worse = [figure for figure in others if figure.span.low > 2 * lost]
    if not worse:
        return []
    return [
        f"{here.published} efficiency leaves {number(lost)} % for everything but hashing; for the "
        "same chunked hashing "
        + ", and ".join(
            f"“{figure.document.title}” has an overhead of {figure.published}" for figure in worse
        )
        + "."
    ]


def floor_for_what_was_not_measured(reference: Reference) -> list[str]:
    """Was the smallest input measured that is spoken of?"""
    floor = reference.get(DOC, "metrics", "Base Initialization Cost", "Value")
    smallest = reference.get(DOC, "floor", "Smallest message", "value").span.mid
    claimed = reference.get(DOC, "metrics", "Smallest input it is claimed for", "Value").span.mid
    if claimed >= smallest:
        return []
    return [
        f"{floor.put_right} is given as the least for an input of {claimed:.0f} bytes, but the "
        f"smallest message measured has {smallest:.0f}: an extrapolation."
    ]


def megabytes_that_are_mebibytes(reference: Reference) -> list[str]:
    """Is the peak in the unit it says?"""
    figure = reference.get(DOC, "metrics", "Max Throughput", "Value")
    rate = bytes_per_second(reference, "40MB")
    printed = figure.span
    decimal, binary = rate / 1e6, rate / 2**20
    if printed.low <= decimal <= printed.high or not printed.low <= binary <= printed.high:
        return []
    other = reference.get("api-vs-custom", "hash", "Hash Throughput", "TEE Internal API")
    return [
        f"{figure.published} is probably meant in MiB/s: the first report's 40 MB log has "
        f"{number(decimal)} MB/s = {number(binary)} MiB/s for the same TA and board, and "
        f"“{other.document.title}” has {other.published}. In MB/s it would be "
        f"{number(printed.mid * 2**20 / 1e6)}."
    ]


def small_messages_too_slow_for_the_core(reference: Reference) -> list[str]:
    """Does the peak fit the core and its clock?"""
    figure = reference.get(DOC, "metrics", "Max Throughput", "Value")
    return secure_hash.cycles(reference, figure.base.mid, "The peak")


def _rate(reference: Reference) -> Span:
    return Span(1, 1, 1) / reference.get(DOC, "scalability", "Time per byte", "value").span


def _per_byte_small(reference: Reference) -> Span:
    overhead = reference.get(DOC, "metrics", "Overhead per operation", "Value").span
    return overhead / reference.get(DOC, "floor", "Smallest message", "value").span


def _per_byte_large(reference: Reference) -> Span:
    overhead = reference.get(DOC, "metrics", "Overhead per operation", "Value").span
    return overhead / reference.get(DOC, "metrics", "Chunk per operation", "Value").base.mid


def _efficiency(reference: Reference) -> Span:
    """At least this, of a chunk: hashing ÷ (hashing + overhead)."""
    chunk = reference.get(DOC, "metrics", "Chunk per operation", "Value").base.mid
    hashing = reference.get(DOC, "scalability", "Time per byte", "value").span * chunk
    overhead = reference.get(DOC, "metrics", "Overhead per operation", "Value").span
    share = Span(100, 100, 100) / (overhead / hashing + 1)
    least = reference.get(DOC, "metrics", "Hashing efficiency", "Value").span.mid
    # the statement is "more than": anything above it agrees
    return Span(min(share.low, least), share.mid, share.high) if share.mid >= least else share


DERIVED: tuple[Derived, ...] = (
    Derived("metrics", "Max Throughput", "Value", "1 ÷ time per byte", _rate),
    Derived(
        "metrics",
        "Overhead per byte, tiny messages",
        "Value",
        "overhead ÷ the smallest message",
        _per_byte_small,
    ),
    Derived(
        "metrics",
        "Overhead per byte, large files",
        "Value",
        "overhead ÷ 1 MiB",
        _per_byte_large,
    ),
    Derived(
        "metrics",
        "Hashing efficiency",
        "Value",
        "hashing ÷ (hashing + overhead), of one chunk",
        _efficiency,
    ),
)


def small_messages_derived_figures(reference: Reference) -> list[str]:
    """Does every derived figure follow from its sources?"""
    return misfits(reference, DOC, DERIVED)


CHECKS = checks(
    DOC,
    ("impossible", "metrics", crossing_leaves_no_time_to_map),
    ("contradiction", "metrics", efficiency_against_overheads),
    ("unsupported", "floor metrics", floor_for_what_was_not_measured),
    ("mislabelled", "metrics", megabytes_that_are_mebibytes),
    ("unsupported", "metrics scalability", small_messages_too_slow_for_the_core),
    ("contradiction", "metrics", small_messages_derived_figures),
)
