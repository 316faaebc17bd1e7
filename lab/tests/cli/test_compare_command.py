# SPDX-License-Identifier: BSD-2-Clause
"""`teemark compare`: what it says, when it fails, and what it refuses."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synthetic import TRUTH, Synthetic
from synthetic import write as write_run
from teemark.cli import main as cli
from teemark.findings.subject import subjects
from teemark.model.changes import changes
from teemark.model.compare import compare
from teemark.report import comparing
from teemark.report.comparing import amount, compared, subject
from teemark.run import reader
from teemark.trace import store
from teemark.trace.profile import CaseTrace, Function, Node, Trace, TracedSample
from teemark.wording import fmt

EXACT = Synthetic(noise=0, identical=True, samples=5, algorithms=("sha256",))
SAMPLED = Synthetic(algorithms=("sha256",), samples=6, noise=0.01, starts=8, emulated=False)
ONCE = dataclasses.replace(SAMPLED, starts=1)
STEP = "teehash/sha256/tee/pipelined/warm/1048576/65536/read"
DEARER_BYTE = {**TRUTH, ("sha256", "ta-c"): (407_000, 16.3)}
DEARER_CALL = {
    key: (call + 6000 * key[1].startswith("t"), byte) for key, (call, byte) in TRUTH.items()
}


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., str]:
    """Write a run; `head` changes its first record."""

    def write(
        name: str, made: Synthetic, cut: bool = False, teehash: int = 0, **head: object
    ) -> str:
        records = made.records()
        records[0] |= head
        report = {"files": [{"total_ns": 2_000_000}]}
        records[-1:-1] = [
            {"type": "teehash", "case": STEP, "seq": n, "argv": ["teehash"], "report": report}
            for n in range(teehash)
        ]
        return str(write_run(records[: -1 if cut else None], tmp_path / name).parent)

    return write


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = cli.run(["compare", *words, "--json"])
    (found,) = json.loads(capsys.readouterr().out)["comparisons"]
    return status, found


def test_two_exact_runs_of_one_build_are_the_same(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = run_json(capsys, put("a", EXACT), put("b", EXACT), "--fail-on", "0.2%")
    assert status == 0
    assert {case["verdict"] for case in found["cases"]} == {"same"}
    assert all(case["p"] is None for case in found["cases"])
    assert found["failures"] == found["changes"] == []
    assert found["verdict"] == "same"


def test_one_instruction_a_byte_is_caught_and_explained(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = (put("a", EXACT), put("b", dataclasses.replace(EXACT, truth=DEARER_BYTE)))
    status, found = run_json(capsys, *words, "--fail-on", "0.2%")
    assert status == 1
    worse = {case["case"] for case in found["cases"] if case["verdict"] == "worse"}
    assert worse
    assert all(case.startswith("oneshot/sha256/ta-c/") for case in worse)
    assert "oneshot/sha256/ta-c/1048576" in worse
    assert found["cases"][0]["case"] == "oneshot/sha256/ta-c/1048576"  # the worst first
    assert found["cases"][0]["difference"] == pytest.approx(1 << 20, rel=0.001)
    (change,) = found["changes"]
    assert change["by"] == "+1.00 instructions a byte"
    assert change["what"].endswith("SHA-256 cases by ta-c")
    assert change["worse"]
    assert run_json(capsys, *words, "--fail-on", "2000000i")[0] == 0
    assert run_json(capsys, *words, "--fail-on", "1000000i")[0] == 1
    assert run_json(capsys, *reversed(words), "--fail-on", "0.2%")[0] == 0  # it became better


def test_a_dearer_call_is_told_from_a_dearer_byte() -> None:
    """6000 more in each hash by the TEE, but not in an empty call; whatever the size."""
    found = compare(EXACT.run(), dataclasses.replace(EXACT, truth=DEARER_CALL).run())
    (change,) = changes(found)
    assert {family[2] for family in change.families} == {"tee", "ta-c", "ta-ce"}
    assert change.call == pytest.approx(6000, abs=20)
    assert change.byte is None
    assert amount(found.second, change) == "+6000 instructions a call"


def test_both_terms_of_a_line_are_named() -> None:
    call, byte = TRUTH["sha256", "ta-c"]
    truth = {**TRUTH, ("sha256", "ta-c"): (call + 4000, byte + 2)}
    found = compare(EXACT.run(), dataclasses.replace(EXACT, truth=truth).run())
    (change,) = changes(found)
    assert change.byte == pytest.approx(2, rel=0.01)
    assert change.call == pytest.approx(4000 + 2 * 128, rel=0.05)  # with the padding


def test_changes_that_are_alike_are_one() -> None:
    truth = {key: (call, byte + (key[1] in ("c", "ta-c"))) for key, (call, byte) in TRUTH.items()}
    made = dataclasses.replace(EXACT, algorithms=("sha1", "sha256"))
    found = compare(made.run(), dataclasses.replace(made, truth=truth).run())
    (change,) = changes(found)
    assert {family[1:] for family in change.families} == {
        (algorithm, backend) for algorithm in ("sha1", "sha256") for backend in ("ta-c", "c")
    }
    assert subject(found.second, change).endswith("SHA-1 and SHA-256 cases by c and ta-c")


@pytest.mark.parametrize("factor", [1.0, 1.0004, 1.02])
def test_no_figure_is_said_to_become_itself(factor: float) -> None:
    """A case that moved has the digits that tell its figures apart; one that didn't has no change
    in per cent."""
    made = EXACT
    truth = {key: (factor * call, factor * byte) for key, (call, byte) in TRUTH.items()}
    of = compared(*subjects([made.run(), dataclasses.replace(made, truth=truth).run()]))
    assert of.comparison.of("worse") or factor == 1
    for one in of.comparison.pairs:
        figures = comparing.both(of, one)
        assert figures[0] != figures[1] or not one.moved
        assert "%" not in comparing.change(one) or one.moved


def test_sampled_runs(put: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    base = put("a", SAMPLED)
    truth = {**TRUTH, ("sha256", "ta-c"): (407_000 * 1.2, 15.3 * 1.2)}
    new = put("b", dataclasses.replace(SAMPLED, seed=2, truth=truth))
    status, found = run_json(capsys, base, new, "--fail-on", "5%")
    assert status == 1
    worse = [case for case in found["cases"] if case["verdict"] == "worse"]
    assert len(worse) == 9  # six sizes, three of them again with repeats
    assert {case["case"].rpartition("/")[0] for case in worse} == {"oneshot/sha256/ta-c"}
    for case in worse:
        assert case["ratio_low"] < 1.2 < case["ratio_high"]
        assert case["p"] < 0.001
        assert 0 < case["visible"] < 0.1
    assert run_json(capsys, base, new, "--fail-on", "20%")[0] == 0
    assert cli.run(["compare", base, new, "--fail-on", "100i"]) == 2
    assert "don't count instructions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [({}, "--rounds 8"), ({"starts": 8, "emulated": True}, "qemu-v8-icount")],
)
def test_a_limit_that_could_never_fail_is_refused(
    put: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    words: str,
) -> None:
    made = dataclasses.replace(ONCE, **change)
    runs = (put("a", made), put("b", dataclasses.replace(made, seed=2)))
    assert cli.run(["compare", *runs]) == 0
    capsys.readouterr()
    assert cli.run(["compare", *runs, "--fail-on", "5%"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--fail-on could never fail: " in said
    assert words in said


SLOWER = {key: (1.5 * call, 1.5 * byte) for key, (call, byte) in TRUTH.items()}


@pytest.mark.parametrize(("starts", "status"), [(2, 2), (3, 2), (4, 1)])
def test_a_limit_takes_four_starts(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str], starts: int, status: int
) -> None:
    """No PASS where each case takes half as long again."""
    made = dataclasses.replace(SAMPLED, starts=starts)
    runs = (put("a", made), put("b", dataclasses.replace(made, seed=2, truth=SLOWER)))
    assert cli.run(["compare", *runs, "--fail-on", "5%"]) == status
    said = capsys.readouterr()
    assert ("FAIL: " in said.out) == (status == 1)
    assert "PASS" not in said.out
    error = " ".join(said.err.split())
    assert ("--fail-on could never fail: fewer than 4 starts" in error) == (status == 2)
    assert ("--rounds 8`" in error) == (status == 2)


@pytest.mark.parametrize(("starts", "named"), [(1, "invoke/none"), (8, STEP)])
def test_each_case_that_a_limit_is_about_must_be_able_to_break_it(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str], starts: int, named: str
) -> None:
    """Runs of teehash count as starts, of its steps alone."""
    made = dataclasses.replace(SAMPLED, starts=starts)
    runs = (put("a", made, teehash=9 - starts), put("b", made, teehash=9 - starts))
    assert cli.run(["compare", *runs, "--fail-on", "5%"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert f"--fail-on could never fail for {named}" in error
    assert "fewer than 4 starts" in error


def test_a_pass_says_what_it_could_have_seen(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = dataclasses.replace(SAMPLED, between=0.05)
    runs = (put("a", made), put("b", dataclasses.replace(made, seed=7)))
    assert cli.run(["compare", *runs, "--fail-on", "5%"]) == 0
    shown = " ".join(capsys.readouterr().out.replace(fmt.THIN, " ").split())
    assert "PASS: no case is known to be worse by 5 % or more; of 44, 44 may be." in shown
    assert "more would have been called worse in 80 of 100 such pairs of runs" in shown
    assert "to be known to be worse by 5 % or more, it must take " in shown


def test_a_limit_on_exact_cases_that_all_scatter_is_refused(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = dataclasses.replace(EXACT, noise=0.05, identical=False, samples=30)
    runs = (put("a", made, icount=True), put("b", dataclasses.replace(made, seed=2), icount=True))
    assert cli.run(["compare", *runs, "--fail-on", "5%"]) == 2
    assert "every case scatter" in " ".join(capsys.readouterr().err.split())


def test_starts_are_the_samples_where_there_are_several(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Samples of each start agree, and starts are 5 % apart: nothing is known to differ."""
    made = dataclasses.replace(SAMPLED, samples=30, noise=0.001, starts=5, between=0.05)
    words = (put("a", made), put("b", dataclasses.replace(made, seed=7)))
    _, found = run_json(capsys, *words)
    assert found["starts"] == 5
    assert {case["verdict"] for case in found["cases"]} == {"undecided"}
    assert {case["starts"] for case in found["cases"]} == {5}


@pytest.mark.parametrize(
    ("change", "words", "remedy"),
    [
        (
            {"emulated": False},
            "BASE is a run of an emulated board and NEW one of hardware: an emulator's times",
            "measure both on one board; or",
        ),
        ({"icount": False}, "BASE is measured in instructions and NEW in time", "on one board; or"),
        ({"plan": "full"}, "plan quick and NEW one of plan full", "measure both with one plan; or"),
        ({"cut": True}, "is truncated: cut off", "run.ndjson again; or"),
    ],
)
def test_what_is_refused(
    put: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    words: str,
    remedy: str,
) -> None:
    runs = (put("a", EXACT), put("b", EXACT, **change))
    assert cli.run(["compare", *runs]) == 1
    complaint = capsys.readouterr()
    assert words in " ".join(complaint.err.split())
    assert f"{remedy} compare all the same, with --force" in " ".join(complaint.err.split())
    assert complaint.out == ""
    assert cli.run(["compare", *runs, "--force"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Compared by force" in said
    assert words in said


def test_a_case_that_is_gone_fails(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    less = dataclasses.replace(EXACT, truth={**TRUTH})
    del less.truth["sha256", "ta-c"]
    runs = (put("a", EXACT), put("b", less))
    status, found = run_json(capsys, *runs, "--fail-on", "5%")
    assert status == 1
    assert "oneshot/sha256/ta-c/64: not measured any more" in found["failures"]
    assert cli.run(["compare", *runs]) == 0
    assert cli.run(["compare", *reversed(runs), "--fail-on", "5%"]) == 0  # it is new


def test_nothing_in_common(put: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    other = dataclasses.replace(EXACT, algorithms=("sha1",))
    runs = [Path(put(name, made)) for name, made in (("a", EXACT), ("b", other))]
    for folder in runs:
        kept = [
            line
            for line in (folder / "run.ndjson").read_text().splitlines(keepends=True)
            if '"invoke/none' not in line
        ]
        (folder / "run.ndjson").write_text("".join(kept))
    assert cli.run(["compare", *map(str, runs)]) == 1
    assert "no case in common" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--fail-on", "5"), ("--fail-on", "-1%"), ("--format", "pdf"), ()]
)
def test_mistakes(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    runs = (put("a", EXACT), put("b", EXACT)) if words else (put("a", EXACT),)
    assert cli.run(["compare", *runs, *words]) == 2
    assert capsys.readouterr().out == ""


def test_terminal_and_pages(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    runs = (put("a", EXACT), put("b", dataclasses.replace(EXACT, truth=DEARER_BYTE)))
    assert cli.run(["compare", *runs, "--fail-on", "1%"]) == 1
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines() if str(tmp_path) not in line)
    assert "oneshot/sha256/ta-c/1048576" in shown
    assert "oneshot/sha256/tee/64" not in shown  # is the same
    assert "FAIL: " in shown
    page = tmp_path / "page"
    for form, mark in (("markdown", "| `oneshot/sha256/ta-c/1048576` |"), ("html", "<table")):
        assert cli.run(["compare", *runs, "--fail-on", "1%", "-f", form, "-o", str(page)]) == 1
        text = page.read_text()
        assert mark in text
        assert "FAIL: " in text
        assert "instructions a byte" in text
    assert capsys.readouterr().out == ""


def test_traces_say_which_function(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    functions = (Function("EL0", "program", "main"), Function("S-EL0", "TA", "compress"))

    def trace(own: int) -> Trace:
        nodes = (Node(-1, 0, 100, 1), Node(0, 1, own, 1))
        case = CaseTrace(
            "oneshot/sha256/ta-c/64", 100 + own, (TracedSample(1, 1),), functions, nodes
        )
        return Trace(1, "OP-TEE", (case,))

    folders = [Path(put(name, EXACT)) for name in ("a", "b")]
    for folder, own in zip(folders, (1000, 1016), strict=True):
        store.write(trace(own), folder)
    about = subjects(
        [reader.read(folder) for folder in folders], [store.find(folder) for folder in folders]
    )
    assert compared(*about).functions == {"oneshot/sha256/ta-c/64": "compress (S-EL0) +16"}
    assert cli.run(["compare", *map(str, folders)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "oneshot/sha256/ta-c/64 as traced: compress (S-EL0) +16." in said


def test_runs_are_named_by_commit_and_labels(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    heads = [
        {"commit": {"hash": digit * 40, "branch": "main", "dirty": digit == "b"}} for digit in "ab"
    ]
    runs = (
        put("a", EXACT, **heads[0]),
        put("b", dataclasses.replace(EXACT, truth=DEARER_BYTE), labels={"cc": "gcc"}, **heads[1]),
    )
    page = tmp_path / "page.html"
    assert cli.run(["compare", *runs, "-f", "html", "-o", str(page)]) == 0
    assert cli.run(["compare", *runs]) == 0
    for text in (capsys.readouterr().out, page.read_text()):
        said = " ".join(text.split())
        assert "aaaaaaa → bbbbbbb + changes" in said
        assert "label cc: none → gcc" in said
        assert said.index("▲ WORSE") < said.index("+1.00 instructions a byte")
    assert run_json(capsys, *runs)[1]["new_origin"]["changes"] == "yes"


def test_improvements_are_as_visible_as_regressions(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    truth = {
        key: (call, byte + {"ta-c": 1, "c": -1}.get(key[1], 0))
        for key, (call, byte) in TRUTH.items()
    }
    cli.run(["compare", put("a", EXACT), put("b", dataclasses.replace(EXACT, truth=truth))])
    shown = capsys.readouterr().out
    assert "WORSE AND BETTER" in shown
    assert shown.count("▲ worse") == shown.count("▼ better") == 5


def test_what_else_differs_is_said(
    put: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Another build of OP-TEE, another kernel: the code isn't all that changed."""
    folders = [Path(put(name, EXACT)) for name in "ab"]
    file = folders[1] / "run.ndjson"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        if record["type"] == "machine":
            record["tee"] = {"revision": "4.10"}
            record["kernel"] = {**record.get("kernel", {}), "release": "7.2"}
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert cli.run(["compare", *map(str, folders)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not only the code may differ: OP-TEE: " in said
    assert "→ 4.10; kernel: " in said
