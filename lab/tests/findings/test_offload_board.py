# SPDX-License-Identifier: BSD-2-Clause
"""Who does the work, on a board that has an accelerator: virtio-crypto."""

import json
import subprocess
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from teemark.base import paths
from teemark.boards import VirtualBoard
from teemark.findings.offload import offloads
from teemark.model.models import build
from teemark.run import reader
from teemark.run.records import Watched

pytestmark = pytest.mark.board

CBC = "cipher/aes-128-cbc/afalg:{}/enc/16384"


def measured(board: VirtualBoard, cases: Iterable[str]) -> dict[str, dict[str, Any]]:
    done = board.capture(["teebench", "--samples", "6", *cases])
    records = [json.loads(line) for line in done.text.splitlines()]
    return {record["case"]: record for record in records if record["type"] == "case"}


def raised(case: dict[str, Any], device: str) -> int:
    lines = msgspec.convert(case["watched"], Watched).lines
    return sum(line.count for line in lines if device in line.name)


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


PLAIN = "cipher/aes-128-cbc/afalg/enc/16384"
DIGEST = "oneshot/sha256/afalg{}/16384"


def outcomes(board: VirtualBoard, *cases: str) -> dict[str, tuple[str, str | None]]:
    """Who did the work, and the driver, as the report concludes from what the board says."""
    done = board.capture(["teebench", "--samples", "8", *cases], check=False)
    run = reader.parse((done.text + "\n").encode().splitlines(keepends=True), file="board")
    return {one.key: (one.outcome, one.driver) for one in offloads(run, build(run))}


def test_verdicts_follow_the_work_and_not_the_priority(qemu_v8: VirtualBoard) -> None:
    target = paths.root() / "host"
    subprocess.run(
        ["make", "--no-print-directory", "-C", target, "ARCH=aarch64", "tests"], check=True
    )
    program = paths.root() / "build" / "host" / "aarch64" / "tests" / "priority"
    qemu_v8.push(program, "/tmp/priority", mode=0o755)

    def prefer(name: str, driver: str, priority: int) -> None:
        qemu_v8.script('modprobe crypto_user && /tmp/priority "$@"', name, driver, str(priority))

    device = CBC.format("virtio_crypto_aes_cbc")
    found = outcomes(qemu_v8, device, PLAIN, DIGEST.format(":sha256-ce"), DIGEST.format(""))
    assert found[device][0] == "accelerator"
    assert found[PLAIN] == ("cpu-instructions", "cbc-aes-ce")
    assert found[DIGEST.format(":sha256-ce")][0] == "cpu-instructions"
    assert found[DIGEST.format("")] == ("cpu-instructions", "sha256-ce")

    # Software that claims to be the best is bound, and is software all the same.
    prefer("sha256", "sha256-generic", 9999)
    prefer("cbc(aes)", "virtio_crypto_aes_cbc", 9999)
    try:
        found = outcomes(qemu_v8, PLAIN, DIGEST.format(""))
        assert found[DIGEST.format("")] == ("software", "sha256-generic")
        assert found[PLAIN] == ("accelerator", "virtio_crypto_aes_cbc")
        # With the accelerator removed the same case is the CPU's.
        qemu_v8.script("rmmod virtio_crypto")
        found = outcomes(qemu_v8, PLAIN, device)
        assert found == {PLAIN: ("cpu-instructions", "cbc-aes-ce")}
    finally:
        qemu_v8.script("modprobe virtio_crypto")
        prefer("sha256", "sha256-generic", 100)
