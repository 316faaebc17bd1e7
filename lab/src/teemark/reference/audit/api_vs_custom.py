# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""api-vs-custom: SHA-256 of the TEE API against portable C in the TA, 16 calls."""

from __future__ import annotations

from teemark.reference.audit import secure_hash
from teemark.reference.audit.base import Derived, checks, microseconds, misfits, number
from teemark.reference.data import Reference
from teemark.reference.span import Span

DOC = "api-vs-custom"
API, CUSTOM = "TEE Internal API", "Custom C Code"


def _hash_seconds(reference: Reference, column: str) -> Span:
    return reference.get(DOC, "hash", "Pure Hash Time", column).base


def file_is_not_its_name(reference: Reference) -> list[str]:
    """Is throughput times time the size of the file?"""
    named = reference.get(DOC, "setup", "File size", "value")
    rate = reference.get(DOC, "hash", "Hash Throughput", API)
    size = rate.base * _hash_seconds(reference, API)
    for unit in (1e6, 2.0**20):
        if size.low <= float(named.number) * unit <= size.high:
            return []
    other = reference.get("rpi3-secure-hash", "runs", "File Size", "40MB").span.mid
    sentence = (
        f"{rate.published} × {number(_hash_seconds(reference, API).mid)} s = "
        f"{number(size.mid / 2**20)} MiB = {number(size.mid / 1e6)} MB: the “{named.published}” "
        "file is neither 40 MB nor 40 MiB."
    )
    if size.low <= other <= size.high:
        sentence += (
            f" It fits the file of the first report, {number(other, 9)} bytes = "
            f"{number(other / 2**20)} MiB."
        )
    return [sentence]


def sixteen_calls_need_larger_chunks(reference: Reference) -> list[str]:
    """Do the calls fit the file and the chunk?"""
    calls = reference.get(DOC, "overhead", "IPC Calls", API).span.mid
    size = reference.get("rpi3-secure-hash", "runs", "File Size", "40MB").span.mid
    other_calls = reference.get("rpi3-secure-hash", "runs", "IPC Calls", "40MB").span.mid
    chunk = reference.get("rpi3-secure-hash", "runs", "Chunk Size", "40MB").span.mid
    if calls >= size / chunk:
        return []
    return [
        f"{calls:.0f} calls for {number(size / 2**20)} MiB carry at least "
        f"{number(size / calls / 2**20, 3)} MiB each, not the {number(chunk / 2**20)} MiB of the "
        f"other two reports, where the same file takes {other_calls:.0f} calls: figures a call "
        "can't be compared between them."
    ]


def call_costs_milliseconds_again(reference: Reference) -> list[str]:
    """What does the overhead make a call cost?"""
    costs = {}
    for column in (API, CUSTOM):
        part = reference.get(DOC, "overhead", "Total Overhead", column).span.mid / 100
        hashing = _hash_seconds(reference, column).mid
        calls = reference.get(DOC, "overhead", "IPC Calls", column).span.mid
        costs[column] = part / (1 - part) * hashing / calls
    there = reference.get("rpi3-small-messages", "metrics", "Overhead per operation", "Value")
    first = reference.get("rpi3-secure-hash", "summary", "TEE overhead per IPC call", "chunked")
    if max(costs.values()) < 10 * there.base.mid:
        return []
    share = reference.get(DOC, "overhead", "Total Overhead", API)
    return [
        f"An overhead of {share.published} of the total is "
        f"{number(_hash_seconds(reference, API).mid)} s × {number(share.span.mid / 100)} ÷ "
        f"{number(1 - share.span.mid / 100)} ÷ 16 calls = {microseconds(costs[API])} a call "
        f"({microseconds(costs[CUSTOM])} for the custom code): the {first.published} of the first "
        f"report, although a call carries more than twice as much, and far from the "
        f"{there.put_right} of “{there.document.title}”. A cost that doesn't grow with the data is "
        "no mapping or copying; a printed line is such a cost."
    ]


def one_run_of_each(reference: Reference) -> list[str]:
    """Are there enough runs for the difference?"""
    runs = reference.get(DOC, "setup", "Runs of each implementation", "value").span.mid
    needed = reference.constant("samples-for-interval")
    if runs >= needed:
        return []
    api, custom = _hash_seconds(reference, API).mid, _hash_seconds(reference, CUSTOM).mid
    return [
        f"{number(api)} s against {number(custom)} s rests on {runs:.0f} run of each. Below "
        f"{needed:.0f} no interval of the median has 95 %, so whether the "
        f"{number(100 * (custom / api - 1), 2)} % is more than chance can't be said from this."
    ]


def api_and_custom_too_slow_for_the_core(reference: Reference) -> list[str]:
    """Do the hashing rates fit the core and its clock?"""
    sentences = []
    for column, what in ((API, "The TEE API"), (CUSTOM, "The custom C code")):
        rate = reference.get(DOC, "hash", "Hash Throughput", column).base.mid
        sentences += secure_hash.cycles(reference, rate, what)
    return sentences


def _faster(reference: Reference) -> Span:
    rates = [reference.get(DOC, "hash", "Hash Throughput", column).span for column in (API, CUSTOM)]
    return (rates[0] / rates[1] - 1) * 100


def _margin(reference: Reference) -> Span:
    return (_hash_seconds(reference, CUSTOM) / _hash_seconds(reference, API) - 1) * 100


def _custom_rate(reference: Reference) -> Span:
    """Of the same file, so from the other column."""
    size = reference.get(DOC, "hash", "Hash Throughput", API).span * _hash_seconds(reference, API)
    return size / _hash_seconds(reference, CUSTOM)


def _overhead_difference(reference: Reference) -> Span:
    seconds = []
    for column in (API, CUSTOM):
        share = reference.get(DOC, "overhead", "Total Overhead", column).span / 100
        seconds.append(_hash_seconds(reference, column) * share / (Span(1, 1, 1) - share))
    return (seconds[0] - seconds[1]) * 1000


DERIVED: tuple[Derived, ...] = (
    Derived("hash", "Pure Hash Time", "Analysis", "throughput of one ÷ the other", _faster),
    Derived("verdict", "Margin", "value", "hash time of one ÷ the other", _margin),
    Derived(
        "hash", "Hash Throughput", CUSTOM, "the API's throughput × its time ÷ this", _custom_rate
    ),
    Derived(
        "fluctuation",
        "Host-side overhead difference",
        "value",
        "difference of the two overheads",
        _overhead_difference,
    ),
)


def api_vs_custom_derived_figures(reference: Reference) -> list[str]:
    """Does every derived figure follow from its sources?"""
    return misfits(reference, DOC, DERIVED)


CHECKS = checks(
    DOC,
    ("contradiction", "hash", file_is_not_its_name),
    ("contradiction", "overhead", sixteen_calls_need_larger_chunks),
    ("contradiction", "overhead", call_costs_milliseconds_again),
    ("unsupported", "hash", one_run_of_each),
    ("unsupported", "hash", api_and_custom_too_slow_for_the_core),
    ("contradiction", "hash verdict fluctuation", api_vs_custom_derived_figures),
)
