# SPDX-License-Identifier: BSD-2-Clause
"""The workload pkcs11 on SoftHSM: right results, our token only, and no PIN anywhere."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE_S

TEEBENCH = Path(__file__).resolve().parents[2] / "build" / "tests" / "host" / "teebench"
MODULES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    os.environ.get("TEEMARK_TEST_SOFTHSM", ""),
)
MODULE = next((name for name in MODULES if name and Path(name).is_file()), "")
CALLS = (
    "session", "session-info", "random-32", "digest-sha256", "hmac-sha256", "aes-128-cbc", "find-10",
    "find-100", "find-1000", "sign-init", "sign-p256", "verify-p256",
    "keypair-session", "keypair-token",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not MODULE, reason="no SoftHSM (package softhsm2)")


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    (tmp_path / "tokens").mkdir()
    configuration = tmp_path / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {tmp_path / 'tokens'}\nlog.level = ERROR\n")
    return os.environ | {"SOFTHSM2_CONF": str(configuration), "ASAN_OPTIONS": "detect_leaks=0"}


def bench(
    environment: Mapping[str, str], *calls: str, options: Sequence[str] = ()
) -> tuple[list[dict[str, Any]], str]:
    done = subprocess.run(
        [TEEBENCH, "--pkcs11-module", MODULE, "--samples", "2", "--min-us", "0", *options]
        + [f"pkcs11/{call}/pkcs11/none" for call in calls],
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stdout + done.stderr


def files(environment: Mapping[str, str]) -> list[Path]:
    tokens = Path(environment["SOFTHSM2_CONF"]).parent / "tokens"
    return sorted(file for file in tokens.rglob("*.object") if file.name != "token.object")


def test_every_call_is_right_twice_and_leaves_nothing(environment: Mapping[str, str]) -> None:
    """The second run finds the token of the first by its label."""
    for _ in range(2):
        records, said = bench(environment, *CALLS)
        cases = {r["algorithm"]: r for r in records if r["type"] == "case"}
        assert [r for r in records if r["type"] in ("fail", "skip")] == []
        assert set(cases) == set(CALLS)
        for signed in ("sign-init", "sign-p256", "keypair-session", "keypair-token"):
            assert cases[signed]["checked_by"] == "openssl"
        assert cases["sign-p256"]["layers"]["invokes"] == 0  # no TEE is behind SoftHSM
        assert min(cases["session"]["initialize_ns"], cases["session"]["login_ns"]) > 0
        assert cases["sign-p256"]["module"] == str(Path(MODULE).resolve())
        assert "teemark-so" not in said
        assert "teemark-user" not in said
        assert files(environment) == []


def test_a_token_of_others_is_not_touched(environment: Mapping[str, str]) -> None:
    """SoftHSM always offers one more token that nobody has initialised: that one is taken."""
    line = ["softhsm2-util", "--init-token", "--free", "--label", "theirs"]
    line += ["--so-pin", "their-so", "--pin", "their-user"]
    subprocess.run(line, env=dict(environment), check=True, capture_output=True)
    folder = Path(environment["SOFTHSM2_CONF"]).parent / "tokens"
    (theirs,) = folder.iterdir()
    before = {file: file.read_bytes() for file in theirs.iterdir()}
    records, _ = bench(environment, "keypair-token", "find-10")
    assert [r for r in records if r["type"] in ("fail", "skip")] == []
    assert {file: file.read_bytes() for file in theirs.iterdir()} == before
    assert len(list(folder.iterdir())) == 2


def test_a_token_that_is_kept_has_the_last_key_pair(environment: Mapping[str, str]) -> None:
    bench(environment, "keypair-token", options=["--pkcs11-keep"])
    assert len(files(environment)) == 2
    bench(environment, "keypair-token")
    assert files(environment) == []


def test_a_module_that_is_not_there_is_a_skip(environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        [TEEBENCH, "--pkcs11-module", "/nowhere.so", "pkcs11/sign-p256/pkcs11/none"],
        env=dict(environment),
        capture_output=True,
        text=True,
    )
    skip = next(r for r in map(json.loads, done.stdout.splitlines()) if r["type"] == "skip")
    assert skip["code"] == "no-pkcs11"
    assert "/nowhere.so" in skip["reason"]
