# SPDX-License-Identifier: BSD-2-Clause
"""Tells whether a Trusted Application is signed with the key whose private half OP-TEE publishes.

A signed TA begins with a `struct shdr` (OP-TEE's core/include/signed_hdr.h): seven numbers, the
SHA-256 of the signed data, and the signature (by OP-TEE's scripts/sign_encrypt.py).
"""

import base64
import struct
from collections.abc import Iterable
from pathlib import Path

_MODULUS = (
    "ploYrcCzzuMMkCt9QJusu1pJiEIKseCSwIaR5p7voOHxL5D2Zt3qFVrAKLSd31IMbqXGGUOsaajyX/5gAKXSOswS"
    "AfNbugxRHCz0sHe51nI1HA9zzS8W+bqJhKCbv4tbf+iLi5/IceocbB8AoO7KPr8YjlebSGbri9RAUa6GoYb40Av6"
    "ti4lLgX/dgFG1z3rH3z83x6Ci16wyqPqFr4tblRQnLhB7xfHf2BUqvlwoPiYLoL5jF/7nIiOd7Aycpka4ARevx2q"
    "9/AFPLSV3U26OnGh+HKOHZjjE7rKsCe/h1lUJ/jo7MaFN9I6leSlCZrQH6OGsJLYAh4zddsmvyf8NQ=="
)
"""The modulus of keys/default.pem of OP-TEE's sources, in base64; its exponent is 65537."""

_HEADER = struct.Struct("<IIIIHH")
_MAGIC = 0x4F545348
_PSS_SHA256 = 0x70414930  # TEE_ALG_RSASSA_PKCS1_PSS_MGF1_SHA256
_DIGEST = 32


def signed_with_published_key(ta: Path) -> bool:
    """Returns true if the file is a TA signed with OP-TEE's published key; false also if it is no
    signed TA, or is signed in another way."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    with ta.open("rb") as file:
        head = file.read(_HEADER.size + _DIGEST + 512)
    if len(head) < _HEADER.size:
        return False
    magic, _, _, algorithm, digest_bytes, signature_bytes = _HEADER.unpack_from(head)
    if (magic, algorithm, digest_bytes) != (_MAGIC, _PSS_SHA256, _DIGEST):
        return False
    digest, signature = head[_HEADER.size :][:_DIGEST], head[_HEADER.size + _DIGEST :]
    modulus = int.from_bytes(base64.b64decode(_MODULUS))
    key = rsa.RSAPublicNumbers(65537, modulus).public_key()
    form = padding.PSS(padding.MGF1(SHA256()), padding.PSS.AUTO)  # RFC 8017, 8.1.2
    try:
        key.verify(signature[:signature_bytes], digest, form, utils.Prehashed(SHA256()))
    except (InvalidSignature, ValueError):  # or the file ends within its digest
        return False
    return True


def all_signed_with_published_key(tas: Iterable[Path]) -> bool | None:
    """Returns true if OP-TEE's published key signed all TAs; None if there are no TAs."""
    signed = [signed_with_published_key(ta) for ta in tas]
    return all(signed) if signed else None
