# SPDX-License-Identifier: BSD-2-Clause
"""The answers that NIST, Wycheproof and others published of asymmetric algorithms: all of them
against libcrypto by teebench's backend, a sample against the virtual board's TEE, and faults
planted."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest

import published
from conftest import often
from published import DECRYPT, DERIVE, SIGN, VERIFY, Answer
from teemark.base import paths
from teemark.boards import VirtualBoard

TOP = Path(__file__).resolve().parents[3]
SYSROOT = paths.vboard() / "sysroot"
LIBCRYPTO = SYSROOT / "usr/lib/aarch64-linux-gnu/libcrypto.so.3"
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


@pytest.fixture(scope="module")
def answers() -> list[Answer]:
    package = find_spec("cryptography_vectors")
    if package is None or package.origin is None:
        pytest.skip("no cryptography-vectors (pip install cryptography-vectors)")
    modules = sorted(paths.build().glob("go/github.com/c2sp/wycheproof@*/testvectors_v1"))
    if not modules:
        pytest.skip("no Wycheproof (mk/install-wycheproof, which takes a Go toolchain)")
    return published.everything(Path(package.origin).parent / "asymmetric", modules[-1])


def make(target: str) -> Path:
    """Returns a program of host/tests, built."""
    out = paths.build() / "tests/host" / target
    subprocess.run(["make", "-s", "-C", TOP / "host/tests", str(out)], check=True)
    return out


def unlike(asked: Sequence[Answer], output: str) -> dict[Answer, str]:
    """Returns the answers that the output, a line for each, doesn't fit, with what it says."""
    got = zip(asked, output.splitlines(), strict=True)
    return {one: line for one, line in got if not one.fits(line)}


def run(
    command: Sequence[str | Path], asked: Sequence[Answer], fault: str = ""
) -> dict[Answer, str]:
    done = subprocess.run(
        command,
        input="".join(one.line() + "\n" for one in asked),
        env=os.environ | {"FAULT": fault},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return unlike(asked, done.stdout)


def classic(answers: Sequence[Answer]) -> list[Answer]:
    return [one for one in answers if not one.algorithm.startswith("ml-")]


def test_what_is_read_of_the_publishers(answers: list[Answer]) -> None:
    """Each algorithm has answers that must be given, and its verification some to refuse."""
    counts = Counter((one.algorithm, one.use, one.verdict) for one in answers)
    pairs = {(one.algorithm, one.use) for one in answers}
    assert len({algorithm for algorithm, _ in pairs}) >= 20
    for algorithm, use in pairs:
        assert counts[algorithm, use, "valid"] >= 10
        assert use != VERIFY or counts[algorithm, use, "invalid"] >= 50
    publishers = Counter(one.name.split()[0].split("_")[0] for one in answers)
    assert publishers["CAVP"] >= 250
    assert all(publishers[name] >= 200 for name in ("ecdsa", "ecdh", "rsa", "x25519", "sign.input"))


def test_libcrypto_gives_every_answer(answers: list[Answer]) -> None:
    asked = classic(answers)
    assert len(asked) > 6000
    assert run([make("answers"), "openssl"], asked) == {}


@pytest.mark.skipif(
    not QEMU or not LIBCRYPTO.is_file() or b"ML-KEM-768" not in LIBCRYPTO.read_bytes(),
    reason="no QEMU for AArch64's programs (qemu-user-static), or no virtual board's libcrypto 3.5",
)
def test_the_boards_libcrypto_gives_every_answer_after_the_quantum(answers: list[Answer]) -> None:
    asked = [one for one in answers if one.algorithm.startswith("ml-")]
    assert QEMU is not None
    command: list[str | Path] = [QEMU, "-L", SYSROOT, make("answers-aarch64"), "openssl"]
    assert run(command, sample(asked, often(20, 2000))) == {}


def sample(answers: Sequence[Answer], count: int) -> list[Answer]:
    """Returns up to `count` answers of each algorithm, use and verdict, drawn at random."""

    def kind(one: Answer) -> tuple[str, int, str]:
        return one.algorithm, one.use, one.verdict

    drawn: list[Answer] = []
    for _, group in groupby(sorted(answers, key=kind), kind):
        those = list(group)
        drawn += random.SystemRandom().sample(those, min(count, len(those)))
    return drawn


@pytest.mark.parametrize(
    ("fault", "use", "verdict"),
    [
        ("accepts", VERIFY, "invalid"),
        ("refuses", VERIFY, "valid"),
        ("high-bit", VERIFY, "valid"),
        ("flips", SIGN, "valid"),
        ("flips", DERIVE, "valid"),
        ("flips", DECRYPT, "valid"),
    ],
)
def test_a_planted_fault_is_found(
    answers: list[Answer], fault: str, use: int, verdict: str
) -> None:
    """In every algorithm that has the use."""
    asked = [
        one for one in sample(classic(answers), 20) if (one.use, one.verdict) == (use, verdict)
    ]
    found = run([make("answers"), "openssl"], asked, fault)
    assert {one.algorithm for one in found} >= {
        one.algorithm for one in asked if fault != "high-bit" or one.algorithm == "ecdsa-p256"
    }


KERNEL_REFUSES = re.compile("Edge case for Shamir multiplication|extreme value for k")
"""Names of right signatures by ECDSA of which Linux 6.12 refuses ten (docs/upstream-bugs.md)."""


@pytest.mark.board
def test_the_kernel_gives_the_answers(qemu_v8: VirtualBoard, answers: list[Answer]) -> None:
    """RSA and the verifying of ECDSA; private keys have their primes. It accepts no wrong one."""
    has = re.compile(r"rsa-\d+|ecdsa-.*")
    asked = [
        one
        for one in sample([one for one in answers if has.fullmatch(one.algorithm)], often(10, 1000))
        if one.use == VERIFY or len(one.key) > 4 * len(one.want)
    ]
    assert {one.use for one in asked} == {SIGN, VERIFY}
    qemu_v8.push(make("answers-aarch64"), "/tmp/answers", mode=0o755)
    lines = "".join(one.line() + "\n" for one in asked)
    done = qemu_v8.capture(["/tmp/answers", "keyctl"], stdin=lines.encode(), timeout=600)
    wrong = unlike(asked, done.text)
    known = {one for one in wrong if one.want == "right" and KERNEL_REFUSES.search(one.name)}
    assert wrong.keys() == known


QUICK = {("ed25519", SIGN), ("ed25519", VERIFY), ("x25519", DERIVE), ("ecdsa-p256", VERIFY),
         ("ecdh-p256", DERIVE)}  # fmt: skip
"""Algorithms that take the TEE less than two seconds each; RSA takes up to twelve."""


def is_known(one: Answer) -> bool:
    """Returns whether OP-TEE 4.5 gives a wrong answer: it takes points that lie on no curve, and
    right signatures of Ed25519 with a multiple of the order added to their second number."""
    off_curve = one.use == DERIVE and "point is not on curve" in one.name
    return off_curve or "unchanged mod L" in one.name or "S just above the bound" in one.name


@pytest.mark.board
@pytest.mark.long(60)
@pytest.mark.timeout(3000)
def test_the_tee_gives_the_answers(qemu_v8: VirtualBoard, answers: list[Answer]) -> None:
    """But for X448, whose key ends the TA, and for what docs/upstream-bugs.md says of OP-TEE 4.5:
    that must be found, so that a later OP-TEE's mend is noticed."""
    asked = [
        one
        for one in sample(classic(answers), 2)
        if ((one.algorithm, one.use) in QUICK or often(0, 1)) and one.algorithm != "x448"
    ]
    qemu_v8.push(make("answers-aarch64"), "/tmp/answers", mode=0o755)
    wrong = dict[Answer, str]()
    for at in range(0, len(asked), 8):  # A minute each at most
        some = asked[at : at + 8]
        lines = "".join(one.line() + "\n" for one in some)
        done = qemu_v8.capture(["/tmp/answers", "tee"], stdin=lines.encode(), timeout=600)
        wrong |= unlike(some, done.text)
    assert set(wrong) == {one for one in asked if is_known(one)}, wrong
