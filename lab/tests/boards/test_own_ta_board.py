# SPDX-License-Identifier: BSD-2-Clause
"""Trusted Applications that aren't teemark's, on the real OP-TEE: a new one, the hello_world of
optee_examples, and one of xtest's that is on the board already."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from teemark.base import paths
from teemark.base.errors import ConfigError
from teemark.boards import VirtualBoard, install, own_ta
from teemark.cli import main as cli
from teemark.measure import runner
from teemark.plan.file import load_plan
from teemark.run import reader
from teemark.run.reader import RunData

pytestmark = [pytest.mark.board, pytest.mark.long(40)]

HELLO = Path(__file__).resolve().parent / "hello_world"
HELLO_UUID = "8aaaf200-2450-11e4-abe2-0002a5d5c51b"
TAS = "/lib/optee_armtz"


def is_there(board: VirtualBoard, uuid: str) -> bool:
    return f"{uuid}.ta" in board.script('ls "$1"', TAS).text.split()


def measured(board: VirtualBoard, text: str, folder: Path, ta: Path | None = None) -> RunData:
    file = folder / "bench.toml"
    file.write_text(text)
    plan = load_plan(str(file))
    own = own_ta.find(ta) if ta is not None else None
    built = own_ta.build_for(own, plan.ta, board)
    with install.guest(board, built.file if built else None, tell=lambda _: None):
        outcome = runner.measure(board, plan, folder / "run", runner.RunListener())
    assert outcome.error is None
    return reader.read(outcome.file)


def test_from_nothing_to_a_report_in_two_commands(
    lent: VirtualBoard, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "my_ta"
    assert cli.run(["new-ta", str(folder)]) == 0
    plan = load_plan(str(folder / "bench.toml"))
    assert plan.ta is not None
    # The folder builds as optee_examples do, and its client says the same.
    export = tmp_path / "export"
    sysroot = paths.vboard() / "sysroot/usr"
    for kind, source in (("include", "include"), ("lib", "lib/aarch64-linux-gnu")):
        (export / kind).mkdir(parents=True)
        for file in (sysroot / source).glob("*tee*"):
            shutil.copy(file, export / kind)
    plain = tmp_path / "plain"
    shutil.copytree(folder, plain)
    subprocess.run(
        [
            *("make", "-s", "-C", plain, "CROSS_COMPILE=aarch64-linux-gnu-"),
            *(f"TA_DEV_KIT_DIR={paths.vboard() / 'ta_dev_kit'}", f"TEEC_EXPORT={export}"),
        ],
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    lent.push(plain / "host/optee_example_my_ta", "/tmp/client", mode=0o755)
    with install.guest(lent, plain / "ta" / f"{plan.ta}.ta", tell=lambda _: None):
        said = lent.capture(["/tmp/client"]).text
    assert said == '41 became 42\n"Hello, TA" came back\n'

    out = tmp_path / "run"
    assert cli.run(["run", "--board", "qemu-v8", "--ta", str(folder), "-o", str(out)]) == 0
    run = reader.read(out)
    assert [case.key for case in run.sound] == [case.key for case in plan.cases]
    assert {case.record.ta for case in run.sound} == {None, plan.ta}
    assert [case.record.unchecked for case in run.sound][-1] == ("p1",)
    report = (out / "report.md").read_text()
    assert "## Calls of your Trusted Application" in report
    assert "copy, call" in report
    assert re.search(r"^ *increment .*[mµ]s ", capfd.readouterr().out, re.M)
    assert not is_there(lent, plan.ta)


def test_hello_world_and_what_goes_wrong(
    lent: VirtualBoard, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each mistake is named by its line, and nothing of it is timed."""
    head = f'summary = "x"\n[ta]\nuuid = "{HELLO_UUID}"\n'
    bad = {
        "wrong": 'command = 0\np0 = { type = "value-inout", a = 41, expect_a = 43 }',
        "unknown": "command = 99",
        "panics": "command = 100",
        "types": 'command = 0\np0 = { type = "value-in" }',
        "right": 'command = 1\np0 = { type = "value-inout", a = 41, expect_a = 40 }',
    }
    calls = "".join(
        f'[[call]]\nname = "{name}"\nsamples = 6\n{what}\n' for name, what in bad.items()
    )
    file = tmp_path / "bad.toml"
    file.write_text(head + calls)
    lines = file.read_text().splitlines()
    out = tmp_path / "run"
    arguments = ["--ta", str(HELLO), "--plan", str(file), "-o", str(out)]
    assert cli.run(["run", "--board", "qemu-v8", *arguments]) == 1
    run = reader.read(out)
    assert [case.record.algorithm for case in run.sound] == ["right"]
    assert not [case for case in run.cases.values() if case.record.algorithm != "right"]
    said = {fail.case.split("/")[1]: fail for fail in run.fails}
    assert list(said) == ["wrong", "unknown", "panics", "types"]
    assert said["wrong"].reason == "command 0: value a of p0 is 42, not 43"
    assert (said["panics"].tee_result, said["panics"].tee_origin) == (
        "TEE_ERROR_TARGET_DEAD",
        "TEE",
    )
    assert said["types"].tee_origin == "trusted application"
    stderr = capfd.readouterr().err
    for name, fail in said.items():
        line = lines.index(f'name = "{name}"')
        assert f"{file}:{line}: {fail.case}: {fail.reason}" in stderr
    assert not is_there(lent, HELLO_UUID)

    with pytest.raises(ConfigError, match=f"is {HELLO_UUID[:-1]}c, but .* gives {HELLO_UUID}"):
        measured(lent, file.read_text().replace(HELLO_UUID, f"{HELLO_UUID[:-1]}c"), tmp_path, HELLO)


def test_a_ta_of_xtests_that_is_there(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    """The crypt TA, by its UUID: its SHA-256 is compared with our own."""
    text = (
        'summary = "x"\n[ta]\nuuid = "cb3e5ba0-adf1-11e0-998b-0002a5d5c51b"\n'
        '[[call]]\nname = "sha256"\ncommand = 2\nsamples = 6\nsizes = [1, 64, "4KiB", "64KiB"]\n'
        'p0 = { type = "memory-in", size = "{}", content = "message", memory = "KIND" }\n'
        'p1 = { type = "memory-out", size = 32, expect = "sha256 of p0", memory = "KIND" }\n'
    )
    for kind in ("temporary", "registered", "allocated"):
        folder = tmp_path / kind
        folder.mkdir()
        run = measured(qemu_v8, text.replace("KIND", kind), folder)
        assert [case.record.bytes for case in run.sound] == [1, 64, 4096, 65536], run.fails


def test_a_ta_that_was_there_is_back_afterwards(qemu_v8: VirtualBoard, tmp_path: Path) -> None:
    before, ours = (tmp_path / name / f"{HELLO_UUID}.ta" for name in ("before", "ours"))
    for file in (before, ours):
        file.parent.mkdir()
        file.write_text(file.parent.name)
    target = f"{TAS}/{HELLO_UUID}.ta"
    try:
        qemu_v8.push(before, target, mode=0o444)
        with install.guest(qemu_v8, ours, tell=lambda _: None):
            assert qemu_v8.capture(["cat", target]).text == "ours"
        assert qemu_v8.capture(["cat", target]).text == "before"
        with install.guest(qemu_v8, before, tell=lambda _: None):
            pass
        assert qemu_v8.capture(["cat", target]).text == "before"
    finally:
        qemu_v8.exec(["rm", "-f", target])
    with install.guest(qemu_v8, ours, tell=lambda _: None):
        assert is_there(qemu_v8, HELLO_UUID)
    assert not is_there(qemu_v8, HELLO_UUID)
