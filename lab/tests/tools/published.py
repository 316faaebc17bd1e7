# SPDX-License-Identifier: BSD-2-Clause
"""Published answers of asymmetric algorithms, as lines for host/tests/answers.c.

NIST's CAVP and the KATs of ML-KEM and ML-DSA come from the Python package cryptography-vectors,
Wycheproof from the Go module c2sp/wycheproof (mk/install-wycheproof). Left out is what can't be
asked so: other curves, digests and encodings of points, messages of more than 512 bytes, exponents
of more than 4, and contexts of ML-DSA that aren't 16 bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, x448, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SIGN, VERIFY, DERIVE, _ENCRYPT, DECRYPT, _ENCAPSULATE, DECAPSULATE = range(7)
MESSAGE_MAX_BYTES = 512  # ASYM_IN_MAX_BYTES of asym.h
RSA_SIZES = (2048, 3072, 4096)
CURVES = {
    256: (ec.SECP256R1(), hashlib.sha256),
    384: (ec.SECP384R1(), hashlib.sha384),
    521: (ec.SECP521R1(), hashlib.sha512),
}


@dataclass(frozen=True)
class Answer:
    """One published answer. `want` is "right" of a signature that is verified, else the result in
    hexadecimal. It is to be given if `verdict` is "valid"; "invalid": refused; "acceptable":
    either; "other": anything but `want`."""

    name: str
    algorithm: str
    use: int
    key: str
    message: str
    signature: str
    want: str
    verdict: str

    def line(self) -> str:
        """Returns what `answers` reads."""
        fields = (self.key, self.message, self.signature)
        return " ".join((self.algorithm, str(self.use), *(field or "-" for field in fields)))

    def fits(self, got: str) -> bool:
        """Returns whether `got`, a line of `answers`, is what the publisher says."""
        refused = got.startswith("refused") or got == "dead"
        if self.verdict == "other":
            return got != self.want
        return (got == self.want and self.verdict != "invalid") or (
            refused and self.verdict != "valid"
        )


def everything(vectors: Path, module: Path) -> list[Answer]:
    """Returns what the package's folder "asymmetric" and the module's "testvectors_v1" publish."""
    found = [*cavp(vectors), *kats(vectors), *wycheproof(module)]
    return [
        one
        for one in found
        if one.algorithm.startswith("ml-") or len(one.message) <= 2 * MESSAGE_MAX_BYTES
    ]


def _wide(number: int | str, width: int) -> str:
    """Returns a number as hexadecimal digits for `width` bytes."""
    value = number if isinstance(number, int) else int(number or "0", 16)
    return f"{value:0{2 * width}x}"


def _rsa(n: int, e: int, d: int | None = None, primes: tuple[int, int] | None = None) -> str:
    """Returns an RSA key as asym.h lays it out."""
    width = (n.bit_length() + 7) // 8
    key = _wide(n, width) + _wide(e, 4)
    if d is not None:
        key += _wide(d, width)
    if d is not None and primes:
        p, q = primes
        for part in (p, q, d % (p - 1), d % (q - 1), pow(q, -1, p)):
            key += _wide(part, width // 2)
    return key


def _records(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields each record of a file of NIST's with the heading above it; a record ends with its
    Result, and lines that stand before several hold for all of them."""
    heading, record = "", dict[str, str]()
    for line in file.read_text(encoding="utf-8").splitlines():
        if re.match(r"\[.*\]", line):
            heading, record = line.strip("[] "), {}
        elif " = " in line + " ":
            name, _, value = line.partition("=")
            record[name.strip()] = value.strip()
            if name.strip() == "Result":
                yield heading, dict(record)


def cavp(folder: Path) -> Iterator[Answer]:
    """Yields NIST's answers; `folder` is the package's folder "asymmetric"."""
    for heading, got in _records(folder / "ECDSA/FIPS_186-3/SigVer.rsp"):
        for bits, (_curve, digest) in CURVES.items():
            if heading == f"P-{bits},{digest().name.upper().replace('SHA', 'SHA-')}":
                n = (bits + 7) // 8
                yield Answer(
                    f"CAVP SigVer {heading} {got['Result']}",
                    f"ecdsa-p{bits}",
                    VERIFY,
                    _wide(got["Qx"], n) + _wide(got["Qy"], n),
                    digest(bytes.fromhex(got["Msg"])).hexdigest(),
                    _wide(got["R"], n) + _wide(got["S"], n),
                    "right",
                    "valid" if got["Result"].startswith("P") else "invalid",
                )
    kas = "ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_resp.fax"
    sets = {"EC": 256, "ED": 384, "EE": 521}
    for heading, got in _records(folder / kas):
        if heading[:2] in sets:
            bits = sets[heading[:2]]
            n = (bits + 7) // 8
            iut = "".join(_wide(got[name], n) for name in ("QsIUTx", "QsIUTy", "dsIUT"))
            yield Answer(
                f"CAVP KAS {heading} {got['COUNT']} {got['Result']}",
                f"ecdh-p{bits}",
                DERIVE,
                iut,
                _wide(got["QsCAVSx"], n) + _wide(got["QsCAVSy"], n),
                "",
                _wide(got["Z"], n),
                "valid" if got["Result"].startswith("P") else "other",
            )
    # The salts of the PSS file have 10 bytes, ours 32: all of its signatures must be refused.
    for file, padding in (("SigVer15_186-3.rsp", ""), ("SigVerPSS_186-3.rsp", "-pss")):
        yield from _cavp_rsa(folder / "RSA/FIPS_186-2" / file, padding)


def _cavp_rsa(file: Path, padding: str) -> Iterator[Answer]:
    for heading, got in _records(file):
        bits = int(heading.rpartition(" ")[2])
        if got["SHAAlg"] != "SHA256" or bits not in RSA_SIZES:
            continue
        n, e, d, p, q = (int(got[name], 16) for name in "nedpq")
        digest = hashlib.sha256(bytes.fromhex(got["Msg"])).hexdigest()
        passes = got["Result"].startswith("P")
        name = f"CAVP {file.stem} {heading} {got['Result']}"
        signature = _wide(got["S"], bits // 8)
        yield Answer(
            name,
            f"rsa-{bits}{padding}",
            VERIFY,
            _rsa(n, e),
            digest,
            signature,
            "right",
            "valid" if passes and not padding else "invalid",
        )
        if passes and not padding:
            for key in (_rsa(n, e, d), _rsa(n, e, d, (p, q))):
                yield Answer(f"{name}, signed", f"rsa-{bits}", SIGN, key, digest, "", signature,
                             "valid")  # fmt: skip


def kats(folder: Path) -> Iterator[Answer]:
    """Yields the other answers of the same package: RFC 8032's authors', ML-KEM's and ML-DSA's."""
    lines = (folder / "Ed25519/sign.input").read_text(encoding="ascii").splitlines()
    for number, line in enumerate(lines):
        private, public, message, signed = line.split(":")[:4]
        signature = signed[:128]
        name = f"sign.input {number}"
        yield Answer(name, "ed25519", SIGN, public + private[:64], message, "", signature, "valid")
        yield Answer(name, "ed25519", VERIFY, public, message, signature, "right", "valid")
    for size in (512, 768, 1024):
        for got in _kat(folder / f"MLKEM/kat_MLKEM_{size}.rsp"):
            yield Answer(
                f"ML-KEM-{size} KAT {got['count']}",
                f"ml-kem-{size}",
                DECAPSULATE,
                got["pk"] + got["d"] + got["z"],
                got["ct"],
                "",
                got["ss"],
                "valid",
            )
    for level in (44, 65, 87):
        for got in _kat(folder / f"MLDSA/kat_MLDSA_{level}_det_pure.rsp"):
            signature = got["sm"][: -len(got["msg"])]
            for verdict in ("valid", "invalid"):
                changed = (
                    f"{int(signature[-1], 16) ^ 1:x}" if verdict == "invalid" else signature[-1]
                )
                if len(got["ctx"]) == 32:
                    yield Answer(
                        f"ML-DSA-{level} KAT {got['count']} {verdict}",
                        f"ml-dsa-{level}",
                        VERIFY,
                        got["pk"],
                        got["ctx"] + got["msg"],
                        signature[:-1] + changed,
                        "right",
                        verdict,
                    )


def _kat(file: Path) -> Iterator[dict[str, str]]:
    text = file.read_text(encoding="ascii")
    for block in re.split(r"(?m)^(?=count = )", text)[1:]:
        yield dict(re.findall(r"(?m)^(\w+) = ?(.*)$", block))


def wycheproof(folder: Path) -> Iterator[Answer]:
    """Yields Wycheproof's answers; `folder` is the module's folder "testvectors_v1"."""
    readers: list[tuple[str, Callable[[dict[str, Any], dict[str, Any]], Iterator[Answer]]]] = [
        (r"ecdsa_secp(256|384|521)r1_sha\d+_p1363_test", _ecdsa),
        (r"rsa_signature_(2048|3072|4096)_sha256_test", _rsa_verify),
        (r"rsa_pss_(2048|3072|4096)_sha256_mgf1_32_test", _rsa_verify),
        (r"rsa_pkcs1_(2048|3072|4096)_sig_gen_test", _rsa_sign),
        (r"rsa_oaep_(2048|3072|4096)_sha256_mgf1sha256_test", _oaep),
        (r"ecdh_secp(256|384|521)r1_ecpoint_test", _ecdh),
        (r"ed25519_test", _ed25519),
        (r"x(25519|448)_test", _xdh),
        (r"mlkem_(512|768|1024)_test", _mlkem),
    ]
    for file in sorted(folder.glob("*.json")):
        for pattern, read in readers:
            if re.fullmatch(pattern, file.stem):
                for group in json.loads(file.read_text(encoding="utf-8"))["testGroups"]:
                    for test in group["tests"]:
                        for got in read(group, test):
                            yield Answer(**{**vars(got), "name": f"{file.stem} {got.name}"})


def _ecdsa(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    key = group["publicKey"]
    bits = key["keySize"]
    digest = CURVES[bits][1]
    if group["sha"] == digest().name.upper().replace("SHA", "SHA-"):
        n = (bits + 7) // 8
        yield Answer(
            f"{test['tcId']} {test['comment']}",
            f"ecdsa-p{bits}",
            VERIFY,
            _wide(key["wx"], n) + _wide(key["wy"], n),
            digest(bytes.fromhex(test["msg"])).hexdigest(),
            test["sig"],
            "right",
            test["result"],
        )


def _rsa_verify(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    n, e = (int(group["publicKey"][name], 16) for name in ("modulus", "publicExponent"))
    if e < 1 << 32 and n.bit_length() in RSA_SIZES:
        yield Answer(
            f"{test['tcId']} {test['comment']}",
            f"rsa-{n.bit_length()}{'-pss' if 'Pss' in group['type'] else ''}",
            VERIFY,
            _rsa(n, e),
            hashlib.sha256(bytes.fromhex(test["msg"])).hexdigest(),
            test["sig"],
            "right",
            test["result"],
        )


def _private(group: dict[str, Any]) -> tuple[int, int, int]:
    names = ("modulus", "publicExponent", "privateExponent")
    n, e, d = (int(group["privateKey"][name], 16) for name in names)
    return n, e, d


def _rsa_sign(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    n, e, d = _private(group)
    if group["sha"] == "SHA-256" and e < 1 << 32 and n.bit_length() in RSA_SIZES:
        yield Answer(
            f"{test['tcId']} {test['comment']}",
            f"rsa-{n.bit_length()}",
            SIGN,
            _rsa(n, e, d),
            hashlib.sha256(bytes.fromhex(test["msg"])).hexdigest(),
            "",
            test["sig"],
            test["result"],
        )


def _oaep(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    n, e, d = _private(group)
    primes = tuple(int(group["privateKey"][name], 16) for name in ("prime1", "prime2"))
    if not test["label"] and e < 1 << 32 and n.bit_length() in RSA_SIZES:
        for key in (_rsa(n, e, d), _rsa(n, e, d, (primes[0], primes[1]))):
            yield Answer(
                f"{test['tcId']} {test['comment']}",
                f"rsa-{n.bit_length()}-oaep",
                DECRYPT,
                key,
                test["ct"],
                "",
                test["msg"],
                test["result"],
            )


def _ecdh(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    bits = int(group["curve"][4:7])
    n = (bits + 7) // 8
    if test["public"][:2] != "04" or len(test["public"]) != 4 * n + 2:
        return
    secret = int(test["private"], 16)
    own = ec.derive_private_key(secret, CURVES[bits][0]).public_key()
    point = own.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint).hex()[2:]
    yield Answer(
        f"{test['tcId']} {test['comment']}",
        f"ecdh-p{bits}",
        DERIVE,
        point + _wide(secret, n),
        test["public"][2:],
        "",
        test["shared"],
        test["result"],
    )


def _ed25519(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    name = f"{test['tcId']} {test['comment']}"
    key = group["publicKey"]["pk"]
    yield Answer(name, "ed25519", VERIFY, key, test["msg"], test["sig"], "right", test["result"])


def _xdh(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    short = group["curve"] == "curve25519"
    if len(test["public"]) != (64 if short else 112):
        return
    secret = bytes.fromhex(test["private"])
    own = (
        x25519.X25519PrivateKey.from_private_bytes(secret).public_key()
        if short
        else x448.X448PrivateKey.from_private_bytes(secret).public_key()
    )
    yield Answer(
        f"{test['tcId']} {test['comment']}",
        "x25519" if short else "x448",
        DERIVE,
        own.public_bytes_raw().hex() + test["private"],
        test["public"],
        "",
        test["shared"],
        test["result"],
    )


def _mlkem(group: dict[str, Any], test: dict[str, Any]) -> Iterator[Answer]:
    if "ek" in test:  # else the seed has no 64 bytes
        yield Answer(
            f"{test['tcId']} {test.get('comment', '')}",
            group["parameterSet"].lower(),
            DECAPSULATE,
            test["ek"] + test["seed"],
            test["c"],
            "",
            test["K"],
            test["result"],
        )
