# SPDX-License-Identifier: BSD-2-Clause
"""teehash on the real OP-TEE: digests, lists, the report, and what happens when luck is bad."""

import hashlib
import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import often, renew_supplicant
from teemark.base import paths
from teemark.boards import VirtualBoard
from teemark.boards.shell import Result
from waiting import PATIENCE_S

pytestmark = [pytest.mark.board, pytest.mark.long(140)]

EXHAUSTIVE = pytest.mark.exhaustive
UUID = "5e5b2f0c-6d0a-4b57-9c1e-3a7f41d28860"
TA = f"/lib/optee_armtz/{UUID}.ta"
PROBE = "/lib/optee_armtz/8d1f60c7-5b3e-4c92-b027-e4196a53cd08.ta"
ALGORITHMS = (
    *("sha1", "sha224", "sha256", "sha384", "sha512"),
    *("sha3-224", "sha3-256", "sha3-384", "sha3-512"),
)
NOISE = random.Random(3).randbytes(5_000_000)
GOOD = hashlib.sha256(b"good").hexdigest() + "  good\n"


def digest(data: bytes, algorithm: str = "sha256") -> str:
    return hashlib.new(algorithm.replace("sha3-", "sha3_"), data).hexdigest()


@pytest.fixture(scope="module")
def board(qemu_v8: VirtualBoard, tmp_path_factory: pytest.TempPathFactory) -> VirtualBoard:
    noise = tmp_path_factory.mktemp("noise") / "noise"
    noise.write_bytes(NOISE)
    qemu_v8.script("mkdir -p /data/th && printf good >/data/th/good")
    qemu_v8.push(noise, "/data/th/noise")
    return qemu_v8


def run(board: VirtualBoard, script: str, *arguments: str) -> Result:
    """A shell script in the folder of files; whatever its status."""
    return board.script(f"cd /data/th || exit 99\n{script}", *arguments, check=False)


def report(board: VirtualBoard, arguments: str) -> dict[str, Any]:
    done = run(board, f"teehash --report=json {arguments}")
    assert done.status == 0, done.complaint
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# -- digests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["tee", "ta-c", "ta-ce"])
def test_sizes_and_chunks(board: VirtualBoard, backend: str) -> None:
    """Random cuts of the noise through random chunks; hashlib knows better."""
    dice = random.Random(backend)
    script = []
    expected = []
    for _ in range(often(5, 25)):
        chunk = dice.choice([4096, 5000, 65_536, 100_001, 1 << 20])
        size = dice.choice([0, 1, 63, 64, chunk - 1, chunk, chunk + 1, dice.randrange(3_000_000)])
        limit = dice.choice([0, 4096, 4 << 20])
        mode = dice.choice(["auto", "stream"])
        reader = dice.choice(["thread", "inline"])
        algorithm = dice.choice(["sha1", "sha224", "sha256"])
        name = dice.choice(["cut", "-"])
        script.append(
            f"head -c {size} noise >cut; teehash --backend={backend} -a {algorithm} --mode={mode}"
            f" --chunk={chunk} --oneshot-limit={limit} --reader={reader} {name} <cut"
        )
        expected.append(f"{digest(NOISE[:size], algorithm)}  {name}\n")
    done = run(board, "\n".join(script))
    assert (done.text, done.complaint) == ("".join(expected), "")


@pytest.mark.parametrize("mode", ["oneshot", "stream"])
def test_every_algorithm(board: VirtualBoard, mode: str) -> None:
    """One session for all of them: a list whose lines name their algorithm."""
    sizes = (0, 3, 144, 1_000_000)
    lines = [f"{a.upper()} (cut{n}) = {digest(NOISE[:n], a)}" for n in sizes for a in ALGORITHMS]
    cut = "; ".join(f"head -c {n} noise >cut{n}" for n in sizes)
    done = run(board, f'{cut}; echo "$1" >list; teehash -c --mode={mode} list', "\n".join(lines))
    expected = "".join(f"cut{n}: OK\n" * len(ALGORITHMS) for n in sizes)
    assert (done.status, done.text, done.complaint) == (0, expected, "")


@pytest.fixture(scope="module")
def vectors(board: VirtualBoard) -> str:
    """A program on the board that puts published vectors through a backend."""
    target = paths.root() / "host"
    subprocess.run(
        ["make", "--no-print-directory", "-C", target, "ARCH=aarch64", "tests"], check=True
    )
    program = paths.root() / "build" / "host" / "aarch64" / "tests" / "vectors"
    board.push(program, "/tmp/vectors", mode=0o755)
    for name in ("examples.txt", "monte-carlo.txt"):
        board.push(paths.root() / "common" / "tests" / "vectors" / name, f"/tmp/{name}")
    return "/tmp/vectors"


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("backend", ["tee", "ta-c", "ta-ce"])
def test_published_vectors(board: VirtualBoard, vectors: str, backend: str) -> None:
    """NIST's examples; in `make test-long` its Monte Carlo test too, up to the first checkpoint:
    1,000 digests each of the one before. All hundred are checked natively (common/tests); here,
    $MONTE_CARLO=100."""
    count = os.environ.get("MONTE_CARLO", str(often(0, 1)))
    lacking = set() if backend != "ta-ce" else set(ALGORITHMS[3:])
    examples = board.capture([vectors, backend, "examples", "/tmp/examples.txt"]).text
    said = [(examples, 3, "example")]
    if count != "0":
        argv = [vectors, backend, "monte-carlo", "/tmp/monte-carlo.txt", count]
        said.append((board.capture(argv, timeout=7000).text, 1, f"monte-carlo {count}"))
    for text, least, word in said:
        for algorithm in ALGORITHMS:
            lines = [line for line in text.splitlines() if line.split()[1] == algorithm]
            if algorithm in lacking:
                assert set(lines) == {f"{backend} {algorithm} skip"}
            else:
                assert len(lines) >= least
                assert all(f" {word}" in line for line in lines)


def test_lists_both_ways(board: VirtualBoard) -> None:
    done = run(
        board,
        "teehash good noise >list && sha256sum -c list && sha256sum good noise | teehash -c &&"
        " teehash --tag -a sha512 good noise | teehash -c -j2",
    )
    assert (done.status, done.text) == (0, "good: OK\nnoise: OK\n" * 3)


# -- the report ------------------------------------------------------------------------------


def test_the_report(board: VirtualBoard) -> None:
    found = report(board, "--chunk=256K --mode=stream --reader=thread noise good")
    tee, first = found["tee"], found["first"]
    assert [file["digest"] for file in found["files"]] == [digest(NOISE), digest(b"good")]
    # 5,000,000 bytes: init, 19 updates, final; and init, final
    assert tee["invoke_count"]["value"] == 21 + 2
    assert 100 < tee["ta_stack_high_water"]["value"] < 8192
    # at least one request for each block of the TA that the supplicant reads
    assert tee["rpc_count"]["value"] >= 2, tee["rpc_count"]
    switches = tee["world_switches"]["value"]
    assert switches >= tee["invoke_count"]["value"] + tee["rpc_count"]["value"]
    # the TA may read a counter on this board; what it says lies inside of tee_time
    assert "read by the TA" in tee["hash_compute_time"]["source"]
    assert 0.2 < tee["hash_compute_time"]["value"] / tee["tee_time"]["value"] < 1
    assert first["session_open"]["value"] > first["context_open"]["value"] > 0
    assert found["derived"]["empty_call"]["value"] < first["session_open"]["value"]
    parts = {part["part"]: part["ns"] for part in found["breakdown"]["parts"]}
    assert sum(parts.values()) == found["breakdown"]["total_ns"]
    assert parts["unexplained"] < 0.25 * found["breakdown"]["total_ns"]


def test_time_in_a_ta_that_has_no_counter_is_not_told(board: VirtualBoard) -> None:
    """Without the TA that is sacrificed to find out, nobody reads a counter."""
    board.script('mv "$1" /tmp/probe.ta', PROBE)
    try:
        compute = report(board, "noise")["tee"]["hash_compute_time"]
    finally:
        board.script('mv /tmp/probe.ta "$1"', PROBE)
    assert compute["value"] is None
    assert "ITEM_NOT_FOUND" in compute["reason"], compute


def test_cold(board: VirtualBoard) -> None:
    warm = report(board, "noise")
    cold = report(board, "--cold noise")
    assert warm["host"]["disk_read"]["value"] < len(NOISE) / 20
    assert cold["host"]["disk_read"]["value"] >= 0.95 * len(NOISE)
    assert cold["files"][0]["digest"] == digest(NOISE)


def test_memory(board: VirtualBoard) -> None:
    """The same for a small and a large file, and at most 4 MiB more than grep's."""
    run(board, "head -c 1048576 noise >small; truncate -s 16M large")
    empty = int(run(board, "grep VmHWM /proc/self/status | tr -dc 0-9").text) * 1024
    peaks = [
        report(board, f"--backend=ta-ce --reader={reader} {name}")["host"]["peak_memory"]["value"]
        for reader in ("thread", "inline")
        for name in ("small", "large")
    ]
    assert max(peaks) - min(peaks) < 512 << 10, peaks
    assert max(peaks) - empty < 4 << 20, (peaks, empty)


INSTANCES = "/sys/kernel/tracing/instances"
BEGIN = f"""
truncate -s 400M big
# until the report has begun to count, and the file is being read
begin() {{
    "$@" >out 2>said & pid=$!
    until [ -d {INSTANCES}/teemark-$pid ]; do sleep 0.1; done
    until ls -l /proc/$pid/fd 2>/dev/null | grep -q /big; do sleep 0.1; done
    sleep 0.5
}}
"""


@pytest.mark.parametrize(
    "options",
    [
        "--reader=thread",
        *(pytest.param(one, marks=EXHAUSTIVE) for one in ("--reader=inline", "-j2")),
    ],
)
@pytest.mark.parametrize(("signals", "statuses"), [("TERM", {143}), ("TERM HUP", {143, 129})])
def test_an_interrupted_report(
    board: VirtualBoard, options: str, signals: str, statuses: set[int]
) -> None:
    """None is written, at one signal or two, and it is said; the kernel keeps no buffers for it,
    after two until the next report."""
    after = "teehash --report good >/dev/null 2>&1; " if " " in signals else ""
    done = run(
        board,
        f"{BEGIN}begin teehash --report=json --chunk=1M {options} good big good\n"
        f"for name in {signals}; do kill -$name $pid; done; {{ wait $pid; echo $?; }} 2>/dev/null\n"
        f"{after}ls {INSTANCES}; cat out said; rm big",
    )
    words = "teehash: interrupted: no report is written\n"
    # of two that wait at the same time the kernel delivers the lower one first
    assert (done.text, done.complaint) in {(f"{status}\n{words}", "") for status in statuses}


def test_traces_of_the_killed_are_removed(board: VirtualBoard) -> None:
    """Nobody can tidy up after SIGKILL but the next; those who live keep theirs."""
    done = run(
        board,
        f"{BEGIN}begin teehash --report big; kill -9 $pid; wait $pid; echo $?\n"
        f"ls {INSTANCES} | wc -l\n"
        "begin teehash --report big; living=$pid\n"
        f"teehash --report good 2>/dev/null; ls {INSTANCES}; echo $living\n"
        f"kill -TERM $living; wait $living; echo $?; ls {INSTANCES}; rm big",
    )
    lines = done.text.splitlines()
    assert lines[:3] == ["137", "1", GOOD.rstrip()]
    assert lines[3:] == [f"teemark-{lines[4]}", lines[4], "143"]


def test_closed_descriptors(board: VirtualBoard) -> None:
    """The TEE's device doesn't become standard output, nor does the report."""
    done = run(
        board,
        "teehash good >&-; echo $?; teehash <&-; echo $?; teehash good 2>&-; echo $?\n"
        "teehash --report=json good >&-; echo $?",
    )
    assert done.text.splitlines() == ["1", "1", GOOD.rstrip(), "0", "1"]
    assert done.complaint.count("write error: Bad file descriptor") == 2


# -- bad luck --------------------------------------------------------------------------------


@pytest.fixture
def aside(board: VirtualBoard) -> Iterator[None]:
    """The TA may be changed; afterwards it is what it was."""
    board.script('cp -p "$1" /tmp/good.ta', TA)
    yield
    board.script('mv /tmp/good.ta "$1"', TA)


def test_no_ta(board: VirtualBoard, aside: None) -> None:
    board.script('rm "$1"', TA)
    done = run(board, "teehash good good; echo $?; teehash -c --ignore-missing; echo $?")
    assert done.text == "1\n1\n"
    first = run(board, "teehash good good")
    assert "TEE_ERROR_ITEM_NOT_FOUND (0xffff0008" in first.complaint
    assert f"{UUID}.ta" in first.complaint
    assert first.complaint.count("ITEM_NOT_FOUND") == 1


def test_a_ta_that_was_altered(board: VirtualBoard, aside: None) -> None:
    board.script(
        'size=$(stat -c %s "$1"); chmod u+w "$1"; '
        'printf X | dd of="$1" bs=1 seek=$((size - 5)) conv=notrunc 2>&1',
        TA,
    )
    done = run(board, "teehash good")
    assert (done.status, done.text) == (1, "")
    assert "TEE_ERROR_SECURITY" in done.complaint
    assert "sign" in done.complaint


@pytest.fixture(scope="module")
def dying_ta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digest TA, but it panics in its fourth update when the piece is 65,536 bytes."""
    copy = tmp_path_factory.mktemp("ta")
    for room in ("ta", "common"):
        shutil.copytree(paths.root() / room, copy / room)
    source = copy / "ta" / "digest" / "commands.c"
    text = source.read_text()
    line = "\tdigest_slot_update(&session->stream, in.data, in.len);\n"
    assert text.count(line) == 1
    panic = "\tstatic int n;\n\tif (in.len == 65536 && n++ == 3)\n\t\tTEE_Panic(0xdead);\n"
    source.write_text(text.replace(line, panic + line))
    subprocess.run(
        ["make", "--no-print-directory", "-C", copy / "ta" / "digest", f"O={copy / 'out'}",
         f"TA_DEV_KIT_DIR={paths.vboard() / 'ta_dev_kit'}"],
        check=True, capture_output=True,
    )  # fmt: skip
    return copy / "out" / f"{UUID}.ta"


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=EXHAUSTIVE), "2"])
def test_a_ta_that_dies_midway(board: VirtualBoard, aside: None, dying_ta: Path, jobs: str) -> None:
    """It costs the file it was at; the next gets a new session, others' sessions live on."""
    board.push(dying_ta, TA)
    # Another process holds a session all the while: it streams in pieces of another size.
    done = run(
        board,
        f"(cat noise; sleep 2; cat noise) | teehash --chunk=32K >other & other=$!\n"
        f"sleep 0.5; teehash -j {jobs} --mode=stream --chunk=64K good noise good; status=$?\n"
        "wait $other; echo $status $?; cat other",
    )
    assert done.text == f"{GOOD}{GOOD}1 0\n{digest(NOISE * 2)}  -\n", done.complaint
    assert done.complaint.count("TEE_ERROR_TARGET_DEAD (0xffff3024") == 1
    assert "noise: " in done.complaint


def test_no_permission(board: VirtualBoard) -> None:
    done = run(
        board,
        'cp "$(command -v teehash)" /tmp/teehash.user; chmod 755 /tmp/teehash.user\n'
        "chmod 755 /data/th; su -s /bin/sh nobody -c '/tmp/teehash.user good'",
    )
    assert (done.status, done.text) == (1, "")
    assert "/dev/tee0" in done.complaint
    assert "ermission" in done.complaint
    assert "hint: " in done.complaint


def test_no_device(board: VirtualBoard) -> None:
    """`c` does not mind; `tee` says so at once."""
    done = run(
        board,
        "mkdir /tmp/away; mv /dev/tee[0-9]* /dev/teepriv* /tmp/away\n"
        "teehash good; echo $?; teehash --backend=c good; echo $?\n"
        "mv /tmp/away/* /dev; rmdir /tmp/away",
    )
    assert done.text == f"1\n{GOOD}0\n"
    assert "/dev/tee" in done.complaint


def test_a_stopped_supplicant(board: VirtualBoard) -> None:
    done = run(
        board,
        "kill -STOP $(pidof tee-supplicant)\n"
        "TEEMARK_TEE_TIMEOUT=2 teehash good good; echo $?\n"
        "kill -CONT $(pidof tee-supplicant); teehash good",
    )
    assert done.text == f"1\n{GOOD}"
    assert "kill -CONT" in done.complaint


def test_the_tee_runs_out_of_memory(board: VirtualBoard) -> None:
    """More sessions than fit: fewer do the work, and it says so."""
    done = run(board, "for i in $(seq 80); do head -c 20000 noise >m$i; done; teehash -j 64 m*")
    lines = done.text.splitlines()
    assert len(lines) == 80
    assert {line.split()[0] for line in lines} == {digest(NOISE[:20000])}
    assert done.status == 0
    assert " of 64 sessions could be opened" in done.complaint
    assert "TEE_ERROR_" in done.complaint or "TEEC_ERROR_" in done.complaint


@pytest.mark.parametrize(
    "options",
    ["", *(pytest.param(one, marks=EXHAUSTIVE) for one in ("-j2", "--reader=inline"))],
)
def test_a_file_that_can_be_allocated_but_not_mapped(board: VirtualBoard, options: str) -> None:
    """OP-TEE refuses the one call; the file is streamed, and the next ones too."""
    done = run(
        board,
        "for i in 1 2 3 4 5 6; do cat noise; done | head -c 20971520 >m20\n"
        f"teehash --backend=ta-ce --oneshot-limit=64M {options} m20 good m20; status=$?; rm m20\n"
        "exit $status",
    )
    whole = digest((NOISE * 6)[: 20 << 20]) + "  m20\n"
    assert (done.status, done.text, done.complaint) == (0, whole + GOOD + whole, "")


def test_a_killed_supplicant(board: VirtualBoard) -> None:
    done = run(
        board,
        "kill -9 $(pidof tee-supplicant); while pidof tee-supplicant >/dev/null; do :; done\n"
        "TEEMARK_TEE_TIMEOUT=2 teehash good good; echo $?\n"
        "tee-supplicant -d --fs-parent-path /data/tee; teehash good",
    )
    assert done.text == f"1\n{GOOD}"
    assert "tee-supplicant" in done.complaint
    assert "hint: " in done.complaint


def test_many_files(board: VirtualBoard) -> None:
    """It does them as sha256sum does, however many."""
    done = run(
        board,
        "mkdir many && cd many && seq 200 | while read -r i; do echo $i >$i; done\n"
        "sha256sum * >../theirs; teehash * >../ours && cmp ../ours ../theirs && wc -l <../ours\n"
        "status=$?; cd ..; rm -r many; exit $status",
    )
    assert (done.status, done.text.strip(), done.complaint) == (0, "200", "")


def test_disk_full(board: VirtualBoard) -> None:
    done = run(
        board,
        "mkdir /tmp/tiny && mount -t tmpfs -o size=4k none /tmp/tiny && cd /tmp/tiny &&"
        " head -c 4096 /dev/zero >filler; cd /data/th\n"
        "teehash good >/tmp/tiny/out; echo $?; umount /tmp/tiny; rmdir /tmp/tiny",
    )
    assert done.text == "1\n"
    assert "write error: No space left on device" in done.complaint


@pytest.mark.parametrize("size", ["1000", "90M"])
def test_a_file_that_shrinks_or_grows(board: VirtualBoard, size: str) -> None:
    done = run(
        board,
        "truncate -s 64M big; teehash big good & pid=$!\n"
        "until ls -l /proc/$pid/fd 2>/dev/null | grep -q /big; do :; done\n"
        'truncate -s "$1" big; wait $pid; echo $?; rm big',
        size,
    )
    assert done.text == f"{GOOD}1\n"
    assert "big: changed while being read" in done.complaint


@pytest.mark.parametrize(
    ("jobs", "name", "number"),
    [
        ("2", "TERM", 15),
        *(
            pytest.param(jobs, name, number, marks=EXHAUSTIVE)
            for jobs, name, number in (("1", "INT", 2), ("1", "TERM", 15), ("2", "INT", 2))
        ),
    ],
)
def test_interrupted(board: VirtualBoard, jobs: str, name: str, number: int) -> None:
    """host/tests/teehash has every option and moment on this machine."""
    run(board, "truncate -s 8G big")
    script = f"cd /data/th && exec teehash -j{jobs} good big good 2>said"
    with board.stream(["sh", "-c", script]) as process:
        lines = process.lines()
        assert next(lines) == GOOD.encode()
        process.signal(name)
        assert list(lines) == []
        assert process.wait(PATIENCE_S) == 128 + number
    done = run(board, "cat said; rm big; teehash good")
    assert done.text == GOOD


def test_a_killed_client_leaves_nothing_behind(board: VirtualBoard) -> None:
    run(
        board,
        "truncate -s 400M big\n"
        "for i in 1 2 3 4 5 6; do teehash -j2 big noise >/dev/null & pid=$!; sleep 0.6;"
        " kill -9 $pid; wait $pid; done 2>/dev/null; rm big",
    )
    renew_supplicant(board)
    done = run(board, "teehash -j2 good good")
    assert (done.status, done.text) == (0, GOOD * 2)
