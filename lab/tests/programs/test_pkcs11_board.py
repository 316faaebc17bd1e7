# SPDX-License-Identifier: BSD-2-Clause
"""PKCS #11 on the real OP-TEE, beside pkcs11-tool of Debian's opensc: what one makes the other
uses, and the tokens of others stay as they are."""

import json
import re
from fnmatch import fnmatch
from typing import Any

import pytest

from conftest import bring
from teemark.boards import VirtualBoard
from teemark.plan.file import case_lines, load_plan, select_cases

pytestmark = [
    pytest.mark.board,
    pytest.mark.exhaustive,
    pytest.mark.long(60),
]

PLACE = "/data/opensc"
MODULE = "/usr/lib/aarch64-linux-gnu/libckteec.so.0"
KEY_PAIR = "pkcs11/keypair-token/pkcs11/none"
SPKI = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
"""These bytes stand before a point of P-256 in a public key (RFC 5480)."""
TOKENS = range(3)  # CFG_PKCS11_TA_TOKEN_COUNT


@pytest.fixture(scope="module")
def board(qemu_v8: VirtualBoard) -> VirtualBoard:
    """With pkcs11-tool on it, fetched from Debian if need be."""
    bring(qemu_v8, PLACE, {"opensc": ("pkcs11-tool",)})
    return qemu_v8


def tool(board: VirtualBoard, *argv: str) -> str:
    words = ["env", f"LD_LIBRARY_PATH={PLACE}", f"{PLACE}/pkcs11-tool", "--module", MODULE, *argv]
    return board.capture(words, timeout=200).text


def bench(board: VirtualBoard, *options: str) -> list[dict[str, Any]]:
    """Runs the case of the plan pkcs11 that makes a key pair in the token, once."""
    plan = select_cases(load_plan("pkcs11"), [KEY_PAIR])
    argv = ["teebench", "--min-us", "0", *options]
    done = board.capture(argv, stdin=case_lines(plan.cases).encode(), timeout=200)
    return [json.loads(line) for line in done.text.splitlines()]


def test_pkcs11_tool_signs_with_a_key_of_the_plan_and_openssl_verifies(board: VirtualBoard) -> None:
    records = bench(board, "--pkcs11-keep")
    (case,) = (record for record in records if record["type"] == "case")
    assert fnmatch(case["module"], MODULE + "*")
    board.script('cd "$1" && echo "to be signed" >message && echo "another" >other', PLACE)
    token = ["--token-label", "teemark", "--login", "--pin", "teemark-user"]
    hashed = ["--mechanism", "ECDSA-SHA256", "--signature-format", "openssl"]
    files = ["-i", f"{PLACE}/message", "-o", f"{PLACE}/signature"]
    tool(board, *token, "--sign", *hashed, *files)
    (point,) = re.findall(r"EC_POINT: +0441(04[0-9a-f]{128})\n", tool(board, *token, "-O"))
    public = bytes.fromhex(SPKI + point)
    board.script('cat >"$1"', f"{PLACE}/public", stdin=public)
    verify = 'cd "$1" && openssl dgst -sha256 -verify public -keyform DER -signature signature "$2"'
    assert "Verified OK" in board.script(verify, PLACE, "message").text
    assert "Verified OK" not in board.script(verify, PLACE, "other", check=False).text
    bench(board)  # empties the token
    assert "EC_POINT" not in tool(board, "--token-label", "teemark", "-O")


def test_tokens_of_others_are_refused_and_stay_as_they_are(board: VirtualBoard) -> None:
    """Even where their SO's PIN is the one that teebench gives its own token."""

    def state() -> list[str]:
        said = [tool(board, "--list-slots")]
        for slot in TOKENS:
            user = ["--slot-index", str(slot), "--login", "--pin", "their-user"]
            said.append(tool(board, *user, "-O"))
        return said

    so = ["--so-pin", "teemark-so"]
    for slot in TOKENS:
        where = ["--slot-index", str(slot)]
        tool(board, *where, "--init-token", "--label", f"theirs {slot}", *so)
        tool(
            board,
            *where,
            "--init-pin",
            "--login",
            "--login-type",
            "so",
            *so,
            "--new-pin",
            "their-user",
        )
        made = ["--keygen", "--key-type", "AES:16", "--label", f"key {slot}", "--id", "01"]
        tool(board, *where, "--login", "--pin", "their-user", *made)
    try:
        before = state()
        assert all(f"theirs {slot}" in before[0] for slot in TOKENS)
        assert all(f"key {slot}" in said for slot, said in zip(TOKENS, before[1:], strict=True))
        (skip,) = (record for record in bench(board) if record["type"] in ("case", "fail", "skip"))
        assert (skip["type"], skip["code"]) == ("skip", "no-token")
        assert state() == before
    finally:  # a token that was initialised stays so: from now on it is ours
        for slot in TOKENS:
            tool(board, "--slot-index", str(slot), "--init-token", "--label", "teemark", *so)
