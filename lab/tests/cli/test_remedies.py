# SPDX-License-Identifier: BSD-2-Clause
"""Each command that a finding, a message or a hint advises is one that this command line takes;
those that need neither board nor time are run."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from synthetic import Synthetic, write
from teemark.base import paths
from teemark.cli.main import run
from teemark.exact import whatif
from teemark.plan.file import load_plan
from test_docs_commands import NAMES, Shown, wrong

SOURCE = paths.root() / "lab/src/teemark"
ADVICE = re.compile(r"`teemark ([a-z][^`]*)`|(?:^|run |: |or )teemark ([a-z][^`;\n]*)")
PLACE = "CASE"  # Stands for what a sentence fills in: a case, a board, a folder
FILLED = re.compile(r"\b(?:CASE|BOARD|FOLDER|FILE|RUN|BASE|NEW|PROGRAM|NAME|LOCAL|REMOTE|TREE)\b|…")

NOT_RUN = {
    **dict.fromkeys(("run", "trace", "what-if", "gate", "latency"), "boots a board for minutes"),
    **dict.fromkeys(("doctor", "setup", "watch", "up", "down", "exec", "push", "pull", "broker",
                     "shell"), "talks to a board that must be there"),
    **dict.fromkeys(("vboard", "releases", "upstream"), "builds, or fetches sources"),
    **dict.fromkeys(("compare", "memory", "audit", "new-ta", "schema"),
                    "needs files that its sentence names"),
}  # fmt: skip
"""Commands that are parsed and not run, and why; the tests of each run it on its board."""


def texts(tree: ast.AST) -> Iterator[str]:
    """Yields a file's texts without docstrings; what an f-string fills in is PLACE."""
    nodes = [
        node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Expr | ast.Constant)
    ]
    parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {node.value for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            filled = (one.value if isinstance(one, ast.Constant) else PLACE for one in node.values)
            yield "".join(map(str, filled))
        elif isinstance(node, ast.Constant) and node not in parts:
            yield str(node.value)


def strings(value: Any) -> Iterator[str]:
    """Yields all texts of a TOML file."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


FOLDERS = (paths.reference(), paths.plans(), paths.boards(), SOURCE)
TOML = tuple(file for folder in FOLDERS for file in sorted(folder.rglob("*.toml")))


def advised() -> dict[str, str]:
    """Returns the commands that teemark's texts advise, each with a file that does: sources, and
    the TOML files of documents, plans, boards and words."""
    found: dict[str, str] = {}
    for file in (*TOML, *sorted(SOURCE.rglob("*.py"))):
        source = file.read_text(encoding="utf-8")
        if "teemark " not in source:
            continue
        python = file.suffix == ".py"
        for text in texts(ast.parse(source)) if python else strings(tomllib.loads(source)):
            for quoted, bare in ADVICE.findall(text):
                words = (
                    quoted
                    or re.split(
                        r"[,)]|\.(?:\s|$)| (?:and|to|in|prints|measures|tells|counts) ", bare
                    )[0]
                ).strip()
                if words.split()[0] in NAMES:
                    found.setdefault(words, str(file.relative_to(paths.root())))
    return found


ADVISED = advised()


def test_they_are_found() -> None:
    """The forms in which rules write them: a constant, an f-string, a word in a sentence."""
    assert len(ADVISED) >= 40
    for words in (
        "run --plan explain --trace-events",
        "trace CASE CASE",
        "doctor BOARD --accelerators",
        "what-if CASE --option CFG_CC_OPT_LEVEL=2",
    ):
        assert words in ADVISED, sorted(ADVISED)


@pytest.mark.parametrize("words", ADVISED, ids=str)
def test_each_is_a_command_with_its_options(words: str) -> None:
    inline = " " not in words or FILLED.search(words) is not None
    assert wrong(Shown(ADVISED[words], words, inline=inline)) is None, ADVISED[words]


RUN = [words for words in ADVISED if words.split()[0] not in NOT_RUN and not FILLED.search(words)]


@pytest.mark.parametrize("words", RUN, ids=str)
def test_what_is_cheap_is_run(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder with a run; status 1 is a finding."""
    write(Synthetic(samples=6).records(), tmp_path / "runs" / "latest")
    monkeypatch.chdir(tmp_path)
    status = run(shlex.split(words))
    assert status in (0, 1), capsys.readouterr().err


OF_TOML = [words for words, file in ADVISED.items() if file.endswith(".toml")]


def test_those_of_toml_files_are_found_and_traced_on_the_exact_board() -> None:
    """test_trace_board.py traces the plan `trace`, test_broker_trace.py a message of the broker:
    the case of each advised trace is among them."""
    traced = {*load_plan("trace").keys, "broker/cpu-1/tee/64", "--plan"}
    cases = {words.split()[1] for words in OF_TOML if words.startswith("trace ")}
    assert {"session/first-open/tee/none", "broker/cpu-1/tee/64"} <= cases <= traced
    assert {words.split()[0] for words in OF_TOML} <= {"trace", "explain", "upstream"}


FINDINGS = tomllib.loads((paths.reference() / "upstream.toml").read_text("utf-8"))["finding"]
SHOWN = {
    " ".join(("what-if", one["case"], *(f"--option {word}" for word in one.get("options", ()))))
    for one in FINDINGS
    if one["case"]
} | {f"what-if {whatif.CASES[0]} --option {option}" for option in whatif.CATALOGUE}
"""The commands that show a finding of upstream.toml, and the price of a catalogue's option."""


@pytest.mark.parametrize("words", sorted(SHOWN))
def test_what_shows_a_finding_of_upstream_or_an_option_is_a_command(words: str) -> None:
    assert wrong(Shown("upstream.toml", words)) is None


def test_each_reason_is_of_a_command_that_there_is() -> None:
    assert not set(NOT_RUN) - NAMES
    assert len(RUN) >= 5
