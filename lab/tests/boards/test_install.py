# SPDX-License-Identifier: BSD-2-Clause
"""Installing on a board: this machine over ssh, which has no TEE."""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import sshserver
from conftest import Lent
from fake_board import SudoBoard
from teemark.base import errors, paths
from teemark.boards import Board, ensure_installed, install
from teemark.boards.board import _TA_FOLDER, architecture
from teemark.cli import doctor
from teemark.cli import main as cli
from teemark.doctor import look
from test_doctor import board_facts


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Build outputs for this machine."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "teebench").write_text("#!/bin/sh\necho one\n")
    (programs / "teehash").write_text("#!/bin/sh\necho hash\n")
    tas = tmp_path / "ta"
    tas.mkdir()
    (tas / "8aaaf200-2450-11e4-abe2-0002a5d5c51b.ta").write_bytes(b"TA")
    monkeypatch.setattr(paths, "built_programs", lambda _architecture: programs)
    monkeypatch.setattr(paths, "built_tas", lambda: tas)
    return programs


def test_installs_what_differs_and_nothing_twice(
    board: Board, ssh_server: sshserver.SshServer, built: Path
) -> None:
    def names(*, replaced: bool = False) -> list[str]:
        return [item.local.name for item in ensure_installed(board) if item.replaces == replaced]

    board.exec(["sh", "-c", 'rm -rf ~/"our programs"'])
    assert names() == ["teebench", "teehash"]
    assert names() == []
    assert board.capture(["teebench"]).text == "one\n"
    (built / "teebench").write_text("#!/bin/sh\necho two\n")
    assert names(replaced=True) == ["teebench"]
    assert board.capture(["teebench"]).text == "two\n"
    assert (ssh_server.home / "our programs" / "teehash").stat().st_mode & 0o777 == 0o755


def test_our_tas_are_those_that_are_built() -> None:
    makefiles = [path.read_text() for path in (paths.root() / "ta").glob("*/Makefile")]
    names = [
        name
        for text in makefiles
        for name in re.findall(r"^BINARY\s*:= ([0-9a-f-]{36})$", text, re.M)
    ]
    (sizes,) = [
        found[1].split()
        for text in makefiles
        if (found := re.search(r"^SIZES := (.*)$", text, re.M))
    ]
    assert len(names) == 5
    assert {*names, *(f"6c1f9d34-2b7a-4e58-9d03-71a4e5{int(kib):06}" for kib in sizes)} == set(
        install.TAS
    )


def test_everything_is_taken_away_again(
    board: Board, ssh_server: sshserver.SshServer, built: Path
) -> None:
    board.exec(["sh", "-c", 'rm -rf ~/"our programs"'])
    ensure_installed(board)
    tas = ssh_server.home / "tas"
    tas.mkdir()
    (tas / f"{install.TAS[3]}.ta").write_bytes(b"TA")
    (tas / "8aaaf200-2450-11e4-abe2-0002a5d5c51b.ta").write_bytes(b"somebody else's")
    programs = ssh_server.home / "our programs"
    (programs / "notes").write_text("mine")
    (tas / ".teemark.Ab3dE9").mkdir()
    (ssh_server.home / "teemark.Ab3dE9").mkdir()
    (ssh_server.home / "teemark.notes").write_text("mine")
    try:
        removed, _ = install.remove(board)
        assert removed == [
            str(tas / ".teemark.Ab3dE9"),
            *(str(programs / name) for name in install.PROGRAMS),
            str(tas / f"{install.TAS[3]}.ta"),
            str(ssh_server.home / "teemark.Ab3dE9"),
        ]
        assert [path.name for path in tas.iterdir()] == ["8aaaf200-2450-11e4-abe2-0002a5d5c51b.ta"]
        assert (ssh_server.home / "teemark.notes").exists()
        assert [path.name for path in programs.iterdir()] == ["notes"]
        (programs / "notes").unlink()
        assert install.remove(board) == ([f"{programs}/"], None)
        assert install.remove(board) == ([], None)
    finally:
        shutil.rmtree(tas)


@pytest.mark.parametrize("su", [False, True], ids=["sudo", "su"])
def test_one_home_directory_under_sudo(tmp_path: Path, built: Path, su: bool) -> None:
    """`~` is the user's home where programs are put and where they are looked for."""
    (tmp_path / "it's one").mkdir()
    board = SudoBoard(tmp_path / "it's one", su=su)
    assert [item.local.name for item in ensure_installed(board)] == ["teebench", "teehash"]
    assert board.capture(["teebench"]).text == "one\n"
    assert ensure_installed(board) == []
    board.push(built / "teebench", "~/pushed")
    assert (board.home / "pushed").exists()
    assert board.capture(["sh", "-c", "kill -9 $$"], check=False).status == 137
    assert list(board.other.iterdir()) == []


@pytest.mark.usefixtures("built")
def test_the_doctor_names_what_it_installs_and_does_so_once(
    board: Board, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board.exec(["sh", "-c", 'rm -rf ~/"our programs"'])
    monkeypatch.setattr(doctor, "open_board", lambda _: Lent(board))
    monkeypatch.setattr(look, "look", lambda _: board_facts())

    def said() -> list[str]:
        assert cli.run(["doctor", "local"]) == 0
        return [line for line in capsys.readouterr().err.splitlines() if "installing" in line]

    assert said() == [
        f"installing {name} on local ({number} of 2)"
        for number, name in enumerate(("teebench", "teehash"), 1)
    ]
    assert said() == []


@pytest.fixture
def armv7(ssh_server: sshserver.SshServer) -> Iterator[None]:
    """The board says that it is one: its PATH begins with the folder of our programs."""
    uname = ssh_server.home / "our programs" / "uname"
    shutil.rmtree(uname.parent, ignore_errors=True)
    uname.parent.mkdir()
    uname.write_text("#!/bin/sh\necho armv7l\n")
    uname.chmod(0o755)
    yield
    shutil.rmtree(ssh_server.home / "our programs")


@pytest.mark.exhaustive
def test_programs_are_built_for_a_board_that_needs_them(
    board: Board,
    ssh_server: sshserver.SshServer,
    armv7: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """For a 32-bit board, with the real compiler; what is installed runs on such a processor."""
    emulator = "qemu-arm-static -cpu cortex-a8 -L /usr/arm-linux-gnueabihf"
    monkeypatch.setattr(install, "_RUN", install._RUN.replace('"$1"', f'{emulator} "$1"'))
    monkeypatch.setattr(paths, "build", lambda: tmp_path)
    monkeypatch.setenv("CFLAGS", "-O0")  # takes less time
    told: list[str] = []
    installed = ensure_installed(board, tell=told.append)
    assert [item.local.name for item in installed] == ["teebench", "teehash"]
    assert told[0] == "building the programs for armhf boards …"
    program = ssh_server.home / "our programs" / "teebench"
    case = "oneshot/sha256/c/64"
    argv = [*emulator.split(), str(program), "--samples", "1", "--min-us", "0", case]
    done = subprocess.run(argv, capture_output=True, check=True, text=True)
    assert '"end"' in done.stdout
    assert "armv7l" in done.stdout
    assert ensure_installed(board) == []


def test_without_the_cross_compiler_the_package_is_named(
    board: Board, armv7: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if "arm-" in name else there(name))
    monkeypatch.setattr(paths, "build", lambda: tmp_path)
    with pytest.raises(errors.MissingOutput, match="no arm-linux-gnueabihf-gcc") as caught:
        ensure_installed(board)
    assert "apt install gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" in (caught.value.hint or "")


def test_a_program_that_the_board_cannot_run_is_said(
    board: Board, ssh_server: sshserver.SshServer, built: Path
) -> None:
    (built / "teebench").write_text("#!/no/such/loader\n")
    with pytest.raises(errors.BoardError, match="was installed, but doesn't run") as caught:
        ensure_installed(board)
    assert "its loader" in (caught.value.hint or "")


def test_no_ta_goes_to_a_board_without_a_tee(
    board: Board, ssh_server: sshserver.SshServer, built: Path
) -> None:
    if Path("/dev/tee0").exists():
        pytest.skip("this machine has a TEE")
    ensure_installed(board)
    assert not (ssh_server.home / "tas").exists()


def test_nothing_built_is_an_error_only_where_it_is_asked_for(board: Board, built: Path) -> None:
    for program in built.iterdir():
        program.unlink()
    assert ensure_installed(board) == []
    with pytest.raises(errors.MissingOutput, match=r"the programs for \w+ boards aren.t built"):
        ensure_installed(board, require=True)


@pytest.mark.parametrize(
    ("machine", "folder"),
    [("aarch64", "aarch64"), ("armv7l", "armhf"), ("armv8l", "armhf"), ("riscv64", "riscv64")],
)
def test_architecture(machine: str, folder: str) -> None:
    assert architecture(machine) == folder


def test_architecture_of_a_board_like_this_machine() -> None:
    if platform.machine() in ("aarch64", "armv7l", "armv8l"):
        pytest.skip("cross and native are the same here")
    assert architecture(platform.machine()) == "native"


@pytest.mark.parametrize(
    ("files", "machine"),
    [
        (["ld-linux-aarch64.so.1"], "aarch64 glibc"),
        (["ld-linux-aarch64.so.1", "aarch64-linux-gnu/libc.so.6=GLIBC_2.34"], "aarch64 new"),
        (["ld-linux-aarch64.so.1", "libc.so.6=GLIBC_2.33"], "aarch64 glibc"),
        (["ld-musl-aarch64.so.1"], "aarch64 musl"),
        (["ld-musl-aarch64.so.1", "ld-linux-aarch64.so.1"], "aarch64 glibc"),
        (["ld-linux-armhf.so.3", "libc.so.6=GLIBC_2.34"], "armv7l new"),
        (["ld-musl-armhf.so.1"], "armv7l musl"),
    ],
)
def test_the_look_tells_machine_and_c_library(
    tmp_path: Path, files: list[str], machine: str
) -> None:
    """A root with these loaders and libraries, under a 64-bit kernel."""
    for file in files:
        name, _, text = file.partition("=")
        place = tmp_path / "lib" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    script = re.sub(r"(?<=[ ])(/(?:usr/)?lib)", rf"{tmp_path}\1", install._LOOK)
    script = script.replace("$(uname -m)", "aarch64")
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(tmp_path), ""], capture_output=True, text=True, check=True
    )
    seen = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert f"{seen['machine']} {seen['libc']}" == machine


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        ((), "/lib/optee_armtz"),
        (("-d", "--fs-parent-path", "/data/tee"), "/lib/optee_armtz"),
        (("--ta-path", "{0}/none:{0}/there:/lib/optee_armtz"), "{0}/there"),
        (("--ta-path={0}/none:{0}/none2", "-d"), "{0}/none"),
        (("-d", "-l", "{0}/there"), "{0}/there"),
        (("-l{0}/there",), "{0}/there"),
        (("--ta-dir", "tas"), "/lib/tas"),
        (("-t", "tas"), "/lib/tas"),
    ],
)
def test_tas_go_where_the_supplicant_says_that_it_looks(
    tmp_path: Path, arguments: tuple[str, ...], folder: str
) -> None:
    (tmp_path / "there").mkdir()
    for pid, name, words in (
        (7, "sshd", ("--ta-path", "/wrong")),
        (41, "tee-supplicant", tuple(word.format(tmp_path) for word in arguments)),
        (99, "cat", ("-l", "/wrong")),
    ):
        process = tmp_path / "proc" / str(pid)
        process.mkdir(parents=True)
        (process / "comm").write_text(f"{name}\n")
        (process / "cmdline").write_bytes("\0".join((f"/usr/sbin/{name}", *words, "")).encode())
    script = _TA_FOLDER.replace("/proc/", f"{tmp_path}/proc/")
    for shell in (["sh"], ["busybox", "sh"] if shutil.which("busybox") else ["dash"]):
        done = subprocess.run([*shell, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout == f"folder {folder.format(tmp_path)}\n"
