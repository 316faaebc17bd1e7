# SPDX-License-Identifier: BSD-2-Clause
"""TAs that anybody can sign: told by the signature, and said where a board ran them."""

import struct
import subprocess
from pathlib import Path

import pytest

from synthetic import Synthetic, run_from
from teemark.boards.ta_key import all_signed_with_published_key, signed_with_published_key
from teemark.findings.ground import Ground
from teemark.findings.rules import judge

HEAD = bytes.fromhex(
    "4853544f01000000602a010030494170200000015256aeacd8a6a2e350e8b73f8cd7d09760b07c9aaa388cc0"
    "19215ed9d8b4b8564d10f4e615c7307fc8a5a07e635d4fde6a8897eecf8e1d4e6cdd7b071190a1501ded14dc"
    "30c72dbe0aff0ba6056c8bc7503e546cf1266324e1afc4d685ba26938d6fc0fc40a4d797617a9b9a2f425233"
    "45b5172fad145b35684c5abcd715108806f4954362d1dc34790ac54c0b13d10c342e036ada2f4e20cd424f14"
    "0dd3d8f0686d71f6480f64f500c6a4a68d01f591f487b68eeb9cfed2331bbf2b9fa1e86efaffd9969294f365"
    "385363e0e3dc4cd54192b985fc5063307be1d1d86d560927269ba927824fd2d9f2a8d841f05c1a6242c27bc8"
    "a99dbc3d989feb61911d86ef852ef07d94eac49cb957a0b47229ccb0ee876a0a7d29411e46e9ce6c3fc93d0f"
)
"""The beginning of the probe TA, signed with the default key of OP-TEE's kit."""


def ta(folder: Path, data: bytes) -> Path:
    path = folder / "x.ta"
    path.write_bytes(data)
    return path


def test_the_published_key_is_known_by_its_signature(tmp_path: Path) -> None:
    assert signed_with_published_key(ta(tmp_path, HEAD + b"the rest"))


@pytest.mark.parametrize("at", [0, 15, 20, 51, 52, 180, 307])
def test_a_changed_bit_is_another_signature(tmp_path: Path, at: int) -> None:
    changed = bytearray(HEAD)
    changed[at] ^= 4
    assert not signed_with_published_key(ta(tmp_path, bytes(changed)))


@pytest.mark.parametrize("length", [0, 19, 20, 60, 307])
def test_what_is_no_ta_is_not_signed(tmp_path: Path, length: int) -> None:
    assert not signed_with_published_key(ta(tmp_path, HEAD[:length]))


def test_another_key(tmp_path: Path) -> None:
    key, digest, signature = tmp_path / "key", tmp_path / "digest", tmp_path / "signature"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    digest.write_bytes(HEAD[20:52])
    sign: list[str | Path] = [
        "openssl",
        "pkeyutl",
        "-sign",
        "-inkey",
        key,
        "-in",
        digest,
        "-out",
        signature,
    ]
    options = ("digest:sha256", "rsa_padding_mode:pss", "rsa_pss_saltlen:digest")
    subprocess.run([*sign, *(w for o in options for w in ("-pkeyopt", o))], check=True)
    other = HEAD[:52] + signature.read_bytes()
    assert struct.unpack_from("<H", other, 18) == (256,)
    assert not signed_with_published_key(ta(tmp_path, other))


def test_of_several_all(tmp_path: Path) -> None:
    good = ta(tmp_path, HEAD)
    (tmp_path / "bad").write_bytes(b"")
    assert all_signed_with_published_key([good]) is True
    assert all_signed_with_published_key([good, tmp_path / "bad"]) is False
    assert all_signed_with_published_key([]) is None


@pytest.mark.parametrize(
    ("signed", "emulated", "backends", "said"),
    [
        (True, False, ("tee", "c"), True),
        (True, True, ("tee", "c"), False),
        (False, False, ("tee", "c"), False),
        (None, False, ("tee", "c"), False),
        (True, False, ("c", "openssl"), False),
    ],
)
def test_the_caution(
    *, signed: bool | None, emulated: bool, backends: tuple[str, ...], said: bool
) -> None:
    records = Synthetic(samples=3).records()
    records[0] |= {"emulated": emulated, "tas_signed_with_published_key": signed}
    kept = [r for r in records if not r.get("case") or str(r["case"]).split("/")[2] in backends]
    run = run_from(kept)
    keys = {finding.key: finding for finding in judge(Ground.of(run))}
    assert ("published-key" in keys) is said
    if said:
        assert keys["published-key"].severity == "caution"
        assert keys["published-key"].claim == "Anybody can sign TAs for this board."
