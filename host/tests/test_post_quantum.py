# SPDX-License-Identifier: BSD-2-Clause
"""ML-KEM and ML-DSA by the virtual board's libcrypto (3.5), under QEMU's user emulation: right results
pass, and wrong implementations, planted in a copy below the backend, fail before they are timed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SYSROOT = TOP / "build" / "vboard" / "sysroot"
BUILT = TOP / "build" / "host" / "aarch64" / "teebench"
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
LIBCRYPTO = SYSROOT / "usr" / "lib" / "aarch64-linux-gnu" / "libcrypto.so.3"
KEYS = (
    *(f"{use}/ml-kem-{n}/openssl/none" for use in ("encapsulate", "decapsulate") for n in (512, 768, 1024)),
    *(f"{use}/ml-dsa-{n}/openssl/none" for use in ("sign", "verify") for n in (44, 65, 87)),
    *(f"keygen/{name}/openssl/none" 
      for name in ("ml-kem-512", "ml-kem-768", "ml-kem-1024", "ml-dsa-44", "ml-dsa-65", "ml-dsa-87")),
    *(f"key-steps/ml-kem-768/openssl/{use}/{step}"
      for use in ("encapsulate", "decapsulate") for step in ("import", "whole")),
    "key-steps/ml-dsa-65/openssl/sign/whole",
)  # fmt: skip

FAULTS = {
    "secret": ["decapsulate/ml-kem-512/openssl/none", "encapsulate/ml-kem-1024/openssl/none"],
    "ciphertext": ["encapsulate/ml-kem-768/openssl/none", "keygen/ml-kem-768/openssl/none"],
    "ignores": ["encapsulate/ml-kem-768/openssl/none"],
    "signature": ["sign/ml-dsa-87/openssl/none", "keygen/ml-dsa-44/openssl/none"],
    "accepts": ["verify/ml-dsa-65/openssl/none", "sign/ml-dsa-44/openssl/none"],
    "refuses": ["verify/ml-dsa-44/openssl/none", "sign/ml-dsa-65/openssl/none"],
}
"""Each fault, and cases that must fail with it."""

PLANTED = """
#include <stdlib.h>
#include <string.h>
static int planted_step(struct session *s, struct asym_job *job, enum asym_step step,
			struct error *err);
int openssl_asym_step(struct session *s, struct asym_job *job, enum asym_step step,
		      struct error *err)
{
	const char *fault = getenv("FAULT");
	static unsigned char kept[ASYM_SECRET_BYTES];
	int ret = planted_step(s, job, step, err);

	if (!fault || step != ASYM_OPERATE)
		return ret;
	if (!strcmp(fault, "secret") && job->use == ASYM_DECAPSULATE)
		job->out->data[3] ^= 1;
	if (!strcmp(fault, "ciphertext") && job->use == ASYM_ENCAPSULATE)
		job->out->data[5] ^= 1;
	if (!strcmp(fault, "ignores") && job->use == ASYM_ENCAPSULATE)
		memcpy(kept, job->out->data + job->alg->out_bytes, sizeof(kept));
	if (!strcmp(fault, "ignores") && job->use == ASYM_DECAPSULATE)
		memcpy(job->out->data, kept, sizeof(kept));
	if (!strcmp(fault, "signature") && job->use == ASYM_SIGN)
		job->out->data[9] ^= 1;
	if (!strcmp(fault, "accepts") && job->use == ASYM_VERIFY)
		return 0;
	if (!strcmp(fault, "refuses") && job->use == ASYM_VERIFY)
		return error_set(err, -EBADMSG, "planted");
	return ret;
}
"""

pytestmark = pytest.mark.skipif(
    not QEMU or not LIBCRYPTO.is_file() or b"ML-KEM-768" not in LIBCRYPTO.read_bytes(),
    reason="no QEMU for AArch64's programs (qemu-user-static), or no virtual board's libcrypto 3.5",
)


def ran(program: Path, *keys: str, fault: str = "") -> dict[str, str]:
    """Returns for each case "sample", or the reason why there is none."""
    assert QEMU is not None
    done = subprocess.run(
        [
            *(QEMU, "-L", str(SYSROOT), str(program), "--samples", "2", "--min-us", "0"),
            *("--no-evidence", *keys),
        ],
        env=os.environ | {"FAULT": fault},
        capture_output=True,
        text=True,
        timeout=300,
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        one["case"]: one.get("reason", one["type"])
        for one in records
        if one["type"] in ("sample", "skip", "fail")
    }


def test_every_case_is_right() -> None:
    assert BUILT.is_file(), "make -C host ARCH=aarch64 makes it"
    assert ran(BUILT, *KEYS) == dict.fromkeys(KEYS, "sample")


def test_a_tee_says_that_its_api_has_none() -> None:
    key = "sign/ml-dsa-65/tee/none"
    assert ran(BUILT, key) == {key: "GlobalPlatform's API for TAs has no ML-DSA-65"}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A teebench whose environment tells in what it is wrong."""
    copy = tmp_path_factory.mktemp("planted")
    shutil.copytree(TOP / "host", copy / "host", ignore=shutil.ignore_patterns("tests"))
    file = copy / "host" / "src" / "backends" / "openssl_asym.c"
    text = file.read_text()
    head = "int openssl_asym_step("
    assert text.count(head) == 1
    text = text.replace(head, "static int planted_step(") + PLANTED
    file.write_text(text.replace("typedef struct evp_pkey_st", PLANTED.split("int openssl")[0]
                                 + "typedef struct evp_pkey_st", 1))  # fmt: skip
    # All but that file is as it was built.
    build = copy / "build"
    shutil.copytree(TOP / "build" / "host" / "aarch64", build / "host" / "aarch64")
    places = [f"TOP={TOP}", f"BUILD={build}", f"SYSROOT={TOP}/build/vboard/sysroot"]
    target = build / "host" / "aarch64" / "teebench"
    subprocess.run(
        ["make", "-s", "-C", copy / "host", "ARCH=aarch64", *places, target],
        check=True,
        capture_output=True,
    )
    return target


def test_without_a_fault_the_copy_is_right(planted: Path) -> None:
    keys = sorted({key for each in FAULTS.values() for key in each})
    assert ran(planted, *keys) == dict.fromkeys(keys, "sample")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_implementation_is_caught(planted: Path, fault: str) -> None:
    keys = FAULTS[fault]
    said = ran(planted, *keys, fault=fault)
    assert set(said) == set(keys)
    for key, what in said.items():
        assert what != "sample", key
        assert "ML-" in what or what == "planted", what
