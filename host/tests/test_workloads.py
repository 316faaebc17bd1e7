# SPDX-License-Identifier: BSD-2-Clause
"""Every workload on this machine, under the sanitizers: what runs is right, the rest says why."""

import json
import subprocess
from pathlib import Path

import pytest
from waiting import PATIENCE_S

HERE = Path(__file__).resolve().parent
TEEBENCH = HERE.parents[1] / "build" / "tests" / "host" / "teebench"

CIPHERS = [
    *(f"aes-{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ecb", "cbc", "ctr", "gcm")),
    "aes-128-xts",
    "aes-256-xts",
]
CASES = [
    "invoke/none/empty/none",
    *(
        f"invoke/{kind}/tee/none"
        for kind in ("direct", "refused", "values", "memref-in", "memref-out", "memref-inout")
    ),
    "invoke/increment/tee/none",
    "shm/temporary/tee/in/64",
    "session/open/tee/none",
    "ta-size/32/tee/none",
    *(f"parallel/{how}/tee/4" for how in ("own", "shared", "single", "open")),
    *(f"stream/sha256/{by}/{what}" for by in ("c", "openssl") for what in ("0/1", "9999/1000")),
    *(f"oneshot/hmac-sha{n}/{by}/65" for n in (1, 256, 512) for by in ("openssl", "ta-c")),
    *(
        f"cipher/{cipher}/{by}/{way}/{size}"
        for cipher in CIPHERS
        for by in ("openssl", "afalg", "tee")
        for way in ("enc", "dec")
        for size in (16, 4096)
    ),
    *(
        f"cipher-steps/aes-256-cbc/openssl/{way}/4096/{step}/{part}"
        for way in ("enc", "dec")
        for step in ("prepare", "set-key", "set-iv", "cipher-buffer")
        for part in ("all", "inv")
    ),
    *(f"cipher-steps/aes-256-cbc/openssl/{way}/4096/whole/all" for way in ("enc", "dec")),
    *(
        f"storage/{op}/memory/7000"
        for op in ("create", "read", "open-read-close", "write", "delete", "rename")
    ),
    *(
        f"storage/{op}/{store}/7000"
        for op in (
            *("create", "open", "read", "open-read-close"),
            *("write", "rename", "truncate", "delete"),
        )
        for store in ("file", "file-fsync", "tee-ree-fs", "tee-rpmb")
    ),
    *(f"rng/random/{by}/64" for by in ("getrandom", "urandom", "openssl", "tee")),
    *(
        f"same-code/{code}/{by}/{size}"
        for code in ("memcpy", "memtouch", "intloop")
        for by in ("c", "ta-c")
        for size in (0, 1, 7, 63, 64, 4096, 4097, 10000)
    ),
    *(
        f"{asked}/tee/{times}"
        for asked in ("log/lines", "time/ree", "time/system")
        for times in (0, 256)
    ),
    "copy-limit/memcpy/c/1000",
    *(
        f"file/{op}/openssl/{size}"
        for op in ("sha1", "sha256", "aes-128-cbc-enc", "aes-128-cbc-dec")
        for size in (16, (1 << 20) + 16)
    ),
]


def test_what_runs_is_right_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        # Evidence takes a process for each case of OpenSSL; test_teebench.py and test_masks.c try it.
        [TEEBENCH, "--samples", "2", "--min-us", "5", "--no-evidence"],
        input="\n".join(CASES).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record for record in found if record["type"] == "fail"] == []
    ran = {record["case"]: record for record in found if record["type"] == "case"}
    skipped = {record["case"]: record for record in found if record["type"] == "skip"}
    assert {*ran, *skipped} == set(CASES)
    for key, skip in skipped.items():
        backend = key.split("/")[2]
        expected = backend in ("tee", "ta-c", "afalg", "tee-ree-fs", "tee-rpmb")
        assert expected or skip["code"] == "no-step", skip
        assert skip["reason"]
    assert ran["oneshot/hmac-sha256/openssl/65"]["checked_by"] in ("afalg", None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("invoke/floats/tee/none", "none of: none, values"),
        ("shm/registered-ro/tee/out/64", "read"),
        ("shm/temporary/tee/in/8", "at least"),
        ("shm/temporary/c/in/64", "tee only"),
        ("session/reopen/tee/none", "none of: first-open"),
        ("ta-size/33/tee/none", "none of: 32, 256"),
        ("stream/sha256/c/100", "BYTES/CHUNK"),
        ("stream/sha256/c/100/0", "chunk"),
        ("cipher/sha256/openssl/enc/16", "not a cipher"),
        ("cipher/aes-128-cbc/openssl/enc/17", "multiple"),
        ("cipher/aes-128-cbc/openssl/both/16", "enc|dec/BYTES"),
        ("cipher-steps/aes-128-gcm/openssl/enc/16/set-iv/all", "go on"),
        ("cipher-steps/aes-128-cbc/openssl/enc/16/wave/all", "none of: prepare"),
        ("cipher-steps/aes-128-cbc/openssl/enc/16/whole/inv", "only whole/all"),
        ("storage/copy/file/10", "none of: create"),
        ("digest-parts/sha256/c/reset", "backend tee"),
        ("digest-parts/sha256/tee/begin", "allocate|reset|finish"),
        ("digest-parts/aes-128-cbc/tee/reset", "not a digest"),
        ("storage/create/floppy/10", "no storage"),
        ("rng/random/dice/16", "no backend"),
        ("rng/random/urandom/8", "least"),
        ("same-code/sort/c/16", "none of: memcpy"),
        ("log/lines/c/1", "tee only"),
        ("log/words/tee/1", "none of: lines"),
        ("time/utc/tee/1", "none of: ree"),
        ("time/ree/tee/257", "256"),
        ("same-code/memcpy/tee/16", "c and ta-c"),
        ("copy-limit/memcpy/tee/16", "backend c only"),
        ("file/md5/openssl/16", "none of: sha1"),
        ("file/aes-128-cbc-enc/openssl/15", "multiple"),
    ],
)
def test_a_wrong_key_is_refused_before_anything_is_measured(key: str, said: str) -> None:
    done = subprocess.run([TEEBENCH, key], capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_a_folder_that_cannot_be_written_to_is_a_skip(tmp_path: Path) -> None:
    done = subprocess.run(
        [TEEBENCH, "storage/create/file/10", "file/sha1/c/10"],
        env={"TEEMARK_DIR": str(tmp_path / "absent")},
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["code"] for r in found if r["type"] == "skip"] == ["no-directory"] * 2
