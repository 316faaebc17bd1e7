# SPDX-License-Identifier: BSD-2-Clause
"""Bad input and bad luck: a message that helps, the other files done, never a wrong digest."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from teehash_program import Program
from waiting import PATIENCE_S, output_of, pour, until_it_settles

GOOD = hashlib.sha256(b"good").hexdigest().encode() + b"  good\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "good").write_bytes(b"good")
    return tmp_path


@pytest.fixture
def faulty(built: Path, native: Program) -> Program:
    return Program(native.path, native.arguments, {"LD_PRELOAD": str(built / "libfault.so")})


# -- files -----------------------------------------------------------------------------------


def test_missing_and_directory(teehash: Program, directory: Path) -> None:
    (directory / "dir").mkdir()
    for jobs in ("1", "3"):
        done = teehash("-j", jobs, "gone", "dir", "", "good", cwd=directory)
        assert (done.status, done.out) == (1, GOOD)
        assert done.err == (
            b"teehash: gone: No such file or directory\n"
            b"teehash: dir: Is a directory\n"
            b"teehash: '': No such file or directory\n"
        )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(teehash: Program, directory: Path) -> None:
    (directory / "secret").write_text("x")
    (directory / "secret").chmod(0)
    done = teehash("secret", "good", cwd=directory)
    assert (done.status, done.out) == (1, GOOD)
    assert done.err == b"teehash: secret: Permission denied\n"


def test_no_permission_for_another_user(native: Program) -> None:
    if os.geteuid():
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:  # the program's own may be closed to others
        Path(folder).chmod(0o755)
        program = shutil.copy(native.path, folder)
        done = subprocess.run(
            [program, "--backend=c", "/etc/shadow"],
            capture_output=True, check=False, user=65534, cwd="/",
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"teehash: /etc/shadow: Permission denied\n"


def test_names_that_upset_terminals(teehash: Program, directory: Path) -> None:
    done = teehash(b"a\x1b[2J\n\xff", "good", cwd=directory)
    assert (done.status, done.out) == (1, GOOD)
    assert done.err == rb"teehash: 'a'$'\033''[2J'$'\012\377': No such file or directory" + b"\n"
    said = teehash(b"a\\b it's", cwd=directory).err  # coreutils' words; a shell reads them back
    assert said == rb"teehash: 'a\b it'\''s': No such file or directory" + b"\n"


def test_fifo_and_device(teehash: Program, directory: Path) -> None:
    os.mkfifo(directory / "fifo")
    with subprocess.Popen(["sh", "-c", "printf good > fifo"], cwd=directory) as writer:
        done = teehash("fifo", "/dev/null", "good", cwd=directory)
        assert writer.wait() == 0
    nothing = hashlib.sha256(b"").hexdigest().encode()
    assert done.out == GOOD.replace(b"  good", b"  fifo") + nothing + b"  /dev/null\n" + GOOD


@pytest.mark.parametrize("reader", ["thread", "inline"])
@pytest.mark.parametrize("at", ["0", "1", "70000", "250000", "299999"])
def test_an_input_output_error_midway(
    faulty: Program, directory: Path, at: str, reader: str
) -> None:
    (directory / "bad").write_bytes(bytes(300_000))
    options = ("--chunk=64K", "--mode=stream", f"--reader={reader}")
    done = faulty(*options, "bad", "good", cwd=directory, FAULT_SIZE="300000", FAULT_AT=at)
    assert (done.status, done.out) == (1, GOOD)
    assert done.err == f"teehash: bad: read error after {at} bytes: Input/output error\n".encode()
    # in one call
    done = faulty("bad", "good", cwd=directory, FAULT_SIZE="300000", FAULT_AT=at)
    assert (done.status, done.out) == (1, GOOD)


def test_a_real_input_output_error(teehash: Program, directory: Path) -> None:
    done = teehash("/proc/self/mem", "good", cwd=directory)
    assert (done.status, done.out) == (1, GOOD)
    assert b"Input/output error" in done.err


@pytest.mark.parametrize("what", ["truncate", "append"])
@pytest.mark.parametrize("options", [["--mode=stream", "--reader=thread"],
                                     ["--mode=stream", "--reader=inline"], ["--mode=auto"],
                                     ["--mode=oneshot"]])  # fmt: skip
@pytest.mark.parametrize("at", ["70000", "300000"])
def test_a_file_that_changes_while_it_is_read(
    faulty: Program, directory: Path, what: str, options: list[str], at: str
) -> None:
    (directory / "bad").write_bytes(bytes(300_000))
    done = faulty(
        "--chunk=64K", *options, "bad", "good", cwd=directory,
        FAULT_SIZE="300000", FAULT_AT=at, FAULT_DO=what,
    )  # fmt: skip
    assert (done.status, done.out) == (1, GOOD), done.said
    assert b"bad: changed while being read (size 300000 before, " in done.err


def test_check_says_failed_for_a_file_that_changes(faulty: Program, directory: Path) -> None:
    (directory / "bad").write_bytes(bytes(300_000))
    text = hashlib.sha256(bytes(300_000)).hexdigest().encode() + b"  bad\n" + GOOD
    done = faulty(
        "-c", "--ignore-missing", cwd=directory, stdin=text,
        FAULT_SIZE="300000", FAULT_AT="70000", FAULT_DO="truncate",
    )  # fmt: skip
    assert (done.status, done.out) == (1, b"bad: FAILED open or read\ngood: OK\n")


# -- output ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["-j3"], ["-c"], ["--report=json"]])
def test_disk_full(teehash: Program, directory: Path, options: list[str]) -> None:
    (directory / "list").write_bytes(GOOD)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [teehash.path, "--backend=c", *options, "list" if "-c" in options else "good", "good"],
            stdout=full, stderr=subprocess.PIPE, cwd=directory, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count(b"teehash: write error: No space left on device\n") == 1


def test_the_report_finds_no_room(native: Program, directory: Path) -> None:
    done = with_shell(native, "--report=json good >/dev/full", directory)
    assert done.returncode == 1
    assert done.stderr == b"teehash: write error: No space left on device\n"
    assert with_shell(native, "--report good 2>/dev/full", directory).returncode == 1


def with_shell(program: Program, line: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """teehash as a shell runs it: redirections may follow."""
    options = " ".join(map(str, program.arguments))
    return subprocess.run(
        ["sh", "-c", f"exec {program.path} {options} {line}"],
        capture_output=True, cwd=cwd, check=False, env={**os.environ, **program.env},
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["good", "-j2 good good", "--report good", "--report=json good", "-c list", "--help", "--version",
     "--list"],
)  # fmt: skip
@pytest.mark.parametrize("which", ["teehash", "tee"])
def test_closed_output(
    request: pytest.FixtureRequest, directory: Path, which: str, line: str
) -> None:
    """It ends as sha256sum does: status 1 and why. No line goes into a file that took the
    descriptor."""
    program: Program = request.getfixturevalue(which)
    (directory / "list").write_bytes(GOOD)
    for closed in (">&-", "<&- >&-"):
        done = with_shell(program, f"{line} {closed}", directory)
        assert done.returncode == 1, done.stderr
        assert done.stderr.count(b"write error: Bad file descriptor\n") == 1, done.stderr
        assert (b"no report is written" in done.stderr) == line.startswith("--report ")


def test_closed_output_that_nobody_needs(teehash: Program, directory: Path) -> None:
    (directory / "list").write_bytes(GOOD)
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        assert with_shell(teehash, f"-c --status list {closed}", directory).returncode == 0


@pytest.mark.parametrize("which", ["teehash", "tee"])
def test_closed_input(request: pytest.FixtureRequest, directory: Path, which: str) -> None:
    program: Program = request.getfixturevalue(which)
    done = with_shell(program, "good <&-", directory)
    assert (done.returncode, done.stdout, done.stderr) == (0, GOOD, b"")
    for line in ("", "-", "-c"):
        done = with_shell(program, f"{line} <&-", directory)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"Bad file descriptor" in done.stderr
    (directory / "list").write_bytes(b"0" * 64 + b"  -\n" + GOOD)
    done = with_shell(program, "-c list <&-", directory)
    assert (done.returncode, done.stdout) == (1, b"-: FAILED open or read\ngood: OK\n")


@pytest.mark.parametrize("which", ["teehash", "tee"])
def test_closed_errors(request: pytest.FixtureRequest, directory: Path, which: str) -> None:
    """Messages are lost, and go nowhere else."""
    program: Program = request.getfixturevalue(which)
    done = with_shell(program, "good 2>&-", directory)
    assert (done.returncode, done.stdout) == (0, GOOD)
    done = with_shell(program, "gone good 2>&-", directory)
    assert (done.returncode, done.stdout) == (1, GOOD)
    # the report itself has no place to go
    assert with_shell(program, "--report good 2>&-", directory).returncode == 1
    assert with_shell(program, "gone good >&- 2>&- <&-", directory).returncode == 1


@pytest.mark.parametrize("ignored", [False, True])
def test_a_reader_that_goes_away(teehash: Program, directory: Path, *, ignored: bool) -> None:
    """It ends as sha256sum does: a silent SIGPIPE, or a message where somebody has it ignored."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [teehash.path, "--backend=c", "good", "good"], restore_signals=not ignored,
        stdout=writing, stderr=subprocess.PIPE, cwd=directory, check=False,
    )  # fmt: skip
    os.close(writing)
    message = b"teehash: write error: Broken pipe\n"
    assert (done.returncode, done.stderr) == ((1, message) if ignored else (-signal.SIGPIPE, b""))


@pytest.mark.parametrize("options", [["-j2"], ["-j2", "--reader=thread"], ["-c", "-j2"]])
def test_a_reader_that_goes_away_ends_all_workers(
    teehash: Program, directory: Path, options: list[str]
) -> None:
    """They don't hash files to the end whose lines nobody gets."""
    with (directory / "big").open("wb") as big:
        big.truncate(1 << 40)  # hours
    with (directory / "first").open("wb") as first:
        first.truncate(40 << 20)  # when its line is printed, others are under way
    (directory / "list").write_bytes(
        b"".join(b"0" * 64 + b"  %s\n" % n for n in (b"first", b"big"))
    )
    names = ["list"] if "-c" in options else ["first", "big", "big", "big"]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [teehash.path, "--backend=c", "--mode=stream", *options, *names], stdout=writing,
        stderr=subprocess.PIPE, cwd=directory, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "-"])
def test_a_pipe_among_the_files_means_one_worker(
    teehash: Program, directory: Path, kind: str
) -> None:
    os.mkfifo(directory / "fifo")
    with subprocess.Popen(
        [teehash.path, "--backend=c", "-j3", "--report=json", "good", "good", "fifo", kind],
        cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        if kind != "fifo":
            until_it_settles(process)
        if kind == "/dev/zero":
            process.send_signal(signal.SIGINT)
            assert output_of(process)[0] == b""
            return
        for _ in range(2 if kind == "fifo" else 1):
            pour(directory / "fifo", b"good")
        out, _ = output_of(process)
    assert json.loads(out)["workers"] == 1
    assert [file["bytes"] for file in json.loads(out)["files"]][:3] == [4, 4, 4]


# -- interrupts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "options", "source"),
    [
        (signal.SIGINT, ["--reader=thread", "--mode=stream"], "/dev/zero"),
        (signal.SIGINT, ["--reader=thread", "--mode=stream"], "fifo"),
        (signal.SIGTERM, ["--reader=inline"], "/dev/zero"),
        (signal.SIGINT, ["--reader=inline"], "fifo"),
        (signal.SIGINT, ["-j2"], "/dev/zero"),
        (signal.SIGTERM, ["-j2"], "fifo"),
        (signal.SIGINT, ["-j2", "--report=json"], "fifo"),
        (signal.SIGINT, ["--report=json", "--reader=thread", "--mode=stream"], "/dev/zero"),
        (signal.SIGINT, ["--report=json", "--reader=thread", "--mode=stream"], "fifo"),
        (signal.SIGINT, ["--report=json", "--reader=inline"], "/dev/zero"),
        (signal.SIGTERM, ["--report=json", "--reader=thread", "-j2"], "/dev/zero"),
    ],
)
def test_interrupted(
    teehash: Program, directory: Path, number: signal.Signals, options: list[str], source: str
) -> None:
    """Ends promptly in mid-stream, and when it waits for a pipe; what is done stays."""
    os.mkfifo(directory / "fifo")
    keep = os.open(directory / "fifo", os.O_RDWR)
    os.write(keep, bytes(50_000))
    with subprocess.Popen(
        [teehash.path, "--backend=c", "--chunk=16K", *options, "good", source, "good"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory,
    ) as process:  # fmt: skip
        until_it_settles(process)
        process.send_signal(number)
        out, err = output_of(process)
    os.close(keep)
    assert process.returncode == -number  # it dies of the signal, or a shell's loop would go on
    if "--report=json" not in options:
        assert (out, err) == (GOOD, b"")
    else:
        assert (out, err) == (b"", b"teehash: interrupted: no report is written\n")


def test_a_signal_while_a_line_waits_for_its_reader(teehash: Program, directory: Path) -> None:
    """It is no write error."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        [teehash.path, "--backend=c", *["good"] * 3000], stdout=writing, stderr=subprocess.PIPE,
        cwd=directory,
    ) as process:  # fmt: skip
        os.close(writing)
        until_it_settles(process)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert output_of(process)[1] == b""
        assert process.returncode == -signal.SIGINT
    os.close(reading)


def test_ctrl_c_ends_a_loop_of_the_shell(teehash: Program, directory: Path) -> None:
    """A shell goes on to the next file unless it sees that the signal ended this one."""
    os.mkfifo(directory / "fifo")
    keep = os.open(directory / "fifo", os.O_RDWR)
    loop = f"for i in 1 2 3; do {teehash.path} --backend=c fifo; echo next; done"
    with subprocess.Popen(
        ["bash", "-c", loop], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory,
        start_new_session=True,
    ) as shell:  # fmt: skip
        until_it_settles(shell)
        os.killpg(shell.pid, signal.SIGINT)
        assert output_of(shell) == (b"", b"")
    os.close(keep)
    assert shell.returncode == -signal.SIGINT


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_when_no_session_opens(tee: Program, directory: Path, jobs: str) -> None:
    """Loading a TA without a supplicant: Ctrl-C need not be pressed twice."""
    with subprocess.Popen(
        [tee.path, "-j", jobs, "good", "good"], env={**os.environ, **tee.env, "FAKE_HANG": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory,
    ) as process:  # fmt: skip
        until_it_settles(process)
        process.send_signal(signal.SIGINT)
        assert output_of(process) == (b"", b"")
        assert process.returncode == -signal.SIGINT


def test_what_nohup_ignores_stays_ignored(teehash: Program, directory: Path) -> None:
    os.mkfifo(directory / "fifo")
    keep = os.open(directory / "fifo", os.O_RDWR)
    script = f"trap '' HUP; exec {teehash.path} --backend=c fifo good"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, cwd=directory) as process:
        until_it_settles(process)
        process.send_signal(signal.SIGHUP)
        with open(directory / "fifo", "wb"):
            os.close(keep)
        assert output_of(process)[0].endswith(GOOD)


# -- the TEE ---------------------------------------------------------------------------------


def test_no_tee(tee: Program, bare: Program, directory: Path) -> None:
    done = tee("good", "gone", cwd=directory, FAKE_NO_TEE="1")
    assert (done.status, done.out) == (1, b"")
    assert done.err.startswith(b"teehash: no TEE device")
    # this program itself, on a machine that may have none
    if not Path("/dev/tee0").exists():
        done = bare("good", cwd=directory)
        assert (done.status, done.out) == (1, b"")
        assert done.err.count(b"\n") <= 2


@pytest.mark.parametrize(
    ("result", "name", "hint"),
    [
        ("0xffff0008", "TEE_ERROR_ITEM_NOT_FOUND", "/lib/optee_armtz"),
        ("0xffff000f", "TEE_ERROR_SECURITY", "signature"),
        ("0xffff000c", "TEE_ERROR_OUT_OF_MEMORY", "memory"),
        ("0xffff3024", "TEE_ERROR_TARGET_DEAD", "secure console"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_no_session(
    tee: Program, directory: Path, result: str, name: str, hint: str, jobs: str
) -> None:
    done = tee("-j", jobs, "good", "good", "good", cwd=directory, FAKE_OPEN=result)
    assert (done.status, done.out) == (1, b"")
    assert name in done.said
    assert result in done.said
    assert "hint: " in done.said
    assert hint in done.said
    assert done.said.count(name) == 1


def test_a_missing_ta_is_not_a_missing_file(tee: Program, directory: Path) -> None:
    done = tee("-c", "--ignore-missing", cwd=directory, stdin=GOOD, FAKE_OPEN="0xffff0008")
    assert (done.status, done.out) == (1, b"")
    assert "TEE_ERROR_ITEM_NOT_FOUND" in done.said


def test_fewer_sessions_than_asked_for(tee: Program, directory: Path) -> None:
    names = []
    for i in range(9):
        (directory / f"{i}").write_bytes(bytes(i))
        names.append(f"{i}")
    done = tee("-j3", *names, cwd=directory, FAKE_OPEN="0xffff000c", FAKE_OPENS="2")
    assert done.status == 0
    assert done.out.count(b"\n") == 9
    assert b"only 2 of 3 sessions could be opened" in done.err


@pytest.mark.parametrize("room", ["1", "2", "4"])
def test_sessions_that_have_no_memory_to_work(tee: Program, directory: Path, room: str) -> None:
    """They are closed before work begins, and the others do it."""
    names = []
    for i in range(40):
        (directory / f"{i}").write_bytes(bytes(i * 1000))
        names.append(f"{i}")
    options = ("--chunk=4K", "--oneshot-limit=8K", "-j5")
    done = tee(*options, *names, cwd=directory, FAKE_ROOM=room)
    assert done.status == 0, done.said
    assert done.out.decode().splitlines() == [
        f"{hashlib.sha256(bytes(int(name) * 1000)).hexdigest()}  {name}" for name in names
    ]
    # alone it is told
    done = tee("0", "1", "2", cwd=directory, FAKE_ROOM="1", FAKE_DIE_AT="2")
    assert (done.status, done.out.count(b"\n")) == (1, 2)


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("at", range(1, 9))
def test_a_ta_that_dies(tee: Program, directory: Path, at: int, jobs: str) -> None:
    """It costs one file; the others are hashed in a new session, and no session is left open."""
    for name in "abc":
        (directory / name).write_bytes(name.encode() * 100_000)
    log = directory / "log"
    done = tee(
        "-j", jobs, "--chunk=64K", "--oneshot-limit=0", "a", "b", "c", cwd=directory,
        FAKE_DIE_AT=str(at), FAKE_LOG=str(log),
    )  # fmt: skip
    digests = [
        hashlib.sha256(name.encode() * 100_000).hexdigest().encode() + b"  " + name.encode()
        for name in "abc"
    ]
    lines = done.out.splitlines()
    logged = log.read_text()
    opened = logged.count("open 00000000")
    assert opened == logged.count("close")
    assert lines == sorted(lines, key=digests.index)
    if jobs == "2" and at <= 4:  # when its memory was tried, before any file
        assert (done.status, len(lines)) == (0, 3)
        return
    assert (done.status, len(lines)) == (1, 2)
    assert "TEE_ERROR_TARGET_DEAD (0xffff3024, from: TEE)" in done.said
    assert done.said.count("TARGET_DEAD") == 1
    # the session that died last may not have been needed again
    assert opened in (int(jobs), int(jobs) + 1)


def test_little_shared_memory(tee: Program, directory: Path) -> None:
    """A default chunk shrinks to what there is; what was asked for does not."""
    (directory / "f").write_bytes(bytes(3_000_000))
    expected = hashlib.sha256(bytes(3_000_000)).hexdigest().encode() + b"  f\n"
    for most in (3_000_000, 300_000, 65_536, 140_000):
        done = tee("--reader=inline", "f", cwd=directory, FAKE_ALLOC=str(most))
        assert (done.status, done.out, done.err) == (0, expected, b"")
    done = tee("f", cwd=directory, FAKE_ALLOC="1000")
    assert (done.status, done.out) == (1, b"")
    assert "hint: the client library or the kernel's driver had no memory" in done.said
    assert "TEE_ERROR_OUT_OF_MEMORY" in done.said or "TEEC_ERROR_OUT_OF_MEMORY" in done.said
    done = tee("--chunk=1M", "f", cwd=directory, FAKE_ALLOC="300000")
    assert (done.status, done.out) == (1, b"")
    done = tee("--mode=oneshot", "f", cwd=directory, FAKE_ALLOC="300000")
    assert (done.status, done.out) == (1, b"")


@pytest.mark.parametrize("options", [[], ["--mode=stream"]])
def test_a_ta_that_returns_too_little(tee: Program, directory: Path, options: list[str]) -> None:
    done = tee(*options, "good", cwd=directory, FAKE_WRONG="1")
    assert (done.status, done.out) == (1, b"")
    assert "31 bytes" in done.said


@pytest.mark.parametrize("jobs", ["-j1", "-j3"])
def test_what_a_backend_lacks_is_said_once(tee: Program, directory: Path, jobs: str) -> None:
    """Not for each line of a list; what it has is checked all the same."""
    entry = f"SHA256 (good) = {hashlib.sha256(b'good').hexdigest()}\n".encode()
    done = tee("--backend=ta-ce", "-c", jobs, cwd=directory, stdin=entry * 4)
    assert (done.status, done.out) == (1, b"good: FAILED open or read\n" * 4)
    assert done.said.count("no SHA-256") == done.said.count("hint: ") == 1
    done = tee("--backend=ta-ce", jobs, *["good"] * 4, cwd=directory)
    assert done.said.count("no SHA-256") == done.said.count("hint: ") == 1


def test_no_thread_can_be_started(teehash: Program, built: Path, directory: Path) -> None:
    """It is said, and nothing leaks: the sanitizer would tell."""
    (directory / "list").write_bytes(GOOD * 9)
    preload = {
        "LD_PRELOAD": str(built / "libfault.so"),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "FAULT_THREADS": "1",
    }
    done = teehash("-c", "-j2", "list", cwd=directory, **preload)
    assert (done.status, done.out) == (1, b"")
    assert done.err == b"teehash: cannot start a thread: Resource temporarily unavailable\n"


def test_threads_have_the_stack_that_every_architecture_needs(
    faulty: Program, directory: Path
) -> None:
    """The fault: to ask for less than aarch64's minimum ends the program."""
    (directory / "big").write_bytes(bytes(300_000))
    done = faulty("--reader=thread", "--mode=stream", "--chunk=64K", "big", cwd=directory)
    assert done.status == 0, done.said


def test_an_algorithm_that_the_tee_lacks(tee: Program, directory: Path) -> None:
    done = tee("--backend=ta-ce", "good", "good", cwd=directory)
    assert (done.status, done.out) == (1, b"")
    assert "NOT_SUPPORTED" in done.said or "no SHA-256" in done.said
    assert done.said.count("good") <= 1  # the same for every file
    assert "hint: backend ta-c has" in done.said


@pytest.mark.parametrize("mode", ["auto", "stream", "oneshot"])
def test_digests_of_the_tee(tee: Program, directory: Path, mode: str) -> None:
    for size in (0, 1, 100_000, 3_000_000):
        (directory / "f").write_bytes(bytes(size))
        for algorithm in ("sha1", "sha256", "sha512", "sha3-256"):
            done = tee("-a", algorithm, f"--mode={mode}", "f", cwd=directory)
            expected = hashlib.new(algorithm.replace("sha3-", "sha3_"), bytes(size)).hexdigest()
            assert done.out.split()[0].decode() == expected, done.said
