# SPDX-License-Identifier: BSD-2-Clause
"""README and docs show commands: those that only read runs are run as printed, from a fresh shell
in a folder with runs; of all others the words are parsed."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from conftest import often
from synthetic import TRUTH, Synthetic, write
from teemark.base import paths
from teemark.base.errors import UsageMistake
from teemark.cli.main import TABLE, Row, cli, examples, run
from teemark.trace import store
from test_trace_outputs import trace

PAGES = [paths.root() / "README.md", *sorted((paths.root() / "docs").glob("*.md"))]

READS = {
    "audit", "board", "compare", "explain", "export", "history", "new-ta", "plan",
    "report", "schema", "table",
}  # fmt: skip
"""Commands that need no board: a page's are run."""

COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?teemark (?=\S)")
SYNOPSIS = re.compile(r"[…\[]|\.\.\.|\b(?:URL|NAME|CASE|PROGRAM)\b")
NAMES = {row.name for row in TABLE}


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    page: str
    text: str  # From the command's name on, without a remark
    inline: bool = False

    @property
    def name(self) -> str:
        return self.text.split()[0]

    @property
    def runs(self) -> bool:
        return not self.inline and self.name in READS and SYNOPSIS.search(self.text) is None


def blocks(text: str) -> Iterator[str]:
    """Yields the lines of code blocks, fenced or indented, with continued lines as one."""
    fenced, begun = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            begun += line.strip()
            if begun.endswith("\\"):
                begun = begun[:-1]
                continue
            yield begun
        begun = ""


def shown(page: Path) -> Iterator[Shown]:
    """Yields the commands of a page: in code blocks, and in backticks."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!-- run:.*?<!-- end of the run -->", "", text, flags=re.S)
    for line in blocks(text):
        if COMMAND.match(line):
            words = COMMAND.sub("", line)
            yield Shown(page.name, re.split(r"  +|\s#\s|\s[|>]", words)[0].strip())
    prose = re.sub(r"^```[\s\S]*?^```$|^    .*$", "", text, flags=re.M)
    for code in re.findall(r"`([^`\n]+)`", prose):
        words = COMMAND.sub("", code)
        table = page.name == "README.md" and code.split()[0] in NAMES
        if (words != code or table) and words.split()[0] in NAMES:
            yield Shown(page.name, words, inline=True)


ALL = [one for page in PAGES for one in shown(page)]


def resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    """Returns the command that words name, and the words behind its name."""
    found: click.Command = cli
    while isinstance(found, click.Group) and words:
        deeper = found.get_command(click.Context(found), words[0])
        if deeper is None:
            raise click.UsageError(f"no command {words[0]}")
        found, words = deeper, words[1:]
    return found, words


def wrong(one: Shown) -> str | None:
    """Says what is wrong with a command's words; None for nothing. Of a synopsis, and of a command
    in the middle of a sentence, only the options are looked at."""
    try:
        words = shlex.split(one.text.replace("[", " ").replace("]…", " ").replace("]", " "))
        command, words = resolve(words)
        options = {
            name for param in command.params for name in (*param.opts, *param.secondary_opts)
        }
        options |= {"-h", "--help"}
        own = words[: words.index("--")] if "--" in words else words
        for word in own:
            option = word.split("=")[0]
            if re.fullmatch(r"--?[a-z][\w-]*", option) and option not in options:
                return f"{command.name} has no {option}"
        if not one.inline and SYNOPSIS.search(one.text) is None and "[" not in one.text:
            command.make_context(command.name, list(words), resilient_parsing=False).close()
    except click.UsageError as error:
        # A file that the page's reader has.
        return None if "does not exist" in error.message else error.format_message()
    except UsageMistake as error:
        # The newest run, which the page's reader has.
        return None if error.message.startswith("no RUN is named") else error.message
    except click.exceptions.Exit:
        pass
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_and_its_options_exist(page: Path) -> None:
    found = [one for one in ALL if one.page == page.name]
    assert [(one.text, why) for one in found if (why := wrong(one)) is not None] == []


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_command_has_examples_that_parse(row: Row) -> None:
    lines = examples(row)
    assert lines
    assert all({row.name, resolve(line.split())[0].name} <= {*line.split()} for line in lines)
    assert [(line, why) for line in lines if (why := wrong(Shown("--help", line)))] == []


def test_commands_are_found() -> None:
    """Pages can't lose their commands to a change of their form without a word."""
    assert sum(not one.inline for one in ALL) >= 60
    assert sum(one.inline for one in ALL) >= 40
    assert sum(one.runs for one in ALL) >= 20
    assert {one.name for one in ALL} > READS - {"schema"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("compare A B --fail-of 5%", "compare has no --fail-of"),
        ("trace … --opteee source", "trace has no --opteee"),
        ("export RUN --format spiral", "Invalid value for '-f' / '--format'"),
        ("new-ta", "Missing argument"),
        ("board lost", "no command lost"),
        ("watch -- xtest --nothing-of-ours", None),
        ("run --plan quick --boots 3", None),
    ],
)
def test_a_wrong_command_is_noticed(text: str, why: str | None) -> None:
    found = wrong(Shown("a.md", text))
    assert (found is None) if why is None else (found is not None and why in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes the files that readers have: runs, a text with figures, teemark in PATH and .venv."""
    made = tmp_path_factory.mktemp("reader")
    names = ("monday", "tuesday", "base", "new", "latest")
    for number, name in enumerate(names):
        truth = TRUTH | {("sha256", "c"): (420.0, 14.9 + number)}
        records = Synthetic(
            seed=number, identical=True, samples=6, board="bbb", counter=1.0, truth=truth
        ).records()
        records[0]["started"] = f"2026-01-{number + 1:02d}T03:04:05Z"
        write(records, made / "runs" / name)
        store.write(trace(), made / "runs" / name)
    boards = (f"runs/20260101T000000Z-{board}-quick" for board in ("stm32mp1", "imx8mm"))
    for name, to in (("RUN", "latest"), ("BASE", "base"), *((name, "new") for name in boards)):
        (made / name).symlink_to(made / "runs" / to)
    (made / "NEW").symlink_to(made / "runs" / "new")
    text = "SHA-256 of 64 KiB: 1.10 ms, 56.8 MiB/s\n"
    for name in ("speed.txt", "notes.md", "FILE", "README.md"):
        (made / name).write_text(text)
    programs = made / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "teemark").write_text(f'#!/bin/sh\nexec {sys.executable} -m teemark "$@"\n')
    (programs / "teemark").chmod(0o755)
    (made / "kept").symlink_to(made / "runs")
    return made


RUN = list(dict.fromkeys(one.text for one in ALL if one.runs))


@pytest.mark.long(20)
@pytest.mark.parametrize("text", RUN)
def test_what_needs_no_board_works_as_printed(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1 is a finding, such as a figure that can't be right; an error is one in words. One
    command of nine has a shell of its own, all of them in `make test-long`."""
    apart = "*" in text or RUN.index(text) % often(9, 1) == 0
    text = text.replace("/tmp/", f"{folder}/")
    if apart:
        done = subprocess.run(
            ["sh", "-c", f"teemark {text}"],
            cwd=folder,
            env=os.environ | {"PATH": f"{folder}/.venv/bin:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        status, said = done.returncode, done.stderr
    else:
        monkeypatch.chdir(folder)
        status, said = run(shlex.split(text)), capsys.readouterr().err
    assert status in (0, 1), said
    assert "error:" not in said
    assert "Traceback" not in said


BLOCK = re.compile(r"^```\w*\n(.*?)^```|((?:^    [^\n]*\n|^\n(?=    ))+)", re.S | re.M)


def transcripts(page: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields the blocks that show commands with what they print: pairs of both."""
    text = page.read_text(encoding="utf-8")
    for fenced, indented in BLOCK.findall(text):
        steps = re.split(r"^\$ ", fenced or textwrap.dedent(indented), flags=re.M)[1:]
        pairs = [(step.partition("\n")[0], step.partition("\n")[2]) for step in steps]
        if any(printed.strip() for _, printed in pairs):
            yield pairs


SEEN = [
    pairs
    for page in PAGES
    for pairs in transcripts(page)
    if all(
        COMMAND.sub("", command).split()[0] in READS | {"cat"} and "…" not in printed
        for command, printed in pairs
    )
]
"""Blocks of commands that need no board, with what they print; `cat` shows a file of the reader."""


def test_blocks_of_what_is_seen_are_found() -> None:
    assert len(SEEN) >= 1


@pytest.mark.parametrize("pairs", SEEN, ids=lambda pairs: pairs[-1][0])
def test_a_command_prints_what_its_page_shows(
    pairs: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, printed in pairs:
        words = shlex.split(COMMAND.sub("", command))
        if words[0] == "cat":
            Path(words[1]).write_text(printed, encoding="utf-8")
            continue
        run(words)
        out, err = capsys.readouterr()
        assert (out + err).splitlines() == printed.splitlines()
