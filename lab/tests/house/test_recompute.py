# SPDX-License-Identifier: BSD-2-Clause
"""A report computed again by code that shares nothing with ours agrees, and a wrong one doesn't."""

import ast
import re
from pathlib import Path

import pytest

import recompute
from synthetic import Synthetic
from teemark.reference.data import load
from teemark.report import run_page
from teemark.studies import declared
from teemark.studies.answers import mistaken


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a counted run with its report."""
    folder = tmp_path_factory.mktemp("recompute")
    synthetic = Synthetic(identical=True)
    synthetic.write(folder)
    (folder / "report.md").write_text(run_page.make([synthetic.run()]).markdown)
    return folder


def untrue(folder: Path, text: str) -> list[str]:
    return recompute.check(recompute.read(folder / "run.ndjson"), text).untrue


def test_it_stays_smaller_than_a_second_report() -> None:
    assert len(Path(recompute.__file__).read_text().splitlines()) <= 915


def test_it_shares_nothing_with_what_it_checks() -> None:
    tree = ast.parse(Path(recompute.__file__).read_text())
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in (*names, *modules) if name.startswith("teemark")]


def test_a_report_as_it_is_holds(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recompute.main([str(made)]) == 0
    checked = int(re.search(r"(\d+) figures computed again, 0 untrue", capsys.readouterr().out)[1])  # type: ignore[index]
    assert checked > 300


@pytest.mark.parametrize(
    "place",
    [
        r"A call into the TEE costs (\d\S*)",
        r"\*\*(\d+) cases",
        r"with \*\*(\d+) samples",
        r"\n\| 4 KiB \| (\d\S*)",
        r"\n\| TEE API \(`tee`\) \| 64 B \| (\d\S*)",
        r"\n\| TEE API \(`tee`\) \| (\d\S*)",
        r"the call\*\* \| \*\*(\d+)",
        r"SHA-256 inside takes (\d\S*)",
        r"at \S+ \S+ it takes ([\d.]+) % less than",
    ],
)
def test_one_figure_that_is_off_is_seen(made: Path, place: str) -> None:
    text = (made / "report.md").read_text()
    found = re.search(place.replace(" ", "[ \u00a0\u202f\u2009]"), text)
    assert found, place
    digits = found[1].translate(str.maketrans("123456789", "234567891"))
    changed = text[: found.start(1)] + digits + text[found.end(1) :]
    assert len(untrue(made, changed)) > len(untrue(made, text)) == 0


def test_what_a_document_says_against_itself_follows_from_the_figures_in_the_sentence() -> None:
    """It printed “a floor of 65 µs: 41.2 x as much”: that is 66, the middle of 65 to 67."""
    wrong = "called constant at 1.6 µs beside a floor of 65 µs for any operation: 41.2 x as much."
    assert recompute.check(recompute.Run(), wrong).untrue
    said = []
    for name in declared.SEED_PLANS:
        for mistake in mistaken(load(), name):
            out = recompute.check(recompute.Run(), mistake.claim)
            assert out.untrue == []
            said += [mistake.key] * out.checked
    assert {"constant-beside-a-floor", "cured-at-half"} <= set(said)


@pytest.mark.parametrize("figure", ["5.79 %", "5.78 %", "57.9 %", "9 %"])
def test_a_documents_own_figures_are_held_against_those_that_were_typed(figure: str) -> None:
    """recompute sees a wrong figure of a document, which it missed in two of 72 planted errors."""
    run, rows = recompute.Run(plan="api-vs-custom"), list[dict[str, str]]()
    rows.append({"metric": "Total Overhead", "TEE Internal API": "0.8 %", "published": figure})
    out = recompute.Verdict()
    assert recompute.printed(run, "Overhead (beside this run)", rows, out)
    assert (out.checked, len(out.untrue)) == (1, int(figure != "5.79 %"))
    claim = "the way into the TEE is not the bottleneck: less than a tenth of the time"
    said = {"the document says": claim, "figure or limit": figure, "here": "-", "holds?": "yes"}
    out = recompute.Verdict()
    assert recompute.answered(run, "", [said], out)
    assert (out.checked, len(out.untrue)) == (1, int(figure != "5.79 %"))


def test_a_number_of_runs_has_no_unit() -> None:
    """“Runs: 10” in the row of a file of 10 MB was held to be 10 bytes."""
    samples = {"file/sha256/openssl/10000000": [(1, 1.0)] * 10}
    run = recompute.Run(samples, plan="beaglebone-hw-crypto")
    out = recompute.Verdict()
    row = {"metric": "File", "Size": "", "Runs": "10"}
    recompute.document(run, "The file, and data integrity", [row], out)
    assert (out.checked, out.untrue) == (1, [])
