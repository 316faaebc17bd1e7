# SPDX-License-Identifier: BSD-2-Clause
"""Rewrites the speeds that programs print, so that the reader of free text understands them:
openssl speed of 1.1 to 3.5 (also with -mr), tcrypt in dmesg, kcapi-speed, xtest's perf tests,
cryptsetup benchmark, and time.

To add a program: a row in _LINES, its name in KNOWN (text.py), an example in
lab/tests/audit/test_audit_formats.py.
"""

import re
from collections.abc import Callable

_KCAPI_UNITS = {"B": (0, 0), "kB": (10, 10), "MB": (20, 10_000), "GB": (30, 10_000_000)}
"""kcapi-speed's units: the power of two of each, and the bytes of a step of its decimals."""


def _row(name: str, cells: str, unit: str) -> str:
    """Returns a table row whose cells are separated by blanks."""
    return name + "".join(f"  {cell} {unit}" for cell in re.findall(r"[\d.]+", cells))


def _keys(line: re.Match[str]) -> str:
    pairs = zip(line[2].split(), line[3].split(), strict=False)
    each = (f"{time[:-1]} s per operation, {rate} operations/s" for time, rate in pairs)
    return f"{line[1]}: {', '.join(each)}"


def _kcapi(line: re.Match[str]) -> str:
    """Rewrites a line of kcapi-speed, which truncates counts and rates."""
    name, way, size, whole, part, unit, often = line.groups()
    shift, step = _KCAPI_UNITS[unit]
    rate = (int(whole) << shift) + int(part or 0) * step + step // 2
    way = {"e": "encryption", "d": "decryption"}[way]
    return f"{name} {way}: {size} bytes, ~{rate} B/s, ~{often} ops/s"


def _cipher(line: re.Match[str]) -> str:
    cipher, mode, bits, *rates = line.groups()
    bits = int(bits) // (2 if mode == "xts" else 1)  # XTS splits the key in two
    return "  ".join((f"{cipher}-{bits}-{mode}", *rates))


_N = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_LINES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^Doing (.+?)(?: ops)? for (\d+)s on (\d+) size blocks: (\d+) .* in (\d+\.\d+)s$",
     r"\1 of \3 bytes: \4 operations in \5 s, and \2 s were asked for"),
    (r"^\+DT:.*", ""),
    (r"^\+R:(\d+):([^:]+):(\d+\.\d+)$", r"\2: \1 operations in \3 s"),
    (r"^\+H((?::\d+)+)$", lambda line: _row("type", line[1], "bytes")),
    (r"^\+F:\d+:([^:]+)((?::\d+\.\d+)+)$", lambda line: _row(line[1], line[2], "B/s")),
    (r"^(\S.*?)((?:\s+\d+\.\d+k)+)$", lambda line: _row(line[1], line[2], "kB/s")),
    (r"^(\S.*?)((?:\s+\d+\.\d+s)+)((?:\s+\d+\.\d+)+)$", _keys),
    (r"^(\S.{0,40}?)\s*\|([ed])\|\s*(\d+) bytes\|\s*(\d+)(?:\.(\d+))? ([kMG]?B)/s\|(\d+) ops/s$",
     _kcapi),
    (r".*testing speed of (?:async |multibuffer )*(.+?)\s*$", r"=== \1"),
    (r".*test\s+\d+ \(\s*(?:(\d+ bit) key,\s*)?(\d+) byte blocks.*?\):"
     r"\s*(\d+) opers/sec,\s*(\d+) bytes/sec",
     r"speed \1: \2 bytes, ~\3 ops/s, ~\4 B/s"),
    (r"^Starting test: ([\w -]+), .*?size=(\d+) bytes.*", r"=== \1, \2 bytes"),
    (rf"^min={_N}us max={_N}us mean={_N}us stddev={_N}us \(cv {_N}%\) \({_N}MiB/s\)",
     r"min=\1us max=\2us mean=\3us stddev=\4us cv=\5% rate=\6MiB/s"),
    (r"^#\s*Algorithm \|\s*Key \|\s*Encryption \|\s*Decryption$", "cipher  Encryption  Decryption"),
    (r"^([a-z]\w*)-(\w+)\s+(\d+)b\s+(N/A|[\d.]+ MiB/s)\s+(N/A|[\d.]+ MiB/s)$", _cipher),
    (r".*(real|user|sys)\s+(?:0m)? ?(\d+\.\d+)s?$", r"\1: \2 s"),
    (r".*(real|user|sys)\s+(\d+)m ?(\d+\.\d+)s?$",
     lambda line: f"{line[1]}: {60 * int(line[2]) + float(line[3]):.3f} s"),
)  # fmt: skip
_PATTERNS = [(re.compile(pattern), written) for pattern, written in _LINES]


def rewritten(line: str) -> str:
    """Returns a known program's line as a sentence, a heading or a row; other lines unchanged."""
    for pattern, written in _PATTERNS:
        if pattern.search(line):
            return pattern.sub(written, line, count=1)
    return line
