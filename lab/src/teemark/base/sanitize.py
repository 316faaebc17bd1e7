# SPDX-License-Identifier: BSD-2-Clause
"""Makes a board's words harmless, here and nowhere else: they must not steer a terminal (escape
sequences) nor show other words than they hold (bidirectional overrides, invisible characters). All
such characters become U+FFFD when records are read and when errors are printed. Escaping for markup
is left to each page's renderer."""

import re
from typing import Any

_HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters, tab and line ends excepted
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible; direction of writing
    "\ud800-\udfff\U000e0000-\U000e007f]"  # surrogates; tags
)

_SUSPECT = re.compile(
    rb"\\[u/bfnrt]|[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]"
    rb"|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81]"
)
"""Matches what may be harmful in a JSON line's UTF-8; a line without a match is harmless."""

_PLAIN = bytes(code for code in range(0x20, 0x7F) if code != ord("\\")) + b"\n"


def suspect(line: bytes) -> bool:
    """Returns true if a JSON line may hold something harmful. Most lines have plain bytes alone; a
    check for that takes a twentieth of the time of a match."""
    return bool(line.translate(None, _PLAIN)) and _SUSPECT.search(line) is not None


def harmless(text: str) -> str:
    """Returns the text without harmful characters; its lines are kept."""
    return _HARMFUL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def harmless_line(text: str) -> str:
    """Returns the text without harmful characters, on one line."""
    return " ".join(harmless(text).split()) if re.search(r"[\t\n\r]", text) else harmless(text)


def harmless_cell(value: Any) -> Any:
    """Returns a value as a cell of a CSV file: a text that a spreadsheet would compute as a formula
    begins with an apostrophe, by which spreadsheets know a text."""
    formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if formula else value


def harmless_value(value: Any) -> Any:
    """Returns a JSON value whose texts, keys included, are harmless lines."""
    if isinstance(value, str):
        return harmless_line(value)
    if isinstance(value, list):
        return [harmless_value(item) for item in value]
    if isinstance(value, dict):
        return {harmless_line(key): harmless_value(item) for key, item in value.items()}
    return value
