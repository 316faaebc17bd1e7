# SPDX-License-Identifier: BSD-2-Clause
"""Several boards in one run, and the table of boards. The boards are this machine behind a real ssh
server, with the real programs."""

import csv
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sshserver
from conftest import HOST
from synthetic import EMPTY_CALL, TRUTH, Synthetic
from teemark.cli import main as cli
from teemark.findings.subject import subjects
from teemark.measure import side_by_side
from teemark.report import run_page
from teemark.report.sections.boards import boards, data
from teemark.report.sections.boards import table as boards_table
from teemark.run import reader
from waiting import until

PLAN = """\
summary = "Linux alone."
[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["c"]
sizes = [64, 1024, 4096, 16384]
samples = 6
"""


@pytest.fixture
def words(ssh_server: sshserver.SshServer, tmp_path: Path) -> list[str]:
    """The words of a run on two boards that are there and one that isn't."""
    options = f'["HostKeyAlias={HOST}", "UserKnownHostsFile={ssh_server.known_hosts}"]'
    made = ["run", "--plan", str(tmp_path / "short.toml"), "--out", str(tmp_path / "out")]
    (tmp_path / "short.toml").write_text(PLAN)
    for name, port in {"a": ssh_server.port, "off": 1, "b": ssh_server.port}.items():
        (tmp_path / f"{name}.toml").write_text(
            f'kind = "ssh"\naddress = "127.0.0.1"\nuser = "{ssh_server.user}"\nport = {port}\n'
            f'identity = "{ssh_server.identity}"\noptions = {options}\n'
            f'directory = "~/{name}"\n'
        )
        made += ["--board", str(tmp_path / f"{name}.toml")]
    return made


def begin(words: list[str], **how: Any) -> subprocess.Popen[Any]:
    return subprocess.Popen([sys.executable, "-m", "teemark", *words], **how)


def teemark(*words: str) -> tuple[int, str, str]:
    pipe = subprocess.PIPE
    process = begin([*words], stdout=pipe, stderr=pipe, text=True)
    said = process.communicate()
    return (process.returncode, *said)


def test_a_board_that_fails_stops_no_other(words: list[str], tmp_path: Path) -> None:
    status, out, err = teemark(*words)
    assert status == 1
    assert "teemark: error: off: " in err
    assert "teemark: off: failed, status 1" in err
    for name in ("a", "b"):
        assert reader.read(tmp_path / "out" / name).as_asked
        assert re.search(rf"^ *{name}\b.*none", out, re.M)
        assert f"/out/{name}/run.ndjson\n" in out
    assert not (tmp_path / "out" / "off").exists()
    assert not (tmp_path / "out" / "run.ndjson").exists()


def test_all_fine_is_status_0(words: list[str], tmp_path: Path) -> None:
    at = words.index(str(tmp_path / "off.toml"))
    status, out, err = teemark(*words[: at - 1], *words[at + 1 :], "--json")
    assert status == 0, err
    rows = json.loads(out)
    assert [row["board"] for row in rows] == ["a", "b"]
    # A busy machine's few samples may leave the byte unknown.
    assert all("linux_byte" in row and row["tee_call"] is None for row in rows)


def test_a_board_twice_is_a_mistake(words: list[str], tmp_path: Path) -> None:
    status, _, err = teemark(*words, "--board", str(tmp_path / "a.toml"))
    assert status == 2
    assert "a board is named twice" in err
    assert not (tmp_path / "out").exists()


def test_a_signal_ends_all_and_keeps_what_was_measured(words: list[str], tmp_path: Path) -> None:
    plan = tmp_path / "short.toml"
    plan.write_text(PLAN.replace("samples = 6", "samples = 100000\nmin_us = 20000"))
    quiet, pipe = subprocess.DEVNULL, subprocess.PIPE
    process = begin(words, stderr=pipe, stdout=quiet, text=True, start_new_session=True)
    measuring = 0
    for line in process.stderr or ():
        measuring += "measuring 4 cases" in line
        if measuring == 2:
            break
    # A terminal signals the whole group; a board hears it once, for twice would mean at once.
    assert all(os.getsid(child) == child for child in sshserver.children(process.pid))
    os.killpg(process.pid, signal.SIGINT)
    process.communicate()
    assert process.returncode == 128 + signal.SIGINT
    for name in ("a", "b"):
        end = reader.read(tmp_path / "out" / name).end
        assert end is not None
        assert (end.complete, end.reason) == (False, "interrupted")


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[list[str]]:
    """The words of a run on ten boards that take a connection and then say nothing."""
    (tmp_path / "short.toml").write_text(PLAN)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        port = server.getsockname()[1]
        made = ["run", "--plan", str(tmp_path / "short.toml"), "--out", str(tmp_path / "out")]
        for number in range(10):
            file = tmp_path / f"silent{number}.toml"
            file.write_text(
                f'kind = "ssh"\naddress = "127.0.0.1"\nuser = "x"\nport = {port}\n'
                "connect_timeout = 3600\n"
            )
            made += ["--board", str(file)]
        yield made


def marked(mark: str) -> list[int]:
    """The processes that have this variable in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{mark}=1".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(
    ("begun", "how"),
    [
        (1, signal.SIGINT),
        (4, signal.SIGKILL),
        (10, signal.SIGINT),
        pytest.param(1, signal.SIGKILL, marks=pytest.mark.exhaustive),
        pytest.param(4, signal.SIGINT, marks=pytest.mark.exhaustive),
        pytest.param(10, signal.SIGKILL, marks=pytest.mark.exhaustive),
    ],
)
def test_all_end_with_the_command_even_while_they_start(
    silent: list[str], begun: int, how: signal.Signals
) -> None:
    """A signal found 5 to 10 children that nobody told of it; kill -9 left all of them."""
    mark = f"TEEMARK_TEST_{os.getpid()}_{begun}_{how}"
    process = begin(
        silent, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=os.environ | {mark: "1"}
    )
    until(f"{begun} processes", lambda: len(sshserver.children(process.pid)) >= begun)
    process.send_signal(how)
    try:
        until("all to end", lambda: not marked(mark))
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == (130 if how == signal.SIGINT else -how)
    assert b"Traceback" not in said


LITTLE = """
import sys
from teemark.measure import side_by_side
from teemark.__main__ import main
side_by_side.free_memory = lambda: 2 * side_by_side.PROCESS
sys.exit(main())
"""


def test_boards_without_memory_wait_and_are_measured_then(words: list[str], tmp_path: Path) -> None:
    """Three boards, memory for two: the third begins when the one that is off has failed."""
    done = subprocess.run(
        [sys.executable, "-c", LITTLE, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "b: waits for others to end: there is no memory for all at once\n" in done.stderr
    for name in ("a", "b"):
        assert reader.read(tmp_path / "out" / name).as_asked
    assert done.stderr.index("error: off: ") < done.stderr.index("short on b: ")


def test_memory_is_asked_of_the_kernel_and_of_the_container() -> None:
    free = side_by_side.free_memory()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < free <= total


def test_a_terminal_has_one_live_table(words: list[str]) -> None:
    ours, theirs = pty.openpty()
    process = begin(
        words, stderr=theirs, stdout=subprocess.DEVNULL, env=os.environ | {"COLUMNS": "90"}
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # the last writer has gone
        os.close(ours)
    assert process.wait() == 1
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode())
    for line in ("a +done", "b +done", "off +failed, status 1", "off: hint: is its ssh server"):
        assert re.search(rf"^ *{line}", shown, re.M)
    assert re.search("^ *board +state", shown, re.M)


def test_no_power_is_cut_outside_a_farm(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        cli.cli, ["run", "--board", "qemu-v8", "--power-cycle"], standalone_mode=False
    )
    assert "qemu-v8 is in no labgrid farm" in str(result.exception)


def table(*words: str) -> str:
    done = CliRunner().invoke(cli.cli, ["table", *words], standalone_mode=False)
    assert done.return_value == 0, done.exception
    return done.stdout


def runs(tmp_path: Path) -> list[str]:
    dear = dict(TRUTH) | {("sha256", "tee"): (818_000, 41.2), ("sha256", "ta-ce"): (433_000, 5.0)}
    few: dict[str, Any] = {"algorithms": ("sha256",), "samples": 20}
    made = [
        Synthetic(board="one", emulated=False, **few),
        Synthetic(board="two", emulated=False, truth=dear, **few),
        Synthetic(board="counts", identical=True, noise=0.0, **few),
    ]
    return [str(run.write(tmp_path / run.board).parent) for run in made]


def test_figures_of_a_board_are_those_of_its_run(tmp_path: Path) -> None:
    one, two, counts = (data(subjects([reader.read(Path(p))])[0]) for p in runs(tmp_path))
    known = {"empty_call": EMPTY_CALL, "tee_byte": 20.6, "linux_byte": 9.4}
    for name, truth in known.items():
        assert one[f"{name}_low"] <= one[name] <= one[f"{name}_high"]
        assert one[name] == pytest.approx(truth, rel=0.05)
        assert counts[name] == pytest.approx(truth, rel=0.05)
    assert two["linux_byte"] == pytest.approx(9.4, rel=0.05)  # though one in a TA is cheaper
    assert two["tee_byte"] == pytest.approx(41.2, rel=0.05)
    assert two["tee_call"] - one["tee_call"] == pytest.approx(409_000, rel=0.05)
    assert (one["unit"], counts["unit"]) == ("ns", "instructions")


def test_a_table_has_a_line_a_board_in_each_form(tmp_path: Path) -> None:
    paths = runs(tmp_path)
    assert re.search(r"^ *one .*ns.*\n", table(*paths), re.M)
    markdown = table(*paths, "-f", "markdown").splitlines()
    assert markdown[0].startswith(
        "| board | empty call | SHA-256 call | a byte | a byte in Linux |"
    )
    assert [line.split("|")[1].strip() for line in markdown[2:]] == [
        "one", "two", "counts (instructions)",
    ]  # fmt: skip
    assert "?" not in "".join(markdown)
    rows = list(csv.DictReader(table(*paths, "-f", "csv").splitlines()))
    told = json.loads(table(*paths, "--json"))
    assert [float(row["tee_byte"]) for row in rows] == [row["tee_byte"] for row in told]
    none = json.loads(table(*paths[:1], "--json", "--algorithm", "sha1"))
    assert none[0]["tee_byte"] is none[0]["linux_byte"] is None


def test_a_figure_that_is_badly_known_is_marked(tmp_path: Path) -> None:
    few: dict[str, Any] = {"emulated": False, "algorithms": ("sha256",)}
    badly: tuple[dict[str, Any], ...] = ({"samples": 3}, {"samples": 20, "noise": 2.0})
    for number, how in enumerate(badly):
        made = Synthetic(**few, **how)
        text = table(str(made.write(tmp_path / f"{number}")), "-f", "markdown")
        assert "?: the interval is wider than the figure, or unknown" in text
        line = text.splitlines()[-1]
        assert line.count(" ? ") == 4, line


def test_a_report_of_several_boards_opens_with_them(tmp_path: Path) -> None:
    found = subjects([reader.read(Path(path)) for path in runs(tmp_path)])
    section = boards(found)
    assert section is not None
    assert section.blocks[-1] == boards_table(found)
    assert [type(one).__name__ for one in section.blocks[:-1]] == ["Chart"] * 2
    made = run_page.make([one.run for one in found])
    assert made.html.index('id="boards"') < made.html.index('id="headline"')
    assert boards([found[0], found[0]]) is None
