# SPDX-License-Identifier: BSD-2-Clause
# ruff: noqa: RUF001 (the signs of arithmetic)
"""beaglebone-hw-crypto: a throughput table that is said to show hardware accelerators."""

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
from teemark.reference.audit.beaglebone_derived import (
    ALGORITHMS,
    DERIVED,
    DOC,
    FILES,
    LARGEST,
    SUMMARY,
)
from teemark.reference.data import Figure, Reference


def _peak(reference: Reference, name: str) -> Figure:
    return reference.get(DOC, "openssl-speed", name, LARGEST)


def _clock(reference: Reference) -> float:
    return reference.constant("am335x-clock") * 1e9


def _software(reference: Reference, name: str) -> list[tuple[float, str]]:
    """Published software rates of this core at this clock, bytes a second, with their sources."""
    core, algorithm = reference.words("am335x-core"), ALGORITHMS[name]
    rates = [
        (rate.bytes_per_second * _clock(reference) / rate.clock_hz, rate.source)
        for rate in reference.rates
        if (rate.core, rate.algorithm, rate.implementation) == (core, algorithm, "software")
    ]
    rates += [
        (
            _clock(reference) / float(row.cycles),
            f"{row.cycles} cycles a byte, {row.implementation}, {row.source}",
        )
        for row in reference.cycles_for(core, algorithm)
    ]
    return rates


def thousands_divided_by_1024(reference: Reference) -> list[str]:
    """Are the units converted rightly?"""
    shown = []
    for row in SUMMARY:
        thousands = reference.get(DOC, "throughput", row, "Throughput (KB/s)")
        mega = reference.get(DOC, "throughput", row, "Throughput (MB/s)")
        right = thousands.span.mid / 1000
        if (thousands.span / 1024).overlaps(mega.span) and not mega.span.low <= right <= (
            mega.span.high
        ):
            shown.append(
                f"{row}: {number(thousands.span.mid, 6)} ÷ 1024 = {mega.text}, but it is "
                f"{number(right, 6)} MB/s or {number(right * 1e6 / 2**20, 5)} MiB/s"
            )
    if not shown:
        return []
    return [
        "openssl speed prints thousands of bytes; dividing them by 1024 gives neither MB/s nor "
        "MiB/s. " + "; ".join(shown) + "."
    ]


def as_fast_as_software(reference: Reference) -> list[str]:
    """Is a rate called hardware that of software?"""
    sentences = []
    for name in ALGORITHMS:
        rate = _peak(reference, name).base.mid
        close = [
            (software, source)
            for software, source in _software(reference, name)
            if 0.9 <= rate / software <= 1.15
        ]
        if close:
            sentences.append(
                f"{name} at {number(rate / 1e6, 4)} MB/s is "
                f"{number(_clock(reference) / rate, 3)} cycles a byte at "
                f"{number(_clock(reference) / 1e9)} GHz: what software reaches on a "
                f"{core_name(reference.words('am335x-core'))}, "
                + listed(
                    [f"{number(software / 1e6)} MB/s ({source})" for software, source in close]
                )
                + ". No accelerator is needed to explain it, and none is shown."
            )
    return sentences


def slower_than_software(reference: Reference) -> list[str]:
    """Is a rate called hardware below that of software?"""
    sentences = []
    for name in ALGORITHMS:
        rate = _peak(reference, name).base.mid
        best, source = max(_software(reference, name))
        slowest, _ = min(_software(reference, name))
        if rate < 0.8 * slowest:
            sentences.append(
                f"{name} at {number(rate / 1e6)} MB/s, called hardware, is "
                f"{number(slowest / rate, 2)} to {number(best / rate, 2)} times slower than "
                f"software on this chip ({number(slowest / 1e6)} to {number(best / 1e6)} MB/s, the "
                f"best by {source}): {number(_clock(reference) / rate, 3)} cycles a byte."
            )
    return sentences


def clocks_that_disagree(reference: Reference) -> list[str]:
    """Could a slow clock explain the rates?"""
    core = reference.words("am335x-core")
    clocks = {}
    for name, algorithm in ALGORITHMS.items():
        best = min(float(row.cycles) for row in reference.cycles_for(core, algorithm))
        clocks[name] = (best, _peak(reference, name).base.mid * best)
    fast, slow = max(clock for _, clock in clocks.values()), min(c for _, c in clocks.values())
    if fast < 1.5 * slow:
        return []
    return [
        "A slow clock isn't the reason: at the best published code the rates mean clocks of "
        + listed(
            [
                f"{number(clock / 1e6, 3)} MHz ({name}, {number(cycles)} cycles a byte)"
                for name, (cycles, clock) in clocks.items()
            ]
        )
        + f", {number(fast / slow, 2)} times apart in one table."
    ]


def file_faster_than_peak(reference: Reference) -> list[str]:
    """Is a file ever processed faster than memory?"""
    shown = []
    for row, name in FILES.items():
        figure = reference.get(DOC, "file-operations", row, "Throughput")
        peak = _peak(reference, name).base
        if figure.base.low > peak.high:
            shown.append(f"{row} {figure.published} > {number(peak.mid / 1e6)} MB/s")
    if not shown:
        return []
    return [
        "“Real-world” operations on a file, with reading, writing and starting a program, exceed "
        "the “peak throughput” in memory: " + "; ".join(shown) + ". One of them wasn't measured "
        "as it says."
    ]


def same_file_with_another_remainder(reference: Reference) -> list[str]:
    """Is as much time left for the file in both digests?"""
    size = reference.get(DOC, "file-operations", "File", "Size").base.mid
    rest = {}
    for row in ("SHA-1 hashing", "SHA-256 hashing"):
        seconds = reference.get(DOC, "file-operations", row, "Time").base.mid
        hashing = size / _peak(reference, FILES[row]).base.mid
        rest[row] = (seconds, hashing, seconds - hashing)
    values = [value for _, _, value in rest.values()]
    if min(values) > 0 and max(values) < 2 * min(values):
        return []
    return [
        "Both digests read the same file, and what is left for reading and starting differs by "
        f"{number(max(values) / min(values), 2)} times: "
        + "; ".join(
            f"{row} {number(seconds)} s − {number(size / 1e6)} MB at its peak, "
            f"{microseconds(hashing)}, = {microseconds(left)}"
            for row, (seconds, hashing, left) in rest.items()
        )
        + "."
    ]


def software_is_faster_than_claimed(reference: Reference) -> list[str]:
    """Is typical software that slow?"""
    shown = []
    for row, name in SUMMARY.items():
        claimed = reference.get(DOC, "comparison", row, "Software (typical)")
        rates = [rate for rate, _ in _software(reference, name)]
        if min(rates) > 1.5 * claimed.base.high:
            shown.append(
                f"{row}: {claimed.published} claimed, {number(min(rates) / 1e6)} to "
                f"{number(max(rates) / 1e6)} MB/s published, "
                f"{number(min(rates) / claimed.base.high, 2)} to "
                f"{number(max(rates) / claimed.base.low, 2)} times as much"
            )
    if not shown:
        return []
    return ["“Typical software” has no source and is too low. " + "; ".join(shown) + "."]


def improvement_over_real_software(reference: Reference) -> list[str]:
    """What is the improvement over published software?"""
    shown = []
    for row, name in SUMMARY.items():
        claimed = reference.get(DOC, "comparison", row, "Improvement")
        best = max(rate for rate, _ in _software(reference, name))
        least = min(rate for rate, _ in _software(reference, name))
        peak = _peak(reference, name).base.mid
        if peak / least < claimed.span.low:
            shown.append(
                f"{row}: {claimed.published} claimed, "
                f"{number(peak / best, 2)} to {number(peak / least, 2)}x over published software"
            )
    if not shown:
        return []
    return ["The improvement is over a claim, not over software. " + "; ".join(shown) + "."]


def conclusion_leaves_out_the_lowest(reference: Reference) -> list[str]:
    """Does the conclusion agree with the table?"""
    conclusion = reference.get(DOC, "conclusions", "Improvement over software", "value")
    rows = [reference.get(DOC, "comparison", row, "Improvement") for row in SUMMARY]
    lowest = min(rows, key=lambda figure: figure.number)
    if lowest.number >= conclusion.number:
        return []
    return [
        f"The conclusion says {conclusion.published}, the table {lowest.published} for "
        f"{lowest.row}."
    ]


def priority_is_no_evidence_of_use(reference: Reference) -> list[str]:
    """What shows that OpenSSL used the drivers?"""
    claimed = [
        figure
        for figure in reference.table(DOC, "drivers")
        if figure.column == "selected by" and figure.text == "OpenSSL"
    ]
    route = reference.words("openssl-kernel-route")
    if not claimed:
        return []
    version = reference.get(DOC, "configuration", "OpenSSL", "value").text
    sentence = (
        f"/proc/crypto's priorities choose between the kernel's own drivers. OpenSSL {version} "
        f"doesn't read them: its afalg engine offers {route} alone, and only when asked for"
    )
    without = [figure.row for figure in claimed if figure.row != route]
    if without:
        sentence += f"; for {listed(without)} it has no way into the kernel at all"
    return [
        sentence + ". The evidence would be the accelerator's interrupt count before and after, "
        "or the CPU time per elapsed time."
    ]


def one_line_through_all_sizes(reference: Reference) -> list[str]:
    """Is there a break where the driver starts to use the hardware?

    Below a driver's threshold its requests run in software: a line through the sizes would
    break there. One that doesn't is one code path for all sizes.
    """
    block, padding = reference.constant("sha-block"), reference.constant("sha-padding")
    where = "Block size from which hardware helps"
    helps = reference.get(DOC, "conclusions", where, "value").base.mid
    sentences = []
    for name, threshold_name in (
        ("SHA-256", "omap-sham-threshold"),
        ("SHA-1", "omap-sham-threshold"),
        ("AES-128", "omap-aes-threshold"),
    ):
        points = {}
        for figure in reference.table(DOC, "openssl-speed"):
            if figure.row == name:
                size = float(figure.column.split()[0])
                work = math.ceil((size + padding) / block) if name != "AES-128" else size / 16
                points[size] = (work, size / figure.base.mid)
        large = sorted(size for size in points if size >= helps)
        (work1, time1), (work2, time2) = points[large[0]], points[large[-1]]
        slope = (time2 - time1) / (work2 - work1)
        fixed = time2 - slope * work2
        threshold = reference.constant(threshold_name)
        small = {
            size: (fixed + slope * work) / seconds - 1
            for size, (work, seconds) in points.items()
            if size < threshold
        }
        worst = max(small.values(), key=abs)
        if abs(worst) > 0.1:
            continue
        unit = "16 bytes" if name == "AES-128" else f"a block of {block:.0f} bytes"
        sentences.append(
            f"{name}: the line through {large[0]:.0f} and {large[-1]:.0f} bytes, "
            f"{microseconds(fixed)} a call and {microseconds(slope)} for {unit}, gives the times "
            f"of {listed([f'{size:.0f}' for size in sorted(small)])} bytes within "
            f"{100 * abs(worst):.0f} %. The driver runs requests under {threshold:.0f} bytes in "
            "software, so a line that doesn't break there is software throughout."
        )
    return sentences


def error_93_is_no_ahash(reference: Reference) -> list[str]:
    """Does the cause given explain the error?"""
    error = reference.get(DOC, "af-alg", "kcapi-hasher and kcapi-speed", "error")
    cause = reference.get(DOC, "af-alg", "Root cause", "claim").text
    option = reference.words("kcapi-needs")
    listed_options = {figure.row for figure in reference.table(DOC, "kernel-configuration")}
    name = reference.words("errno-93")
    if abs(error.number) != 93 or option in listed_options or "ahash" not in cause:
        return []
    status = reference.get(DOC, "af-alg", option, "value").text
    return [
        f"Error {error.text} is {name}: a socket's protocol is missing. libkcapi opens "
        f"NETLINK_CRYPTO, which needs {option}, {status} by the document's own list. “{cause}” "
        "isn't the cause: AF_ALG serves asynchronous digests too."
    ]


def urandom_is_software(reference: Reference) -> list[str]:
    """Does the table of the hardware generator show the hardware?"""
    hardware = reference.get(DOC, "rng", "/dev/hwrng", "Throughput")
    other = reference.get(DOC, "rng", "/dev/urandom", "Throughput")
    if other.base.low < 2 * hardware.base.high:
        return []
    return [
        f"In the table of the hardware generator, /dev/urandom has {other.published}, "
        f"{number(other.base.mid / hardware.base.mid, 2)} times the {hardware.published} of "
        "/dev/hwrng: it is the kernel's generator in software, seeded now and then, and no "
        "measurement of the hardware."
    ]


def one_run_of_each_operation(reference: Reference) -> list[str]:
    """Are there enough runs for the difference?"""
    runs = reference.get(DOC, "file-operations", "File", "Runs").span.mid
    needed = reference.constant("samples-for-interval")
    if runs >= needed:
        return []
    encrypt = reference.get(DOC, "file-operations", "AES-128 encryption", "Time")
    decrypt = reference.get(DOC, "file-operations", "AES-128 decryption", "Time")
    return [
        f"Operations ran {_times(runs)} each; below {needed:.0f} no interval of the median has "
        f"95 %. That decryption is {number(100 * (encrypt.span.mid / decrypt.span.mid - 1), 2)} % "
        "faster than encryption can be the cache of the file as well as the cipher."
    ]


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:.0f} times"


def beaglebone_derived_figures(reference: Reference) -> list[str]:
    """Does every derived figure follow from its sources?"""
    return misfits(reference, DOC, DERIVED)


CHECKS = checks(
    DOC,
    ("unsupported", "drivers", priority_is_no_evidence_of_use),
    ("contradiction", "openssl-speed throughput", as_fast_as_software),
    ("contradiction", "openssl-speed throughput", slower_than_software),
    ("impossible", "openssl-speed", clocks_that_disagree),
    ("contradiction", "openssl-speed", one_line_through_all_sizes),
    ("mislabelled", "throughput", thousands_divided_by_1024),
    ("impossible", "file-operations", file_faster_than_peak),
    ("contradiction", "file-operations", same_file_with_another_remainder),
    ("unsupported", "file-operations", one_run_of_each_operation),
    ("mislabelled", "rng", urandom_is_software),
    ("unsupported", "comparison", software_is_faster_than_claimed),
    ("contradiction", "comparison", improvement_over_real_software),
    ("contradiction", "comparison", conclusion_leaves_out_the_lowest),
    ("contradiction", "af-alg", error_93_is_no_ahash),
    ("contradiction", "throughput file-operations rng comparison", beaglebone_derived_figures),
)
