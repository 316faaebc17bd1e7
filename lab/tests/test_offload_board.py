# SPDX-License-Identifier: BSD-2-Clause
"""Who does the work, on a board that has an accelerator: virtio-crypto."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from teemark.boards import VirtualBoard

pytestmark = [pytest.mark.board, pytest.mark.timeout(300)]

CBC = "cipher/aes-128-cbc/afalg:{}/enc/16384"


def measured(board: VirtualBoard, cases: Iterable[str]) -> dict[str, dict[str, Any]]:
    done = board.capture(["teebench", "--samples", "6", *cases])
    records = [json.loads(line) for line in done.text.splitlines()]
    return {record["case"]: record for record in records if record["type"] == "case"}


def raised(case: dict[str, Any], device: str) -> int:
    return sum(line["count"] for line in case["watched"]["interrupts"] if device in line["name"])


def test_each_driver_is_measured_by_its_name(qemu_v8: VirtualBoard) -> None:
    plain = "cipher/aes-128-cbc/afalg/enc/16384"
    found = measured(qemu_v8, [CBC.format("*"), plain, "oneshot/sha256/afalg:*/4096"])
    drivers = {
        case["kernel_driver"]["name"]
        for case in found.values()
        if case["algorithm"] == "aes-128-cbc"
    }
    assert {"virtio_crypto_aes_cbc", "cbc-aes-ce", "cbc(aes-generic)"} <= drivers
    assert "oneshot/sha256/afalg:sha256-generic/4096" in found
    for key, case in found.items():
        named = case["backend"].partition(":")[2]
        assert named in ("", case["kernel_driver"]["name"]), key

    device = found[CBC.format("virtio_crypto_aes_cbc")]
    assert raised(device, "virtqueues") >= device["watched"]["calls"] / 2
    assert device["watched"]["others_ns"] > 0  # of the thread that feeds it
    assert device["kernel_driver"]["async"]
    # what the kernel prefers is no accelerator, though there is one
    assert found[plain]["kernel_driver"]["name"] == "cbc-aes-ce"
    for key in (plain, CBC.format("cbc(aes-generic)")):
        assert raised(found[key], "virtqueues") == 0
