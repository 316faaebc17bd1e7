# SPDX-License-Identifier: BSD-2-Clause
"""The gate: its baseline's file, what fails it, and that it never takes the unknown for a pass."""

import dataclasses
import itertools
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from synthetic import TRUTH, Synthetic, Truth, run_from, run_of
from teemark.base import paths
from teemark.base.errors import ConfigError
from teemark.boards import config, optee
from teemark.boards.config import BoardFile
from teemark.cli import main as cli
from teemark.cli.gate import command
from teemark.exact import baseline as baselines
from teemark.exact import gate
from teemark.exact.baseline import OTHERS, Baseline, function_changes, held_against, listed
from teemark.exact.record import TaCalls
from teemark.model.compare import BOOTS, KERNEL_LIMIT, LIMIT, Limit, compare
from teemark.plan.file import Plan, load_plan
from teemark.run.reader import RunData
from teemark.trace.profile import CaseTrace, Function, Held, Node, Stretch, TracedSample

EXACT = Synthetic(noise=0, identical=True, samples=5, algorithms=("sha256",))
BY = {"compiler": "gcc 12", "optee": "4.5"}
CASE = "oneshot/sha256/ta-c/65536"


def run(truth: Truth | None = None) -> RunData:
    made = dataclasses.replace(EXACT, truth=truth or dict(TRUTH))
    return made.run()


def dearer(share: float) -> RunData:
    call, byte = TRUTH["sha256", "ta-c"]
    return run({**TRUTH, ("sha256", "ta-c"): (call * (1 + share), byte * (1 + share))})


FUNCTIONS = {CASE: {"S-EL0 compress": 9000, "S-EL1 entry": 800, OTHERS: 200}}
BASE = Baseline("quick", "qemu-v8-icount", BY, baselines.figures_of(run())[0], FUNCTIONS)


def test_a_baseline_comes_back_as_it_was_written() -> None:
    text = baselines.render(BASE)
    assert baselines.parse(text, "f") == BASE
    assert baselines.render(baselines.parse(text, "f")) == text
    lines = text.splitlines()
    assert sum(CASE in line for line in lines) == 2  # its figure, its functions
    assert '"S-EL0 compress" = 9000' in lines


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nonsense", r"not valid TOML: .* \(at line {}, column 9\)"),
        (f'"{CASE}" = 7', r"not valid TOML: .* \(at line {}, column \d+\)"),
        ('"a/b/c/d" = -5', "figures: a/b/c/d can't take -5"),
        ('"a/b/c/d" = 0', "figures: a/b/c/d can't take 0"),
        ('"a/b/c/d" = inf', "figures: a/b/c/d can't take inf"),
        ('"a/b/c/d" = "x"', "figures: must be a number, not"),
        ("[plan]", "not valid TOML: .*at line {}"),
        ("[other]", "other: no such key"),
    ],
)
def test_what_is_none_is_named(line: str, why: str) -> None:
    head, tail = re.split(rf'(?<="{CASE}" = )[\d.]+\n', baselines.render(BASE))
    with pytest.raises(ConfigError, match=f"f:.*{why.format(head.count(chr(10)) + 2)}"):
        baselines.parse(f"{head}1\n{line}\n{tail}", "f")


def test_a_file_without_cases_is_no_baseline() -> None:
    with pytest.raises(ConfigError, match="figures: must be a table with something in it"):
        baselines.parse('plan = "a"\nboard = "b"\nby = {}\nfigures = {}\n', "f")
    with pytest.raises(ConfigError) as caught:
        baselines.parse("plan gate\nboard qemu-v8-icount\n", "gate.txt")
    assert "gate --update` writes the whole file" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.0, "same"), (0.00015, "same"), (0.0005, "worse"), (-0.0005, "better"), (0.01, "worse")],
)
def test_one_instruction_a_block_is_seen(share: float, verdict: str) -> None:
    found = {one.name: one for one in held_against(BASE, dearer(share)).pairs}
    assert found[CASE].verdict == verdict
    assert found["oneshot/sha256/tee/65536"].verdict == "same"


@pytest.mark.parametrize(("share", "verdict"), [(0.014, "same"), (0.016, "worse")])
def test_the_kernel_has_other_pages_at_hand(share: float, verdict: str) -> None:
    call, byte = TRUTH["sha256", "afalg"]
    more = run({**TRUTH, ("sha256", "afalg"): (call * (1 + share), byte * (1 + share))})
    found = {one.name: one for one in held_against(BASE, more).pairs}
    assert found["oneshot/sha256/afalg/65536"].verdict == verdict


def test_functions_add_up() -> None:
    rng = random.Random(1)
    before = {f"S-EL1 f{n}": rng.randrange(1, 3000) for n in range(80)}
    after = before | {"S-EL1 f3": before["S-EL1 f3"] + 700, "EL1 new": 9000}
    shown = listed(before)
    assert sum(shown.values()) == sum(before.values())
    assert len(shown) < len(before)
    changes = function_changes(shown, after)
    assert sum(count for _, count in changes) == sum(after.values()) - sum(before.values())
    assert changes[0] == ("EL1 new", 9000)


def test_a_small_function_that_grew_is_named() -> None:
    """A step of teehash is 15 million instructions, and what it does besides hashing is little."""
    whole = {"EL0 compress": 15_000_000, "EL0 stream": 800, "EL1 read": 290_000}
    after = whole | {"EL0 stream": 28_800, "EL1 read": 290_100}
    changes = function_changes(listed(whole), after)
    assert changes == [("EL0 stream", 28_800), (OTHERS, -800), ("EL1 read", 100)]
    parts = [
        CaseTrace("x", 0, (TracedSample(1, None),) * count, (Function("EL0", "a", "b"),), (node,))
        for node, count in (
            (Node(-1, 0, 10, 1), 3),
            (Node(-1, 0, 100, 1), 21),
            (Node(-1, 0, 5, 1), 3),
        )
    ]
    assert gate.added_up(parts) == {"EL0 b": 10 + 7 * 100 + 5}


class Boards:
    """Stands in for the exact board: each boot gives the next run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *runs: RunData) -> None:
        self.runs = list(runs)
        self.plans: list[Plan] = []
        self.traced: list[list[str]] = []
        self.held = 5200
        monkeypatch.setattr(gate, "_boot", self.boot)
        monkeypatch.setattr(gate, "made_by", lambda _file: BY)
        monkeypatch.setattr(gate, "traced", self.trace)

    def boot(self, file: BoardFile, own: TaCalls, folder: Path) -> RunData:
        self.plans.append(own.plan)
        return self.runs.pop(0)

    def trace(self, file: BoardFile, own: TaCalls, keys: list[str]) -> dict[str, list[CaseTrace]]:
        self.traced += [keys] if keys else []
        functions = Function("S-EL0", "TA", "compress"), Function("S-EL1", "core", "entry")
        nodes = Node(-1, 0, 9500, 1), Node(0, 1, 1000, 1)
        held = Held(1, self.held, (), (Stretch(self.held, 1, 1, 1),))
        sample = (TracedSample(10_500, None),)
        return {key: [CaseTrace(key, 10_500, sample, functions, nodes, held=held)] for key in keys}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "gate.toml"
    place.write_text(baselines.render(BASE))
    return place


def gated(
    file: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, dict[str, Any]]:
    status = cli.run(["gate", "--baseline", str(file), "--json", *words])
    return status, json.loads(capsys.readouterr().out)


def test_nothing_changed(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = Boards(monkeypatch, run())
    status, said = gated(file, capsys)
    assert (status, said["outcome"]) == (0, "pass")
    assert {case["verdict"] for case in said["cases"]} == {"same"}
    assert boards.traced == []


def test_what_got_dearer_is_measured_again_and_traced(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = Boards(monkeypatch, dearer(0.002), dearer(0.002))
    status, said = gated(file, capsys)
    assert (status, said["outcome"]) == (1, "fail")
    assert len(boards.plans) == 2
    assert boards.traced == [[CASE]]
    assert said["functions"] == {CASE: "compress (S-EL0) +500, entry (S-EL1) +200, others -200"}
    (change,) = said["changes"]
    assert (change["traced"], change["by"]) == (CASE, "+0.20\N{NARROW NO-BREAK SPACE}%")


@pytest.mark.parametrize(
    ("grown", "status"),
    [
        ((5200, "0%"), 0),
        ((5250, "0%"), 0),
        ((5400, "0%"), 1),
        ((5400, "5%"), 0),
        ((5400, "300i"), 0),
    ],
)
def test_a_stretch_with_interrupts_held_off_that_grows_fails(
    grown: tuple[int, str],
    status: int,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    held, limit = grown
    boards = Boards(monkeypatch, run())
    boards.held = held
    case, *_ = load_plan(BASE.plan).keys
    gone = {"call/0/ta/of-another-plan": 5200}  # Nothing says any more what that calls
    file.write_text(baselines.render(msgspec.structs.replace(BASE, held={case: 5200} | gone)))
    found, said = gated(file, capsys, "--fail-on", limit)
    assert (found, boards.traced) == (status, [[case]])
    assert said["outcome"] == ("fail" if status else "pass")
    assert said["held"] == ({case: [5200, held]} if status else {})
    assert {case["verdict"] for case in said["cases"]} == {"same"}


def test_the_verdict_stands_whatever_fails_while_functions_are_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = Boards(monkeypatch, dearer(0.002), dearer(0.002))

    def trace(_file: object, _own: object, keys: list[str]) -> dict[str, list[CaseTrace]]:
        if not keys:
            return {}
        raise ValueError("a window that nobody thought of")

    monkeypatch.setattr(gate, "traced", trace)
    assert cli.run(["gate", "--baseline", str(file), "--json"]) == 1
    out = capsys.readouterr()
    said = json.loads(out.out)
    assert (said["outcome"], said["functions"], boards.runs) == ("fail", {}, [])
    assert "no functions: a window that nobody thought of" in out.err


def test_what_all_calls_have_more_is_one_change_with_its_functions(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """60 instructions in each call into the TEE, within what boots differ by: every case that moved
    has the functions of the one that was traced."""
    records = EXACT.records()
    for record in records:
        secure = str(record.get("case")).split("/")[2:3] in (["tee"], ["ta-c"], ["ta-ce"])
        if record["type"] == "sample" and secure:
            record["ns"] = int(str(record["ns"])) + 60 * int(str(record["loops"]))
    more = run_from(records)
    empty = "invoke/none/tee/none"
    functions = {CASE: FUNCTIONS[CASE], empty: {"S-EL1 entry": 800, OTHERS: 200}}
    file.write_text(baselines.render(msgspec.structs.replace(BASE, functions=functions)))
    boards = Boards(monkeypatch, more, more)
    status, said = gated(file, capsys, "--fail-on", "0%")
    assert (status, said["outcome"]) == (1, "fail")
    (change,) = said["changes"]
    moved = {case["case"] for case in said["cases"] if case["verdict"] == "worse"}
    assert {name.split(" ")[0] for name in change["cases"]} == moved
    assert len(moved) > 10
    assert boards.traced == [[empty]]
    assert (change["traced"], change["by"]) == (empty, "+60.0 instructions a call")
    assert change["functions"].startswith("compress (S-EL0) +9500")


def test_a_limit_lets_small_ones_pass(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = Boards(monkeypatch, dearer(0.002))
    status, said = gated(file, capsys, "--fail-on", "0.5%")
    assert (status, said["outcome"]) == (0, "pass")
    assert "worse" in {case["verdict"] for case in said["cases"]}
    assert boards.traced == []


def test_one_boot_that_differs_is_no_regression(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Boards(monkeypatch, dearer(0.002), run())
    assert gated(file, capsys)[0] == 0


@pytest.mark.parametrize("second", ["cheaper", "scatters"])
def test_what_the_second_boot_does_not_call_dearer_is_no_regression(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], second: str
) -> None:
    """However far its figure is from the baseline's."""
    again, verdict = {
        "cheaper": (dearer(-0.01), "better"),
        "scatters": (scattering(CASE), "undecided"),
    }[second]
    Boards(monkeypatch, dearer(0.002), again)
    status, said = gated(file, capsys)
    assert status == 0
    (of_case,) = (one for one in said["cases"] if (one["case"], one["repeat"]) == (CASE, 1))
    assert of_case["verdict"] == verdict


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (0.002, 0.01, 0.002),
        (0.01, 0.002, 0.002),
        (0.01, 0.0, 0.0),
        (-0.01, 0.002, -0.01),
        (-0.01, 0.0, -0.01),
        (0.0, 0.01, 0.0),
    ],
)
def test_two_boots_say_what_both_bear_out(first: float, second: float, said: float) -> None:
    boots = (dearer(share) for share in (first, second))
    (one,) = (one for one in held_against(BASE, *boots).pairs if one.name == CASE)
    assert one.change == pytest.approx(said, abs=1e-4)


def test_a_case_that_is_gone_fails(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = run()
    Boards(
        monkeypatch,
        dataclasses.replace(whole, cases={k: v for k, v in whole.cases.items() if k != CASE}),
    )
    status, said = gated(file, capsys)
    assert (status, said["outcome"], said["gone"]) == (1, "fail", [CASE])


def scattering(word: str) -> RunData:
    """Samples of the cases with this word in their keys are up to 30 % apart, and longer."""
    records = EXACT.records()
    turns: dict[tuple[object, object], Iterator[float]] = {}
    for record in records:
        if record["type"] == "sample" and word in str(record["case"]):
            turn = turns.setdefault(
                (record["case"], record["repeat"]), itertools.cycle((1.2, 1.1, 0.9, 1.05, 1.15))
            )
            record["ns"] = round(int(str(record["ns"])) * next(turn))
    return run_from(records)


def test_what_waits_for_a_disk_is_not_judged(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an old baseline it is undecided; a new one leaves it out, and the gate says so."""
    boards = Boards(monkeypatch, scattering(CASE))
    status, said = gated(file, capsys)
    assert (status, said["scattered"], len(boards.plans)) == (0, [CASE], 1)
    verdicts = {case["case"]: case["verdict"] for case in said["cases"] if case["repeat"] == 1}
    assert verdicts.pop(CASE) == "undecided"
    assert set(verdicts.values()) == {"same"}
    for boots in ((scattering(CASE), run()), (run(), scattering(CASE))):
        Boards(monkeypatch, *boots)
        assert cli.run(["gate", "--baseline", str(file), "--update", "--no-functions"]) == 0
        assert CASE not in baselines.parse(file.read_text(), "f").figures
    capsys.readouterr()
    Boards(monkeypatch, scattering(CASE))
    assert cli.run(["gate", "--baseline", str(file)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"not judged, as where calls wait for a disk, or each makes another key: {CASE}" in shown
    assert "not in the baseline" not in shown


@pytest.mark.parametrize(
    "key", ["keygen/ecdsa-p256/tee/none", "keygen/rsa-2048/openssl/none"]
    + [f"pkcs11/keypair-{kind}/pkcs11/none" for kind in ("session", "token")],
)  # fmt: skip
def test_new_keys_are_never_gated_however_much_alike_they_are(key: str) -> None:
    """Ten times dearer, in samples that are all the same: a signature is worse, a new key isn't."""
    signing = "sign/ecdsa-p256/tee/none"
    before, after = (run_of({key: [ns] * 20, signing: [ns] * 20}, icount=True) for ns in (1e6, 1e7))
    assert set(baselines.figures_of(before)[0]) == {signing}
    old = Baseline("p", "b", BY, {key: 1e6, signing: 1e6})
    for found in (held_against(old, after), compare(before, after)):
        verdicts = {one.case: one.verdict for one in found.pairs}
        assert verdicts == {key: "undecided", signing: "worse"}
        assert not any(Limit(0.0).broken(one) for one in found.pairs if one.case == key)


def test_where_nothing_can_be_judged_the_gate_does_not_pass(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = scattering("/")
    Boards(monkeypatch, every)
    status, said = gated(file, capsys)
    assert {case["verdict"] for case in said["cases"]} == {"undecided"}
    assert (status, said["outcome"]) == (1, "fail")
    Boards(monkeypatch, every, every)
    before = file.read_text()
    assert cli.run(["gate", "--baseline", str(file), "--update"]) == 1
    assert "nothing to gate" in capsys.readouterr().err
    assert file.read_text() == before


def test_another_compiler_is_neither_red_nor_green(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = Boards(monkeypatch)
    monkeypatch.setattr(gate, "made_by", lambda _file: BY | {"compiler": "gcc 14"})
    status, said = gated(file, capsys)
    assert (status, said["outcome"]) == (1, "unknown")
    assert said["other_versions"] == {"compiler": {"baseline": "gcc 12", "here": "gcc 14"}}
    assert gated(file, capsys, "--skip-others")[0] == 0
    assert cli.run(["gate", "--baseline", str(file)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("UNKNOWN:")
    assert re.search("compiler +gcc 12 +gcc 14", shown)
    assert boards.plans == []


def test_text_and_markdown(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Boards(monkeypatch, dearer(0.01), dearer(0.01))
    assert cli.run(["gate", "--baseline", str(file)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("FAIL: ")
    assert f"{CASE}: compress (S-EL0) +500" in " ".join(shown.split())
    assert "Smallest change that would have been seen" in shown
    Boards(monkeypatch, dearer(0.01), dearer(0.01))
    assert cli.run(["gate", "--baseline", str(file), "-f", "markdown"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("## FAIL: ")
    assert "| case | baseline | now | change |" in shown


def test_update_writes_what_is_there_now(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Boards(monkeypatch, dearer(0.01), dearer(0.02))  # the smaller of two boots
    assert cli.run(["gate", "--baseline", str(file), "--update"]) == 0
    made = baselines.parse(file.read_text(), "f")
    assert made.figures == baselines.figures_of(dearer(0.01))[0]
    assert made.plan == "quick"
    assert set(made.functions) == set(made.figures)
    Boards(monkeypatch)  # no run: the boot breaks
    before = file.read_text()
    with pytest.raises(IndexError):
        cli.run(["gate", "--baseline", str(file), "--update"])
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--plan", "quick"), "belong to --update"),
        (("--update", "--board", "qemu-v8"), "doesn't count instructions"),
    ],
)
def test_mistakes(
    file: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert cli.run(["gate", "--baseline", str(file), *words]) == 2
    assert said in capsys.readouterr().err


def test_no_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["gate", "--baseline", str(tmp_path / "none")]) == 2
    assert "--update` makes it" in capsys.readouterr().err


def test_an_optee_of_ones_own_is_what_is_gated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is no part of the baseline; that of Debian's is."""
    monkeypatch.setattr(optee, "compiler", lambda: "gcc")
    packages = dict.fromkeys(("tf-a", "kernel", "libc", "optee-client", "openssl"), "1")
    monkeypatch.setattr(optee, "versions", lambda: packages | {"optee-os": "4.5"})
    board = config.find("qemu-v8-icount")
    own = dataclasses.replace(board, config=_with(board, optee="/somewhere"))
    assert optee.made_by(board)["optee"] == "4.5"
    assert "4.5" not in optee.made_by(own).values()


def _with(board: BoardFile, **changes: object) -> Any:
    return msgspec.structs.replace(board.config, **changes)


def test_help_and_docs_say_how_far_apart_boots_may_be() -> None:
    docs = (paths.root() / "docs/ci.md").read_text()
    for said in (command.help or "", docs):
        for share in (BOOTS, LIMIT, KERNEL_LIMIT):
            assert f"{100 * share:g} %" in said
