# SPDX-License-Identifier: BSD-2-Clause
"""A typo in a plan is said of the plan's line, in teebench's words, before any board is asked."""

from pathlib import Path

import pytest

from fake_board import FakeBoard, teebench
from teemark.base import errors, paths
from teemark.cli import main as cli
from teemark.measure import runner
from teemark.plan import check as plan_check
from teemark.plan.file import Plan, load_plan, parse_plan, plan_names

GOOD = """\
summary = "Two blocks."

[[cases]] # the first
workload = "invoke"
backends = ["tee"]

[[teehash]]
sizes = [1]

[[cases]]
workload = "oneshot"
algorithms = [
    "sha1",
    "sha256",
]
backends = ["tee", "c"]
sizes = [0, "4KiB"]
samples = 5
repeat = [1, 2]
"""


def read(text: str) -> Plan:
    return parse_plan(text, name="mine", file="mine.toml")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            ('"sha256"', '"sha257"'),
            'mine.toml:10: oneshot/sha257/tee/0: "sha257" is not a digest or MAC',
        ),
        (
            ('"tee", "c"', '"tee", "cc"'),
            'mine.toml:10: oneshot/sha1/cc/0: there is no backend "cc"',
        ),
        (
            ('"oneshot"', '"onshot"'),
            'mine.toml:10: onshot/sha1/tee/0: there is no workload "onshot"',
        ),
        (('["tee"]\n', '["te"]\n'), 'mine.toml:3: invoke/none/te/none: there is no backend "te"'),
        (
            ('sizes = [0, "4KiB"]', 'parameters = ["all"]'),
            'mine.toml:10: oneshot/sha1/tee/all: BYTES is "all"',
        ),
        (
            ("samples = 5", "samples = 2000000"),
            "mine.toml:10: oneshot/sha1/tee/0: samples is too large, at most 1000000",
        ),
    ],
)
def test_the_plans_line_and_teebenchs_words(wrong: tuple[str, str], said: str) -> None:
    assert plan_check.check(read(GOOD)) is True
    assert wrong[0] in GOOD
    with pytest.raises(errors.ConfigError) as caught:
        plan_check.check(read(GOOD.replace(*wrong)))
    assert caught.value.message.startswith(said)
    assert caught.value.hint


def test_bounds_of_a_call_are_teebenchs_to_say() -> None:
    text = (
        'summary = "x"\n[ta]\nuuid = "8aaaf200-2450-11e4-abe2-0002a5d5c51b"\n\n[[call]]\n'
        'name = "x"\ncommand = 0\np0 = { type = "memory-in", content = "zeros", size = "SIZE" }\n'
    )
    assert plan_check.check(read(text.replace("SIZE", "64MiB"))) is True
    with pytest.raises(errors.ConfigError, match=r"^mine\.toml:5: call/x/tee/none: .*68157440"):
        plan_check.check(read(text.replace("SIZE", "65MiB")))


def test_every_plan_of_the_checkout_is_right() -> None:
    for name in plan_names():
        assert plan_check.check(load_plan(name)) is True, name


def test_plan_show_finds_it_without_a_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(GOOD.replace('"sha1"', '"sha9"'))
    assert cli.run(["plan", "show", str(file)]) == 1
    said = capsys.readouterr()
    assert f'{file}:10: oneshot/sha9/tee/0: "sha9" is not a digest' in said.err
    assert said.out == ""
    assert cli.run(["run", "--board", "no-such-board", "--plan", str(file)]) == 1
    assert f"{file}:10: " in capsys.readouterr().err


def test_an_older_teebench_on_the_board_finds_it(tmp_path: Path) -> None:
    """The board's complaint is said of the plan, too: its own line, not its last one."""
    script = (
        "cat >/dev/null\necho 'teebench: standard input:3: there is no backend \"c\"' >&2\n"
        "echo 'teebench: hint: no hint' >&2\necho \"Try 'teebench --help'.\" >&2\nexit 2\n"
    )
    teebench(tmp_path, script)
    with pytest.raises(errors.ConfigError) as caught:
        runner.measure(FakeBoard(tmp_path), read(GOOD), tmp_path / "run", runner.RunListener())
    assert caught.value.message == 'mine.toml:10: oneshot/sha1/c/0: there is no backend "c"'
    assert caught.value.hint == "no hint"
    assert not (tmp_path / "run").exists()
    teebench(tmp_path, "echo 'teebench: sorry' >&2\necho \"Try 'teebench --help'.\" >&2\nexit 2\n")
    with pytest.raises(errors.CommandFailed, match="before its end record: teebench: sorry"):
        runner.measure(FakeBoard(tmp_path), read(GOOD), tmp_path / "run", runner.RunListener())


def test_without_a_teebench_for_this_machine_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "built_programs", lambda _architecture: tmp_path)
    assert cli.run(["plan", "show", "quick"]) == 0
    assert "weren't checked" in capsys.readouterr().err
