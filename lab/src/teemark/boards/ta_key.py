# SPDX-License-Identifier: BSD-2-Clause
"""Tells whether a Trusted Application is signed with the key whose private half OP-TEE publishes.

A signed TA begins with a `struct shdr` (OP-TEE's core/include/signed_hdr.h): seven numbers, the
SHA-256 of the signed data, and the signature (by OP-TEE's scripts/sign_encrypt.py).
"""

import struct
from collections.abc import Iterable
from pathlib import Path

_MODULUS = int(
    "a65a18adc0b3cee30c902b7d409bacbb5a4988420ab1e092c08691e69eefa0e1"
    "f12f90f666ddea155ac028b49ddf520c6ea5c61943ac69a8f25ffe6000a5d23a"
    "cc1201f35bba0c511c2cf4b077b9d672351c0f73cd2f16f9ba8984a09bbf8b5b"
    "7fe88b8b9fc871ea1c6c1f00a0eeca3ebf188e579b4866eb8bd44051ae86a186"
    "f8d00bfab62e252e05ff760146d73deb1f7cfcdf1e828b5eb0caa3ea16be2d6e"
    "54509cb841ef17c77f6054aaf970a0f8982e82f98c5ffb9c888e77b03272991a"
    "e0045ebf1daaf7f0053cb495dd4dba3a71a1f8728e1d98e313bacab027bf8759"
    "5427f8e8ecc68537d23a95e4a5099ad01fa386b092d8021e3375db26bf27fc35",
    16,
)
"""The modulus of keys/default.pem of OP-TEE's sources."""
_EXPONENT = 65537

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
    key = rsa.RSAPublicNumbers(_EXPONENT, _MODULUS).public_key()
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
