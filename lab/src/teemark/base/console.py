# SPDX-License-Identifier: BSD-2-Clause
"""Output of commands: tables and JSON on stdout, remarks and a spinner on stderr."""

import codecs
import contextlib
import io
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from teemark.base.sanitize import harmless

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 80

_INSTEAD = str.maketrans(
    {
        **dict.fromkeys("\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}", "-"),
        **dict.fromkeys("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
        **dict.fromkeys("\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}", '"'),
        **dict(zip("█▓▒░", "#=-.", strict=True)),  # Parts of a bar stay apart
        "…": "...",
        "µ": "u",
        "\N{MULTIPLICATION SIGN}": "x",
        "→": "->",
        "▲": "^",
        "▼": "v",
        "≥": ">=",
        "≤": "<=",
        "≈": "~",
        "±": "+-",
        "•": "*",
        "·": "*",
        "│": "|",
        "─": "-",
        "✓": "+",
        "✗": "x",
    }
)
"""Stand-ins for characters that the terminal's encoding lacks."""

_GROUPED = re.compile("( {2,}|[│|] )?\\b([0-9]+(?:\N{NARROW NO-BREAK SPACE}[0-9]{3})+)")
_SPACES = str.maketrans("\N{NARROW NO-BREAK SPACE}\N{NO-BREAK SPACE}", "  ")


def plain(text: str) -> str:
    """Returns text for programs: numbers without spaces, and no spaces but plain ones."""
    return _GROUPED.sub(_ungrouped, text).translate(_SPACES)


class _Plain(io.TextIOWrapper):
    """A stream with plain spaces only. In a terminal the digits of a number stand in groups; in a
    pipe or a file they don't, so that programs can read them. Right-aligned numbers stay
    aligned."""

    def write(self, text: str) -> int:
        super().write(text.translate(_SPACES) if self.isatty() else plain(text))
        return len(text)


def _ungrouped(match: re.Match[str]) -> str:
    before, number = match[1] or "", match[2]
    plain = number.replace("\N{NARROW NO-BREAK SPACE}", "")
    return before + " " * (len(number) - len(plain) if before else 0) + plain


def _encodable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(_INSTEAD)
    return text.encode("ascii", errors="replace").decode(), error.end


def plain_streams() -> None:
    """Makes stdout and stderr reliable and plain. Either all is written or an error is raised, even
    under PYTHONUNBUFFERED, where Python drops what a full disk or a pipe doesn't take at once.
    Characters that the encoding lacks are replaced."""
    codecs.register_error("teemark", _encodable)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        raw = io.FileIO(stream.fileno(), "w", closefd=False)
        new = _Plain(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors="teemark",
            line_buffering=name == "stderr" or stream.isatty(),
        )
        setattr(sys, name, new)


def terminal(width: int = WIDTH, *, plain: bool = False) -> "Console":
    """Returns stdout as a console. If it is no terminal, or with `plain` (for text that goes into a
    file), it has no colours and is `width` columns wide."""
    from rich.console import Console

    class Stdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # teemark.cli handles it

    console = Stdout(highlight=False, emoji=False)
    if console.is_terminal and not plain:
        return console
    return Stdout(highlight=False, emoji=False, width=width, force_terminal=False)


def paragraph(
    console: "Console", text: str, style: str | None = None, *, indent: str = "  "
) -> None:
    """Prints the text as it is; continuation lines begin with `indent`. Numbers aren't broken at
    their narrow spaces, as rich would do."""
    lines = wrapped(text.replace("\n", " "), console.width, indent)
    console.print(lines, markup=False, style=style, soft_wrap=True)


def table_row(console: "Console", text: str, style: str | None = None, *, indent: str) -> None:
    """Prints a row of a table: on a terminal as a paragraph, elsewhere as one line, for awk and
    grep."""
    if console.is_terminal:
        paragraph(console, text, style, indent=indent)
    else:
        console.print(text.replace("\n", " "), markup=False, style=style, soft_wrap=True)


def rows(lines: Sequence[Sequence[str]], *, head: bool = False) -> None:
    """Prints rows of cells in columns, the first row in bold if it is a `head`; on a terminal the
    last cell is wrapped within its column."""
    console = terminal()
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    indent = " " * min(sum(widths) + 2 * len(widths), console.width // 2)
    for number, line in enumerate(lines):
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        style = "bold" if head and not number else None
        text = harmless("  ".join([*cells, line[-1]]).rstrip())
        table_row(console, text, style, indent=indent)


def wrapped(text: str, width: int, indent: str = "  ") -> str:
    """Returns the text with each line wrapped to that width; a command in backticks stays on one
    line, so that it can be copied."""
    import textwrap

    glue = "\N{INFORMATION SEPARATOR ONE}"
    whole = re.sub("`[^`]*`", lambda command: command[0].replace(" ", glue), text)
    # long words are paths
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(map(wrapper.fill, whole.split("\n"))).replace(glue, " ")


def json_text(data: object) -> str:
    """Returns JSON in ASCII, so that a board's words can't move the cursor; a number that isn't
    finite becomes null."""
    import msgspec

    return json.dumps(msgspec.json.decode(msgspec.json.encode(data)), indent=2) + "\n"


SILENT_S = 5.0  # Seconds after which a step says in a pipe that it goes on, and is remembered


class _Steps:
    file: Path | None = None


def remember(file: Path) -> None:
    """Names the file in which the times of steps are kept, for the next command to tell."""
    _Steps.file = file


def took(what: str) -> float | None:
    """Returns the seconds that a step took the last time; None if that isn't known."""
    return _times().get(what)


def _times() -> dict[str, float]:
    try:
        return dict(json.loads(_Steps.file.read_text())) if _Steps.file is not None else {}
    except (OSError, ValueError, TypeError):
        return {}


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class _Step:
    """A step's words, which may change, with the time that has passed and that it took before."""

    def __init__(self, what: str) -> None:
        self.what, self.began, before = what, time.monotonic(), took(what)
        self.last = f", last time {_clock(before)}" if before is not None else ""

    @property
    def passed(self) -> float:
        return time.monotonic() - self.began

    def __rich__(self) -> str:
        return f"{self.what}  {_clock(self.passed)}{self.last}".replace("[", "\\[")

    def say(self) -> None:
        say(f"{self.what.removesuffix(' …')}{self.last} …")

    def tell(self, now: str) -> None:
        self.what = now


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Shows `what` on stderr while the block runs, with the time that has passed and that it took
    the last time: on a terminal with a spinner, elsewhere in one line after SILENT_S. The block may
    change the words."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda _what: None
        return
    step = _Step(what)
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True, emoji=False).status(step):
            yield step.tell
    else:
        timer = threading.Timer(SILENT_S, step.say)
        timer.daemon = True
        timer.start()
        try:
            yield step.tell
        finally:
            timer.cancel()
    if _Steps.file is not None and step.passed >= SILENT_S:
        with contextlib.suppress(OSError):
            _Steps.file.write_text(json.dumps(_times() | {what: round(step.passed, 1)}))


def say(text: str, hint: str | None = None) -> None:
    """Writes a line on stderr, which keeps stdout for data, and a hint if there is one. On a
    terminal the text is wrapped to its width."""
    text = harmless(text)
    if sys.stderr.isatty():
        text = wrapped(text, os.get_terminal_size(sys.stderr.fileno()).columns or WIDTH)
    sys.stderr.write(text + "\n")
    if hint:
        say(f"hint: {hint}")


class _Asked:
    more = False


def say_more() -> None:
    """Makes `detail` write from now on."""
    _Asked.more = True


def detail(text: str) -> None:
    """Writes lines on stderr, if more output was asked for (teemark --verbose)."""
    if _Asked.more:
        for line in text.splitlines():
            say(line)
