# SPDX-License-Identifier: BSD-2-Clause
"""Every workload on the real OP-TEE: what is timed was right, and the rest says why not."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conftest import THOROUGH, reboot
from teemark.base import paths
from teemark.boards import VirtualBoard, ensure_installed

pytestmark = [pytest.mark.board, pytest.mark.long(300)]

MODES = ("ecb", "cbc", "ctr", "xts", "gcm")
CIPHERS = [
    f"aes-{bits}-{mode}"
    for bits in (128, 192, 256)
    for mode in MODES
    if (bits, mode) != (192, "xts")
]
KEYED = ("tee", "openssl", "afalg")
LIBRARIES = ("tee", "openssl")
KEY_STEPS = ("allocate", "import", "prepare", "operate", "whole")
STORAGE = (
    "create", "open", "read", "open-read-close", "write", "rename", "truncate", "delete"
)  # fmt: skip

CASES = {
    "calls": [
        "invoke/none/empty/none",
        *(
            f"invoke/{kind}/tee/none"
            for kind in (
                "none",
                "direct",
                "refused",
                "pseudo",
                "values",
                "increment",
                "memref-in",
                "memref-out",
                "memref-inout",
            )
        ),
        *(
            f"shm/{kind}/tee/{direction}/{size}"
            for kind in ("temporary", "registered", "allocated")
            for direction in ("in", "out", "inout")
            for size in (64, 5000, 1 << 20)
        ),
        *(f"shm/registered-ro/tee/in/{size}" for size in (64, 5000, 1 << 20)),
        *(f"session/{step}/tee/none" for step in ("first-open", "open", "close")),
        *(f"session/{step}/tee/pseudo" for step in ("open", "close")),
        *(f"ta-size/{kib}/tee/none" for kib in (32, 256, 1024, 4096)),
        *(
            f"parallel/{how}{work}/tee/3"
            for how in ("own", "shared", "single")
            for work in ("", "-digest", "-storage")
        ),
        "parallel/open/tee/3",
        "parallel/single-open/tee/3",
    ],
    "digests": [
        *(
            f"oneshot/hmac-{sha}/{by}/{size}"
            for sha in ("sha1", "sha224", "sha256", "sha384", "sha512")
            for by in KEYED
            for size in (0, 1, 100000)
        ),
        *(f"oneshot/sha3-{bits}/tee/1000" for bits in (224, 256, 384, 512)),
        *(f"stream/sha256/{by}/100000/4096" for by in ("tee", "ta-c", "ta-ce", "openssl", "afalg")),
        "stream/sha3-512/tee/5/1",
        "stream/sha256/tee/0/1",
    ],
    "parts": [
        f"digest-parts/{digest}/tee/{part} repeat=1,2,4"
        for digest in ("sha1", "sha256", "sha3-256")
        for part in ("allocate", "reset", "finish")
    ],
    "ciphers": [
        f"cipher/{cipher}/{by}/{way}/{size} repeat=1,3"
        for cipher in CIPHERS
        for by in KEYED
        for way in ("enc", "dec")
        for size in (16, 65536)
    ],
    "steps": [
        f"cipher-steps/{cipher}/{by}/{way}/4096/{step}/{part}"
        for cipher in ("aes-128-cbc", "aes-256-ctr", "aes-256-ecb")
        for by in KEYED
        for way in ("enc", "dec")
        for step in ("prepare", "set-key", "set-iv", "cipher-buffer")
        for part in ("all", "inv")
    ]
    + [
        f"cipher-steps/aes-128-cbc/{by}/{way}/4096/whole/all"
        for by in KEYED
        for way in ("enc", "dec")
    ],
    "asymmetric": [
        *(f"sign/{a}/{by}/none" for a in ("ecdsa-p256", "ed25519", "sm2") for by in LIBRARIES),
        *(f"verify/{a}/{by}/none" for a in ("ecdsa-p256", "ed25519") for by in LIBRARIES),
        *(f"derive/{a}/{by}/none" for a in ("ecdh-p256", "x25519", "x448") for by in LIBRARIES),
        "keygen/x448/openssl/none",  # checked without the TEE, whose TA that ends
        *(f"keygen/{a}/{by}/none" for a in ("ecdh-p256", "ed25519", "x25519") for by in LIBRARIES),
        *(f"verify/rsa-2048-pss/{by}/none" for by in LIBRARIES),
        *(f"sign/rsa-2048/{by}/plain" for by in LIBRARIES),
        *(f"key-steps/ed25519/{by}/sign/{step}" for step in KEY_STEPS for by in LIBRARIES),
    ],
    "small storage": [
        f"storage/{op}/{store}/256"
        for op in STORAGE
        for store in ("tee-ree-fs", "file", "file-fsync")
    ],
    "storage": [
        f"storage/{op}/{store}/7000 samples=1"
        for op in STORAGE
        for store in ("tee-ree-fs", "file", "file-fsync")
    ]
    + [f"storage/{op}/memory/7000 samples=1" for op in ("create", "read", "write", "delete")],
    "random": [
        f"rng/random/{source}/{size}"
        for source in ("tee", "getrandom", "urandom", "hwrng", "afalg", "openssl")
        for size in (16, 1000)
    ],
    "code": [
        *(
            f"same-code/{code}/{by}/{size} repeat=1,2"
            for code in ("memcpy", "memtouch", "intloop")
            for by in ("c", "ta-c")
            for size in (0, 7, 4097, 1 << 18)
        ),
        *(
            f"{asked}/tee/{times}"
            for asked in ("log/lines", "time/ree", "time/system")
            for times in (0, 3)
        ),
        "copy-limit/memcpy/c/16384",
    ],
    "files": [
        f"file/{op}/{by}/{(1 << 20) + 16}"
        for op in ("sha1", "sha256", "aes-128-cbc-enc", "aes-128-cbc-dec")
        for by in KEYED
    ],
}


def of_each_kind(keys: list[str]) -> list[str]:
    """The last of the cases that differ in their numbers alone."""
    return list({re.sub(r"/\d+", "", key): key for key in keys}.values())


if not THOROUGH:
    CASES |= {
        group: of_each_kind(CASES[group])
        for group in ("calls", "digests", "ciphers", "code", "files")
    }
    # Storing is dear, and how threads come to their sessions the other kinds of work show.
    storing = re.compile("parallel/(shared|single)-storage/")
    CASES["calls"] = [key for key in CASES["calls"] if not storing.match(key)]
    # A signature with RSA takes 2,233 million instructions; an operation on a Weierstrass curve
    # takes 200, which ECDSA stands for.
    dear = re.compile("/rsa-|/sm2/|/ecdh-p256/|verify/ecdsa-")
    CASES["asymmetric"] = [key for key in CASES["asymmetric"] if not dear.search(key)]
    CASES["steps"] = [key for key in CASES["steps"] if "/aes-128-cbc/" in key]
    # Each cipher by each backend, one of the two ways in turn.
    both = [key for key in CASES["ciphers"] if "/aes-192-" not in key]
    CASES["ciphers"] = [key for n, key in enumerate(both) if n % 2 == (n // 2 + n // 8) % 2]
    CASES["small storage"] = [key for key in CASES["small storage"] if "/read/tee-" in key]

Records = list[dict[str, Any]]


def bench(board: VirtualBoard, *keys: str, options: tuple[str, ...] = (), **env: str) -> Records:
    """Two samples of each, which must not fail."""
    words = [f"{name}={value}" for name, value in env.items()]
    done = board.capture(
        ["env", *words, "teebench", "--samples", "2", "--min-us", "0", "--cases", "-", *options],
        stdin="\n".join(keys).encode(),
        check=False,
        timeout=600,
    )
    records: Records = [json.loads(line) for line in done.text.splitlines()]
    assert [record for record in records if record["type"] == "fail"] == []
    assert done.status == 0, done.complaint
    assert records[-1]["complete"] is True
    return records


def by_key(records: Records, kind: str) -> dict[str, dict[str, Any]]:
    return {record["case"]: record for record in records if record["type"] == kind}


def expected_skip(key: str) -> str | None:
    workload, _, backend, *rest = key.split("/")
    if workload == "cipher-steps" and (backend, rest[2]) == ("afalg", "set-iv"):
        return "no-step"
    if key == "derive/x448/tee/none":  # OP-TEE 4.5 ends a TA that allocates its key
        return "ta-ended"
    return None


class Ran(NamedTuple):
    records: dict[str, Records]
    stored: dict[str, list[str]]
    """After each group: how many objects and files there are."""


@pytest.fixture(scope="module")
def all_ran(qemu_v8: VirtualBoard) -> Ran:
    found = Ran({}, {})
    count = "ls -d /data/tee/[0-9a-f]* 2>/dev/null | wc -l; ls teemark-* 2>/dev/null | wc -l"
    for group, keys in CASES.items():
        # Hiding instructions from OpenSSL takes a second a case: one group, and other tests, show
        # that it works.
        options = () if group == "random" else ("--no-evidence",)
        found.records[group] = bench(qemu_v8, *keys, options=options)
        found.stored[group] = qemu_v8.script(count).text.split()
    return found


@pytest.fixture(scope="module")
def ran(all_ran: Ran) -> dict[str, Records]:
    return all_ran.records


@pytest.mark.parametrize("group", CASES)
def test_runs_verified_or_says_why_not(ran: dict[str, Records], group: str) -> None:
    keys = [key.split()[0] for key in CASES[group]]
    cases, skips = by_key(ran[group], "case"), by_key(ran[group], "skip")
    assert {key: skip["code"] for key, skip in skips.items()} == {
        key: code for key in keys if (code := expected_skip(key))
    }
    assert set(cases) == set(keys) - set(skips)
    assert all(case["verified"] for case in cases.values())


def test_tas_count_the_time_of_what_they_compute(ran: dict[str, Records]) -> None:
    """Where one does, each sample has a twin; of the same calls, and inside of them."""
    counting = {
        "oneshot",
        "stream",
        "digest-parts",
        "cipher",
        "cipher-steps",
        "sign",
        "verify",
        "derive",
        "keygen",
        "key-steps",
        "rng",
        "same-code",
        "file",
    }
    seen = set()
    for records in ran.values():
        samples = [record for record in records if record["type"] == "sample"]
        twins = {s["seq"]: s for s in samples if s["source"] == "ta-counter"}
        clients = [s for s in samples if s["source"] == "client-clock"]
        assert len(twins) == records[-1]["ta_samples"]
        assert len(clients) == records[-1]["samples"]
        for sample in clients:
            workload, _, backend, _ = sample["case"].split("/", 3)
            in_ta = workload in counting and backend in ("tee", "ta-c", "ta-ce")
            assert (sample["seq"] in twins) is in_ta, sample
            if in_ta:
                twin = twins[sample["seq"]]
                seen.add(workload)
                for name in ("case", "repeat", "loops"):
                    assert twin[name] == sample[name]
                assert 0 < twin["ns"] < sample["ns"]
        for case in by_key(records, "case").values():
            in_ta = case["workload"] in counting and case["backend"].startswith("t")
            assert case.get("ta_counter") is (True if in_ta else None)
    assert seen == counting


def test_ciphertext_is_understood_by_the_other_side(ran: dict[str, Records]) -> None:
    """OpenSSL decrypts what the TEE encrypts to the message, and the other way round."""
    for key, case in by_key(ran["ciphers"], "case").items():
        assert case["checked_by"] == ("afalg" if "/openssl/" in key else "openssl"), key


def test_signatures_are_checked_by_the_other_side(ran: dict[str, Records]) -> None:
    """Those that chance is part of; and what the TEE says that it has is recorded."""
    cases = by_key(ran["asymmetric"], "case")
    for algorithm in ("ecdsa-p256", "sm2") if THOROUGH else ("ecdsa-p256",):
        assert cases[f"sign/{algorithm}/tee/none"]["checked_by"] == "openssl"
        assert cases[f"sign/{algorithm}/openssl/none"]["checked_by"] == "tee"
    assert cases["keygen/ed25519/tee/none"]["checked_by"] == "openssl"
    assert cases["sign/ecdsa-p256/tee/none"]["tee_says"] is True
    assert cases["sign/ed25519/tee/none"]["tee_says"] is True


def test_the_kernel_signs_and_verifies(qemu_v8: VirtualBoard) -> None:
    """Without its parser of private keys the case is skipped, and what the skip says mends it."""
    sign = "sign/rsa-2048/keyctl/crt"
    keys = [sign, *(f"verify/{a}/keyctl/none" for a in ("rsa-4096", "ecdsa-p256", "ecdsa-p521"))]
    assert set(by_key(bench(qemu_v8, *keys), "case")) == set(keys)
    qemu_v8.capture(["modprobe", "-r", "pkcs8_key_parser"])
    skip = by_key(bench(qemu_v8, *keys), "skip")[sign]
    assert skip["code"] == "no-keyctl"
    qemu_v8.capture(skip["hint"].partition(",")[0].split())
    assert sign in by_key(bench(qemu_v8, sign), "case")


def test_calls_of_the_tee_to_its_storage_are_counted(ran: dict[str, Records]) -> None:
    cases = by_key(ran["small storage"], "case") | by_key(ran["storage"], "case")
    counts = {op: cases[f"storage/{op}/tee-ree-fs/7000"]["rpcs_per_call"] for op in STORAGE}
    assert all(count >= 1 for count in counts.values()), counts
    # a new object costs more than reading one, and two blocks more than one
    assert counts["create"] > counts["read"]
    assert counts["open-read-close"] > counts["read"]
    assert counts["read"] > cases["storage/read/tee-ree-fs/256"]["rpcs_per_call"]
    random = by_key(ran["random"], "case")
    assert random["rng/random/tee/1000"]["rpcs_per_call"] == 0


def test_opening_the_first_session_loads_the_ta(ran: dict[str, Records]) -> None:
    fastest: dict[str, int] = {}
    for sample in ran["calls"]:
        if sample["type"] == "sample":
            key, ns = sample["case"], sample["ns"] // sample["loops"]
            fastest[key] = min(ns, fastest.get(key, ns))
    # A busy machine may have stopped both samples of the short one for a while.
    assert fastest["session/first-open/tee/none"] > 3 * fastest["session/open/tee/none"]


@pytest.mark.parametrize(("source", "bits"), [("/dev/hwrng", 7.9), ("/dev/zero", 0.0)])
def test_ent(qemu_v8: VirtualBoard, source: str, bits: float) -> None:
    """Bits of entropy in a byte, by the frequency of bytes: a smoke test, which zeros fail."""
    sample = f"timeout 20 dd if={source} bs=2500 count=20 2>/dev/null"
    found = qemu_v8.script(f"{sample} | ent -t").text.splitlines()[1].split(",")
    assert int(found[1]) >= 25000
    assert bits <= float(found[2]) <= (8 if bits else 0)


def test_what_this_board_lacks(qemu_v8: VirtualBoard) -> None:
    skips = by_key(
        bench(
            qemu_v8,
            "storage/create/tee-rpmb/256",
            "storage/truncate/tee-ree-fs/65536",
            "cipher/aes-128-gcm/tee/dec/65552",
            "cipher/aes-128-xts/afalg/enc/262144",
            "invoke/values/openssl/none",
            "oneshot/hmac-sha256/ta-c/10",
        ),
        "skip",
    )
    assert {key: skip["code"] for key, skip in skips.items()} == {
        "storage/create/tee-rpmb/256": "rpmb-not-allowed",
        # OP-TEE 4.5 destroys objects of a few blocks when it makes them shorter
        "storage/truncate/tee-ree-fs/65536": "tee-defect",
        "cipher/aes-128-gcm/tee/dec/65552": "too-long",
        "cipher/aes-128-xts/afalg/enc/262144": "too-long",
        "invoke/values/openssl/none": "no-call",
        "oneshot/hmac-sha256/ta-c/10": "unsupported-algorithm",
    }
    assert all(skip["reason"] for skip in skips.values())


def test_rpmb_is_used_when_allowed_only(qemu_v8: VirtualBoard) -> None:
    """This board has none: allowed, the TEE is asked."""
    case = "storage/create/tee-rpmb/256"
    allowed = bench(qemu_v8, case, options=("--allow-rpmb",))
    assert by_key(allowed, "skip")[case]["code"] == "no-rpmb"


@pytest.mark.usefixtures("ran")  # the TEE made its directory with the first object
def test_listing_stores_nothing(qemu_v8: VirtualBoard) -> None:
    """Neither in the TEE nor in the folder it runs in."""
    look = """\
cd "$(mktemp -d)" || exit
find . /data/tee -exec ls -ld {} + -type f -exec sha256sum {} + >/tmp/before
teebench --list >/tmp/listed
find . /data/tee -exec ls -ld {} + -type f -exec sha256sum {} + >/tmp/after
cmp /tmp/before /tmp/after && cat /tmp/listed
rm -f /tmp/before /tmp/after /tmp/listed
"""
    listed = qemu_v8.script(look).text
    assert "\n  tee       TEE Internal Core API" in listed
    assert "\n  backends: tee-ree-fs tee-rpmb memory file file-fsync\n" in listed


def test_nothing_is_left_in_storage(all_ran: Ran) -> None:
    """Neither files nor objects: the TEE keeps its directory, and a file an object, since the
    first was made."""
    assert all_ran.stored["storage"] == all_ran.stored["small storage"]
    assert all_ran.stored["storage"][1] == "0"


@pytest.fixture(scope="module")
def objects() -> Path:
    target = paths.root() / "host"
    subprocess.run(
        ["make", "--no-print-directory", "-C", target, "ARCH=aarch64", "tests"], check=True
    )
    return paths.root() / "build" / "host" / "aarch64" / "tests" / "objects"


@pytest.mark.exhaustive
def test_stored_objects_survive_a_reboot(qemu_v8: VirtualBoard, objects: Path) -> None:
    def do(what: str) -> list[int]:
        qemu_v8.push(objects, "/tmp/objects", mode=0o755)
        return [
            qemu_v8.capture(["/tmp/objects", what, f"survivor-{size}", size], check=False).status
            for size in ("7000", "300000")
        ]

    assert do("create") == [0, 0]
    try:
        qemu_v8.script("sync")
        reboot(qemu_v8)
    finally:
        ensure_installed(qemu_v8)
    assert do("check") == [0, 0]
    assert do("delete") == [0, 0]
    assert do("check") == [1, 1]


def test_what_is_too_large_for_the_tee_is_a_skip(qemu_v8: VirtualBoard) -> None:
    """Wherever it is found: registering, in the first call, allocating; what is small runs."""
    large = {
        **{f"shm/{kind}/tee/in/{1 << 26}": 1 << 26 for kind in ("temporary", "registered-ro")},
        f"shm/temporary/tee/in/{1 << 25}": 1 << 25,
        f"shm/allocated/tee/inout/{1 << 26}": 1 << 26,
        f"oneshot/sha256/ta-ce/{1 << 25}": 1 << 25,
        f"same-code/memtouch/ta-c/{1 << 25}": 1 << 25,
    }
    small = ("shm/temporary/tee/in/4096", "oneshot/sha256/ta-ce/64", "stream/sha256/ta-ce/9999/99")
    records = bench(qemu_v8, *large, *small)
    skips = by_key(records, "skip")
    assert {key: skip["code"] for key, skip in skips.items()} == dict.fromkeys(large, "no-memory")
    for skip in skips.values():
        assert skip["tee_result"] in ("TEE_ERROR_OUT_OF_MEMORY", "TEE_ERROR_GENERIC")
        assert skip["tee_result"] in skip["reason"]
        assert skip["tee_origin"] in ("client API", "trusted application")
        assert skip["hint"]
    assert set(by_key(records, "case")) == set(small)


@pytest.mark.exhaustive
def test_a_signal_while_the_tee_prepares(qemu_v8: VirtualBoard) -> None:
    """Storing and reading a megabyte again and again before anything is measured."""
    script = (
        "teebench --no-ta-counter storage/create/tee-ree-fs/1048576 >/tmp/interrupted & "
        "sleep 6; kill -TERM $!; wait $!; echo $?; cat /tmp/interrupted"
    )
    status, *lines = qemu_v8.capture(["sh", "-c", script], timeout=90).text.splitlines()
    assert status == "143"
    records: Records = [json.loads(line) for line in lines]
    assert [record["type"] for record in records] == ["machine", "end"]
    assert records[-1]["complete"] is False
    assert records[-1]["reason"] == "terminated"


TRACING = "/sys/kernel/tracing"


def test_ways_into_the_secure_world_are_traced(qemu_v8: VirtualBoard) -> None:
    """Where tracefs isn't mounted, too; nothing of it is left, and others' tracing goes on."""
    read, empty = "storage/read/tee-ree-fs/7000", "invoke/none/tee/none"
    qemu_v8.script(f"echo 1 >{TRACING}/events/sched/sched_switch/enable; umount {TRACING}")
    try:
        records = bench(qemu_v8, read, empty, "copy-limit/memcpy/c/64", options=("--trace-events",))
        assert qemu_v8.script(f"mount | grep -c {TRACING} || true").text == "0\n"
    finally:
        qemu_v8.script(f"mount -t tracefs tracefs {TRACING}")
    found: dict[str, list[list[list[int]]]] = {}
    for record in records:
        if record["type"] == "legs":
            assert record["ns"] > sum(end - begin for begin, end, _ in record["legs"])
            found.setdefault(record["case"], []).append(record["legs"])
    assert set(found) == {read, empty}
    rpcs = by_key(records, "case")[read]["rpcs_per_call"]
    for key, expected in ((empty, 0), (read, rpcs)):
        assert len(found[key]) >= 6
        for legs in found[key]:
            returned = [ret for _, _, ret in legs]
            assert returned[-1] == 0
            assert sum(ret in (0xFFFF0000, 0xFFFF0002, 0xFFFF0005) for ret in returned) == expected
    left = f"ls {TRACING}/instances; cat {TRACING}/events/sched/sched_switch/enable"
    assert qemu_v8.script(f"{left}; echo 0 >{TRACING}/events/sched/sched_switch/enable").text == (
        "1\n"
    )


# Not INT: a shell without a terminal has its background jobs ignore it.
@pytest.mark.parametrize(
    "signals",
    [*(pytest.param(one, marks=pytest.mark.exhaustive) for one in ("HUP", "TERM")), "TERM TERM"],
)
def test_tracing_ends_with_who_is_told_to_end(qemu_v8: VirtualBoard, signals: str) -> None:
    done = qemu_v8.script(
        "teebench --trace-events --samples 1 --min-us 0 storage/write/tee-ree-fs/16384 "
        ">/dev/null & pid=$!\n"
        f"until [ -d {TRACING}/instances/teemark-$pid ] && grep -q 1 "
        f"{TRACING}/instances/teemark-$pid/events/optee/optee_invoke_fn_begin/enable; "
        "do sleep 0.05; done\n"
        f"for name in {signals}; do kill -$name $pid; done; wait $pid; echo $?\n"
        f"ls {TRACING}/instances"
    )
    assert done.text == ("129\n" if signals == "HUP" else "143\n")
