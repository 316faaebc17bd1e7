# SPDX-License-Identifier: BSD-2-Clause
"""The bench and size TAs on the real OP-TEE, through ta_check and ta_torture (ta/tests/board)."""

import re
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from conftest import bring_ta_programs, often
from teemark.boards import VirtualBoard
from waiting import PATIENCE_S

pytestmark = [pytest.mark.board, pytest.mark.long(220)]

REPOSITORY = Path(__file__).resolve().parents[3]
VECTORS = REPOSITORY / "common/tests/vectors/ciphers.txt"


@pytest.fixture(scope="module")
def programs(qemu_v8_smp: VirtualBoard) -> Path:
    """Returns the folder on the board that has ta_check, ta_torture and the vectors."""
    folder = bring_ta_programs(qemu_v8_smp)
    qemu_v8_smp.push(VECTORS, str(folder / "ciphers.txt"), mode=0o644)
    return folder


@pytest.mark.parametrize(("ta", "commands"), [("bench", 25), ("probe", 3), ("size", 3)])
def test_every_parameter_type_is_answered(
    qemu_v8_smp: VirtualBoard, programs: Path, ta: str, commands: int
) -> None:
    """Every type that the driver passes on, on every command and on some that there are not, and
    all 65,536 on the first: no instance died. In `make test` it is each 509th type: ta/tests
    tries all of them on the shim."""
    step = often(509, 1)
    lines = qemu_v8_smp.capture(
        [str(programs / "ta_check"), "types", ta, str(step)], timeout=800
    ).text
    counts = [
        tuple(map(int, found))
        for found in re.findall(
            r"^command (\d+): (\d+) calls, (\d+) successes, (\d+) neither", lines, re.M
        )
    ]
    assert len(counts) == commands
    assert all(calls >= 7**4 // step // 2 and bad == 0 for _, calls, _, bad in counts)
    assert max(calls for _, calls, _, _ in counts) >= 65536 // step
    # NOP of the bench TA: any types that exist, of all three kinds of memory.
    if ta == "bench" and step == 1:
        assert (0, 65536 + 2 * 7**4, 3 * 7**4, 0) in counts


def test_published_vectors(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """Whole messages and steps, both directions; no plaintext leaves with a wrong tag."""
    command = [str(programs / "ta_torture"), "vectors", "/tmp/ciphers.txt"]
    assert re.fullmatch(
        r"\d+ right, \d+ not for a TEE, 0 wrong\n", qemu_v8_smp.capture(command).text
    )


def test_eight_sessions_at_once(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """10,000 calls of all kinds (200 in `make test`): all results right, OP-TEE's memory back to
    where it was."""
    count = often(200, 10000)
    command = [str(programs / "ta_torture"), "sessions", "8", str(count)]
    result = qemu_v8_smp.capture(command, timeout=800, check=False)
    text = result.text
    found = re.match(r"8 sessions, (\d+) calls, 0 findings\n", text)
    assert found, text
    assert result.status == 0, text
    assert int(found[1]) >= count
    pools = re.findall(r"^(.+): (\d+) bytes before, (\d+) after", text, re.M)
    assert pools, text
    assert all(before == after for _, before, after in pools), text


def test_two_threads_in_one_session(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """Whole messages of one, messages in pieces of the other: right or refused, and it lives."""
    count = often(150, 2000)
    command = [str(programs / "ta_torture"), "parallel", str(count)]
    text = qemu_v8_smp.capture(command, timeout=300).text
    found = re.fullmatch(
        r"messages: (\d+) right, (\d+) refused, 0 wrong, 0x00000000\n"
        r"streams: (\d+) right, (\d+) refused, 0 wrong, 0x00000000\n"
        r"afterwards: 10 right\n",
        text,
    )
    assert found, text
    assert int(found[1]) + int(found[2]) == int(found[3]) + int(found[4]) == count


def test_memory_that_changes_during_calls(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """Requests of all kinds, with parameters that overlap: each is answered and no TA dies; a
    ciphertext with a byte that comes and goes is right, or refused without a byte of plaintext."""
    hostile = [str(programs / "ta_torture"), "hostile"]
    stored = "ls /data/tee | wc -l"
    # The TEE makes something for its first object, which stays.
    qemu_v8_smp.capture([*hostile, str(often(20, 1000))], timeout=300)
    before = qemu_v8_smp.script(stored).text
    count = often(150, 2500)
    done = qemu_v8_smp.capture([*hostile, str(count)], timeout=300, check=False)
    found = re.fullmatch(
        r"a byte right and wrong in turn: (\d+) right, (\d+) refused\n"
        r"(\d+) calls, 0 findings\n",
        done.text,
    )
    assert found, done.text
    assert int(found[1]) + int(found[2]) == count // 10
    assert int(found[3]) >= count + 2 * (count // 10)
    assert qemu_v8_smp.script(stored).text == before, "no object is left behind"


TOO_LATE = re.compile(r"rsa-.*, (ones|random and odd)(, with primes)?|ed25519, use 1, .*|x448, .*")
"""Matches what the TA can't tell (docs/upstream-bugs.md): RSA numbers that don't belong together,
an Ed25519 key that is no point, and X448, whose good keys end the TA, too."""


def test_keys_and_peers_that_are_none(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """Keys and peers of zeros, ones and random bytes, for every algorithm of the TEE: the TA
    refuses those of a wrong form, at which OP-TEE would end the session. In `make test` they have
    256 bits at most: P-521 takes OP-TEE eight times as long, by the same code."""
    command = [str(programs / "ta_torture"), "keys", str(often(256, 4096))]
    text = qemu_v8_smp.capture(command, timeout=800, check=False).text
    ended = re.findall(r"^(.+): the session ended$", text, re.M)
    assert re.search(rf"^\d{{3,}} calls, {len(ended)} sessions ended$", text, re.M), text
    assert [one for one in ended if not TOO_LATE.fullmatch(one)] == [], text


def test_one_call_does_so_much_and_no_more(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """1 MiB a million times over, and one byte too many, is refused by each that repeats, and the
    most is done; in `make test` by the first of them."""
    count = often(1, 6)
    command = [str(programs / "ta_torture"), "work", str(count)]
    assert qemu_v8_smp.capture(command, timeout=300).text == f"{count} commands, 0 findings\n"


LONGEST = 30
"""Times 4 MiB of SHA-256 in portable C, which take a Cortex-A53 at 1.2 GHz some 60 ms: 2 s."""


@pytest.mark.exhaustive
def test_no_call_keeps_a_thread_of_the_tee_for_long(
    qemu_v8_smp: VirtualBoard, programs: Path
) -> None:
    """The bounds of ta_work.h, by a measure of the same run."""
    text = qemu_v8_smp.capture([str(programs / "ta_torture"), "longest"], timeout=600).text
    times = [float(line.rpartition(" ")[2]) for line in text.splitlines()]
    assert len(times) == 6, text
    assert 0 < max(times) < LONGEST, text


def test_an_output_inside_the_input_ends_the_ta(qemu_v8_smp: VirtualBoard, programs: Path) -> None:
    """OP-TEE maps no more of the input than up to the output's last page
    (docs/upstream-bugs.md)."""
    text = qemu_v8_smp.capture([str(programs / "ta_torture"), "nested"]).text
    assert text == "in the middle: 0xffff3024\nin the last page: 0x00000000\n"


HOLD = """\
for i in 1 2 3 4; do "$1" hold >"/tmp/hold.$i" & pids="$pids $!"; done
for i in 1 2 3 4; do
  while ! grep -q holding "/tmp/hold.$i"; do sleep 0.1; done
done
in_kernel() { cut -d' ' -f15 "/proc/$1/stat"; }
for pid in $pids; do
  before=$(in_kernel $pid)
  until [ $(in_kernel $pid) -ge $((before + 20)) ]; do sleep 0.1; done
done
kill -9 $pids
rm -f /tmp/hold.*
"""
"""The kernel books the TEE's time as the system's: after 0.2 s of it a client is in its call."""


def test_clients_killed_in_mid_call_keep_nobody_out(
    qemu_v8_smp: VirtualBoard, programs: Path
) -> None:
    """Four take all threads of the TEE, with as long calls as they can make, and are killed."""
    qemu_v8_smp.script(HOLD, str(programs / "ta_torture"))
    fifth = qemu_v8_smp.capture(
        ["teebench", "--samples", "1", "invoke/none/tee/none"], timeout=PATIENCE_S
    )
    assert fifth.status == 0
    qemu_v8_smp.script("while pidof ta_torture; do sleep 0.2; done", timeout=PATIENCE_S)


STRANGER = "0b7c9a53"


def stranger_of_the_bench_ta(folder: Path) -> Path:
    """The bench TA signed under another UUID, which is also in its ELF file."""
    (ours,) = (REPOSITORY / "build/ta/bench").glob("0b7c9a52-*.stripped.elf")
    name = ours.name.removesuffix(".stripped.elf")
    other = UUID(STRANGER + name[8:])
    elf = ours.read_bytes()
    assert elf.count(UUID(name).bytes_le) == 1
    (folder / "ta.elf").write_bytes(elf.replace(UUID(name).bytes_le, other.bytes_le))
    kit = REPOSITORY / "build/vboard/ta_dev_kit"
    signed = folder / f"{other}.ta"
    command = [
        *("python3", str(kit / "scripts/sign_encrypt.py"), "sign-enc", "--uuid", str(other)),
        *("--key", str(kit / "keys/default_ta.pem")),
        *("--in", str(folder / "ta.elf"), "--out", str(signed)),
    ]
    subprocess.run(command, check=True)
    return signed


def test_objects_are_of_this_ta_alone(
    qemu_v8_smp: VirtualBoard, programs: Path, tmp_path: Path
) -> None:
    """No other TA finds them, whatever the name, and the normal world's files don't show them."""
    torture, marker = str(programs / "ta_torture"), "what-nobody-else-may-read"
    signed = stranger_of_the_bench_ta(tmp_path)
    installed = f"/lib/optee_armtz/{signed.name}"
    qemu_v8_smp.push(signed, installed, mode=0o644)
    look = ["grep", "-rl", marker, "/data/tee", "/tmp/marker"]
    try:
        (tmp_path / "marker").write_text(f"x{marker}\n")
        qemu_v8_smp.push(tmp_path / "marker", "/tmp/marker")
        before = int(qemu_v8_smp.capture(["sh", "-c", "ls /data/tee | wc -l"]).text)
        assert qemu_v8_smp.capture([torture, "keep", marker]).text == "stored: 0x00000000\n"
        assert int(qemu_v8_smp.capture(["sh", "-c", "ls /data/tee | wc -l"]).text) > before
        assert qemu_v8_smp.capture(look).text == "/tmp/marker\n"
        assert qemu_v8_smp.capture([torture, "stranger", STRANGER]).text == (
            "stranger: 0xffff0008, of its own 0x00000000 0x00000000\n"
        )
        assert qemu_v8_smp.capture([torture, "kept", marker]).text == "kept: 0x00000000, the same\n"
    finally:
        qemu_v8_smp.capture(["rm", "-f", installed, "/tmp/marker"])
