# SPDX-License-Identifier: BSD-2-Clause
"""The command line as a script meets it: words, exit statuses, errors and hints."""

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.base.console import json_text, paragraph, terminal, wrapped
from teemark.cli import main as cli
from teemark.plan.file import plan_names
from teemark.version import __version__
from teemark.wording import fmt

TEEMARK = [sys.executable, "-m", "teemark"]


def teemark(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TEEMARK, *args],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_versions_are_said_alike(option: str) -> None:
    """One form, one stream, one status; and no success where nobody could read it."""
    built = paths.built_programs("native")
    for name, argv in {
        "teemark": TEEMARK,
        "teebench": [str(built / "teebench")],
        "teehash": [str(built / "teehash")],
    }.items():
        done = subprocess.run([*argv, option], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        # A commit in brackets follows where it is known (test_defaults.py).
        assert re.fullmatch(rf"{name} {re.escape(__version__)}( \([^()]+\))?\n", done.stdout)
        with Path("/dev/full").open("w") as full:
            lost = subprocess.run([*argv, option], stdout=full, stderr=subprocess.PIPE, check=False)
        assert lost.returncode == 1, name
        assert b"No space left on device" in lost.stderr


def test_help_lists_every_command() -> None:
    done = teemark("--help")
    assert done.returncode == 0
    for row in cli.TABLE:
        assert f"  {row.name} " in done.stdout


def test_numbers_and_paths_stay_whole_in_paragraphs(capsys: pytest.CaptureFixture[str]) -> None:
    word = "/a/path/" + 90 * "x"
    paragraph(terminal(), f"• {'word ' * 14}{fmt.count(1234567)} and {word} [bold]")
    out = capsys.readouterr().out
    assert fmt.count(1234567) in out
    assert word in out
    assert out.endswith(" [bold]\n")
    assert all(line.startswith("  ") for line in out.splitlines()[1:])
    assert all(len(line) <= 80 for line in out.splitlines() if word not in line)


def test_a_command_in_backticks_stays_on_one_line() -> None:
    text = f"{'word ' * 5}run `teemark run --board desk --plan full` again"
    assert "`teemark run --board desk --plan full`" in wrapped(text, 40)
    assert all(len(line) <= 40 for line in wrapped(text, 40).splitlines())


def on_terminal(*args: str, width: int = 50) -> list[str]:
    """Returns what a terminal of that width shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, width, 0, 0))
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    said = b""
    with subprocess.Popen([*TEEMARK, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=env):
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as terminal_end, contextlib.suppress(OSError):
            while part := terminal_end.read(4096):
                said += part
    return re.sub(r"\x1b\[[0-9;]*m", "", said.decode()).splitlines()


def test_messages_fit_the_terminal() -> None:
    """Errors, hints and remarks on stderr; elsewhere, for scripts, each is one line."""
    shown = on_terminal("down", "nothere")
    assert all(len(line) <= 50 for line in shown), shown
    assert len(shown) > 2
    plain = teemark("down", "nothere").stderr
    assert len(plain.splitlines()) == 2
    assert " ".join(" ".join(shown).split()) == " ".join(plain.split())


def test_json_for_scripts_is_ascii_and_has_no_nan() -> None:
    text = json_text({"a": [float("nan"), float("inf"), 1.5], "b": "\x9b2J…"})
    assert text.isascii()
    assert json.loads(text) == {"a": [None, None, 1.5], "b": "\x9b2J…"}


def test_a_reader_who_goes_away_is_told_apart_from_a_failure() -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    console = terminal()
    console.file = Gone()
    with pytest.raises(BrokenPipeError):  # rich itself would exit with 1
        console.print("x")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom teemark.cli import main\nmain.run(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'rich', 'jinja2', 'msgspec'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("row", cli.TABLE, ids=lambda row: row.name)
def test_every_command_is_there_and_has_help(
    row: cli.Row, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([row.name, "--help"]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.startswith(f"Usage: teemark {row.name}")
    context = cli.cli.make_context("teemark", ["--version"], resilient_parsing=True)
    command = cli.cli.get_command(context, row.name)
    assert command is not None
    assert command.name == row.name
    assert command.help


@pytest.mark.parametrize(
    "args",
    [
        ["no-such-command"],
        ["--no-such-option"],
        [],
        ["exec"],
        ["exec", "qemu-v8", "--"],
        ["exec", "no-such-board", "--", "true"],
        ["push", "qemu-v8", "/no/such/file", "/tmp"],
        ["shell", "qemu-v8"],
        ["up", "./no.toml"],
        ["down", "no-such-board"],
        ["what-if", "invoke/none/tee/none", "--option", "FOO"],
        ["audit", "/no/such/file"],
        ["report", "/no/such/run"],
        ["explain", "/"],
        ["trace", "--read", "/"],
        ["pr"],  # outside OP-TEE's tree: nothing is announced before that is known
        ["watch", "ls"],
    ],
)
def test_usage_mistakes_are_status_2(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.run(args)
    out, said = capsys.readouterr()
    assert (status, out) == (2, ""), said
    if args:
        assert said.startswith("teemark: error: ")
        assert "\nhint: " in said
    assert "Traceback" not in said


def test_board_list(tmp_path: Path) -> None:
    done = teemark("board", "list", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["qemu-v8"]["kind"] == "virtual"
    assert rows["qemu-v8"]["up"] in (True, False)
    listed = teemark("board", "list").stdout.splitlines()
    assert [name for name, row in rows.items() if row["default"]] == ["qemu-v8-icount"]
    assert any(line.startswith("qemu-v8-icount * ") for line in listed)
    # A line a board, for awk and grep; on a terminal, lines of its width.
    assert [line.split()[0] for line in listed] == ["NAME", *rows]
    shown = on_terminal("board", "list")
    assert all(len(line) <= 50 for line in shown)
    assert len(shown) > len(listed)


def test_plan_list() -> None:
    listed = teemark("plan", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(plan_names())
    assert len(on_terminal("plan", "list")) > len(listed)


@pytest.mark.parametrize(
    ("line", "near"),
    [("rum", "run"), ("run --plan quik", "quick"), ("exec qemu-v9 true", "qemu-v8")],
)
def test_a_word_that_is_nearly_right_is_named(line: str, near: str) -> None:
    assert f"hint: did you mean {near}? " in teemark(*line.split()).stderr


def test_what_never_began_leaves_no_folder(tmp_path: Path) -> None:
    made = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from teemark.run.writer import new_directory
        used, unused = (new_directory(Path(sys.argv[1], name)) for name in ("used", "unused"))
        (used / "run.ndjson").touch()
        if not __import__("os").fork():
            sys.exit()  # another process leaves it to the one that made it
        __import__("os").wait()
        assert unused.is_dir()
        """
    )
    subprocess.run([sys.executable, "-c", made, str(tmp_path)], check=True)
    assert [one.name for one in tmp_path.iterdir()] == ["used"]


def test_board_list_shows_what_is_wrong(tmp_path: Path) -> None:
    own = tmp_path / "teemark" / "boards"
    own.mkdir(parents=True)
    (own / "bad.toml").write_text('kind = "ssh"\n')
    done = teemark("board", "list", "--json", XDG_CONFIG_HOME=str(tmp_path))
    assert done.returncode == 1
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert "address: missing" in rows["bad"]["error"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("teemark pla", {"plan"}),
        ("teemark run --on", {"--only"}),
        ("teemark run --board qemu-v8", {"qemu-v8", "qemu-v8-32", "qemu-v8-icount"}),
        ("teemark run --plan qui", {"quick"}),
        ("teemark setup qemu-v8-i", {"qemu-v8-icount"}),
        ("teemark plan show full", {"full"}),
    ],
)
def test_a_shell_completes_words(line: str, words: set[str]) -> None:
    count = len(line.split()) - 1
    found = teemark(_TEEMARK_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(count))
    assert {word.partition(",")[2] for word in found.stdout.splitlines()} == words


def test_board_that_refuses(tmp_path: Path) -> None:
    board = tmp_path / "off.toml"
    board.write_text('kind = "ssh"\naddress = "127.0.0.1"\nport = 1\n')
    done = teemark("exec", str(board), "--", "true")
    assert done.returncode == 1
    assert done.stderr.startswith("teemark: error: off: 127.0.0.1:1 refuses connections\nhint: ")


def test_images_that_are_not_built(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "pyproject.toml").touch()
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "v.toml").write_text('kind = "virtual"\n')
    done = teemark("exec", "v", "--", "true", TEEMARK_ROOT=str(tmp_path))
    assert done.returncode == 1
    assert "the virtual board isn't built" in done.stderr
    assert "make build" in done.stderr


def test_output_that_nobody_reads_is_no_traceback() -> None:
    line = f"{sys.executable} -m teemark board list --json | true"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "lacking"),
    [
        (["export", "run"], "--format"),
    ],
)
def test_an_option_that_is_required_is_missed(
    words: list[str], lacking: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    said = capsys.readouterr().err
    assert "Missing option" in said
    assert len(said.splitlines()) == 2  # the error and its hint
    assert lacking in said
