# SPDX-License-Identifier: BSD-2-Clause
"""The audit finds what is wrong with the published documents, by rules, and nothing in tables
that agree."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

import consistent
from synthetic import Synthetic
from teemark.audit import RULES, audit, audit_published, formats, published
from teemark.audit.arithmetic import IDENTITIES
from teemark.audit.figures import papers
from teemark.audit.words import number
from teemark.base import fmt
from teemark.cli import main as cli
from teemark.reference.data import Reference

HASH, SMALL, API = "rpi3-secure-hash", "rpi3-small-messages", "api-vs-custom"
MQTT, BEAGLE = "mqtt-tz-blocks", "beaglebone-hw-crypto"
RUNS = ("4.5MB cold", "4.5MB warm", "40MB", "100MB")


FOUND = {
    (HASH, "published-speed", "runs"): ("90.9 cycles a byte", "(inferred: the BCM2837"),
    (HASH, "console-line", "overhead-notes"): ("64 characters", "5.556 ms, 50 to 51 %"),
    (HASH, "baseline-not-measured", ""): ("no figure of it",),
    (HASH, "two-formulas", "single-shot"): ("−65.56 ms", "1.43 s"),  # noqa: RUF001
    (HASH, "mean-called-latency", "runs"): ("85043.71 us, of which 48.86 ms is hashing",),
    (HASH, "part-above-whole", "runs"): ("755.1 ms > 595306 us",),
    (HASH, "part-above-whole", "single-shot"): ("279 ms > 209445 us",),
    (HASH, "two-figures", "overhead-notes"): ("11.1 ms here, and 1.6 µs in “Secure Hash",),
    (HASH, "two-figures", "profile"): ("12.6 % here, and 0.1 %",),
    (HASH, "clock-step", "summary"): ("All 18 times", "± 2 ms, 50 %"),
    (HASH, "left-out", "runs"): ("7 counted, 8 in the log",),
    (SMALL, "published-speed", "metrics"): ("96 cycles", "and the board itself is inferred"),
    (SMALL, "no-time-to-map", "metrics"): ("6.554 ns for each of 244 pages",),
    (SMALL, "size-curve", "floor"): ("leaves 4 µs at most", "4.48 µs at least"),
    (SMALL, "two-figures", "metrics"): ("1.6 µs here, and 11.1 ms",),
    (API, "published-speed", "hash"): ("91.2 cycles a byte", "compiled C"),
    (API, "derived", "hash"): ("12.55 MiB/s is printed, but size ÷ hashing = 12.27 MB/s",),
    (API, "two-figures", "overhead"): ("is 12.52 ms here, and 1.6 µs",),
    (API, "few-runs", "hash"): ("rest on 1 run of each. Below 6",),
    (MQTT, "part-above-whole", "aes-steps"): ("2.497050 ms > 2.013820 ms, 12 standard errors",),
    (MQTT, "pasted-rows", "aes-steps"): ("ENCRYPT set_iv (All) = DECRYPT prepare_aes (Inv)",),
    (MQTT, "impossible-unit", "aes"): ("44 standard deviations", "1.334 ms"),
    (MQTT, "deviation-above-mean", "aes"): ("as one of 100 at 4.06 ms",),
    (MQTT, "deviation-above-mean", "storage"): ("create, NS avg",),
    (BEAGLE, "published-speed", "openssl-speed"): ("37.6 cycles a byte: called hardware",),
    (BEAGLE, "published-speed", "comparison"): ("133 cycles a byte, and the slowest",),
    (BEAGLE, "above-peak", "analysis"): ("14.6 MB/s, and ~19.6 MB/s",),
    (BEAGLE, "baseline-not-measured", "comparison"): ("~5 to 10 MB/s (SHA-256)",),
    (BEAGLE, "openssl-route", ""): ("devcrypto",),
    (BEAGLE, "error-cause", ""): ("EPROTONOSUPPORT",),
    (BEAGLE, "mixed-units", "throughput"): ("147696 KB/s is 147.696 MB/s or 140.85 MiB/s",),
    (BEAGLE, "few-runs", "file-operations"): ("differ by 20 %", "(inferred: one time"),
}
"""By document, rule and table: all there is, and what the evidence says."""


@pytest.mark.parametrize("document", [HASH, SMALL, API, MQTT, BEAGLE])
def test_what_is_wrong_with_the_published_documents(reference: Reference, document: str) -> None:
    findings = audit_published(reference, document)
    places = {(one.file, one.rule, one.table) for one in findings}
    assert places == {place for place in FOUND if place[0] == document}
    for place in places:
        said = [one.evidence for one in findings if (one.file, one.rule, one.table) == place]
        for words in FOUND[place]:
            assert any(words in evidence for evidence in said), (place, words, said)
    assert all(one.evidence.endswith(".") for one in findings)


def runs(row: str, *values: str) -> str:
    """Of the four logs: one value for all, or one each."""
    each = values if len(values) > 1 else values * 4
    return "\n".join(f"{HASH}/runs/{row}/{run} = {v}" for run, v in zip(RUNS, each, strict=True))


OVERHEAD = f"{SMALL}/metrics/Overhead per operation/Value = "
AGREE = {
    (HASH, "mean-called-latency", "runs"): runs("Average IPC latency", "11000.00"),
    (HASH, "part-above-whole", "runs"): runs(
        "TEE Time Delta", "343000", "341000", "3250000", "8129000"
    ),
    (HASH, "clock-step", "summary"): runs("Hash Compute Time", "340123"),
    (HASH, "left-out", "runs"): runs("RPC Count", "2")
    + "\n"
    + runs("Commands in the log", "7", "7", "43", "105"),
    (HASH, "two-formulas", "single-shot"): f"{HASH}/single-shot/Total Execution Time/Medium File"
    " = 279001",
    (HASH, "two-figures", "overhead-notes"): OVERHEAD
    + f"11100\n{SMALL}/metrics/Context Switch Overhead/Value = 11100",
    (SMALL, "no-time-to-map", "metrics"): OVERHEAD
    + f"400\n{SMALL}/metrics/Context Switch Overhead/Value = 400",
    (SMALL, "size-curve", "floor"): f"{SMALL}/scalability/Time per byte/value = 0.05",
    (API, "derived", "hash"): f"{API}/setup/File size/value = 42.9",
    (API, "few-runs", "hash"): f"{API}/setup/Runs of each implementation/value = 30",
    (BEAGLE, "above-peak", "analysis"): f"{BEAGLE}/analysis/AES-128-CBC peak/Throughput = 24.0",
    (BEAGLE, "mixed-units", "throughput"): f"""{BEAGLE}/throughput/SHA-1/Throughput (MB/s) = 147.7
        {BEAGLE}/throughput/SHA-256/Throughput (MB/s) = 26.6
        {BEAGLE}/throughput/AES-128-CBC/Throughput (MB/s) = 15.0""",
    (BEAGLE, "published-speed", "openssl-speed"): "\n".join(
        f"{BEAGLE}/openssl-speed/{row}/16384 bytes = 400000"
        for row in ("SHA-1", "SHA-256", "AES-128")
    ),
    (MQTT, "pasted-rows", "aes-steps"): "\n".join(
        f"{MQTT}/aes-steps/ENCRYPT {step} (All)/aes128 avg = 1.9"
        for step in ("set_iv", "set_key", "cipher_buffer")
    ),
    (MQTT, "part-above-whole", "aes-steps"): "\n".join(
        f"{MQTT}/aes-steps/ENCRYPT {step} (All)/{bits} avg = 3.2"
        for step in ("set_key", "cipher_buffer")
        for bits in ("aes128", "aes256")
    ),
}
"""What would have to be published for a rule to say nothing there."""

CHANGE = re.compile(r"([\w-]+)/([\w-]+)/(.+)/(.+?) = (\S+)")


@pytest.mark.parametrize("place", AGREE)
def test_a_rule_is_silent_on_figures_that_agree(
    reference: Reference, place: tuple[str, str, str]
) -> None:
    altered = reference
    for *key, value in CHANGE.findall(AGREE[place].replace("(MB/s)", "(MB:s)")):
        document, table, row, column = (part.replace("MB:s", "MB/s") for part in key)
        altered = altered.changed((document, table, row, column), value)
    assert place in FOUND
    assert place[1:] not in {(one.rule, one.table) for one in audit_published(altered, place[0])}


def test_derived_figures_are_recomputed(reference: Reference) -> None:
    """Of figures that may follow from others, one three times too large is found but where the
    document prints too little to recompute it."""
    wanted = {quantity for quantity, _ in IDENTITIES} | {"factor"}
    asked = found = 0
    for document in reference.documents:
        before = audit_published(reference, document)
        for figure in papers(published.sheet(reference, document)).figures:
            if figure.quantity in wanted:
                key = (document, figure.cell.table, figure.cell.row, figure.cell.column)
                printed = reference.get(*key)
                wrong = (printed.upper or printed.number) * 3 + 1
                after = audit_published(reference.changed(key, str(wrong)), document)
                new = [one for one in after if one not in before and figure.name in one.evidence]
                asked += 1
                found += bool(new)
    assert asked > 100
    assert found >= 0.8 * asked


@pytest.mark.parametrize("maker", consistent.MAKERS)
def test_tables_that_agree_give_no_alarm(reference: Reference, maker: object) -> None:
    """25 of each of 10 kinds: at most one in a hundred may have a finding."""
    assert callable(maker)
    texts = [maker(Random(seed)) for seed in range(25)]
    alarms = [
        finding for text in texts for finding in audit([formats.read(text, "made up")], reference)
    ]
    assert alarms == []


DERIVED = {
    "openssl": r"(?m)^sha\S+ .* (\d+\.\d+)k$",
    "xtest": r"\((\d+\.\d+)MiB/s",
    "tcrypt": r"(\d+) bytes/sec",
    "kcapi": r"(\d+)\.\d+ [kM]B/s",
    "report": r"Utilization: (\d+\.\d+)%",
    "scaling": r"(\d+\.\d+)x",
    "comparison": r"(\d+\.\d+)x",
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_wrong_figure_among_right_ones_is_found(reference: Reference, name: str) -> None:
    maker = next(one for one in consistent.MAKERS if one.__name__ == name)
    tried = 0
    for seed in range(20):
        text = maker(Random(seed))
        place = re.search(DERIVED[name], text)
        if place is None:
            continue
        wrong = f"{float(place[1]) * 1.5:.2f}" if "." in place[1] else str(int(place[1]) * 2)
        altered = text[: place.start(1)] + wrong + text[place.end(1) :]
        findings = audit([formats.read(altered, name)], reference)
        assert {"derived", "factor"} & {one.rule for one in findings}, altered
        tried += 1
    assert tried >= 10


SAID = {
    "published-speed": "SHA-256 on a Cortex-A53 at 1.2 GHz\n\nThroughput: 900 MB/s\n",
    "cpu-time": "Doing sha256 ops for 3s on 64 size blocks: 99 sha256 ops in 0.20s\n",
    "impossible-unit": "| op | throughput (ms) |\n|---|---|\n| a | 5.0 |\n",
    "two-figures": "# A\n| f | Total Time |\n|---|---|\n| one | 5.0 s |\n\n# Conclusions\n"
    "| f | Total Time |\n|---|---|\n| one | 9.0 s |\n",
    "size-curve": "type  16 bytes  64 bytes\nsha256  10.00k  500.00k\n",
    "openssl-route": "OpenSSL is using OMAP hardware accelerators.\nTime: 3 s\n",
}


@pytest.mark.parametrize("rule", SAID)
def test_rules_that_no_document_or_another_one_shows(reference: Reference, rule: str) -> None:
    findings = audit([formats.read(SAID[rule], "f")], reference)
    assert [one.rule for one in findings] == [rule]
    assert findings[0].line > 0


def test_a_program_that_ran_twice_is_no_contradiction(reference: Reference) -> None:
    for maker in (consistent.openssl, consistent.tcrypt, consistent.xtest):
        text = "\n".join(maker(Random(seed)) for seed in (3, 4, 5))
        assert audit([formats.read(text, "f")], reference) == ()


def test_a_report_of_ours_gives_no_alarm(reference: Reference, tmp_path: Path) -> None:
    """Many tables with the same headings, of different things."""
    Synthetic().write(tmp_path)
    assert cli.run(["report", str(tmp_path), "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    sheet = formats.read(text, "f")
    assert len(sheet.cells) > 200
    assert audit([sheet], reference) == ()


def test_an_emulator_is_not_held_to_its_core(reference: Reference) -> None:
    text = SAID["published-speed"] + "Run in QEMU.\n"
    assert audit([formats.read(text, "f")], reference) == ()


def test_what_the_caller_knows_comes_first(reference: Reference) -> None:
    sheet = formats.read("SHA-256\n\nThroughput: 900 MB/s\n", "f")
    assert audit([sheet], reference) == ()
    (finding,) = audit([sheet], reference, "cortex-a53", 1.2e9)
    assert finding.rule == "published-speed"
    assert "inferred" not in finding.evidence


def test_sources_of_bounds_can_be_looked_up(reference: Reference) -> None:
    said = [one.source for one in reference.constants.values()]
    said += [f"{one.source} {one.note}" for one in reference.cycles]
    said += [f"{one.source} {one.note}" for one in reference.rates]
    assert all(said)
    assert not [text for text in said if "secondary" in text]


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (85043.71, "85'044"),
        (11.6186, "11.62"),
        (0.07589, "0.07589"),
        (-65556, "−65'556"),  # noqa: RUF001
        (1.5, "1.5"),
        (9.9999, "10"),
        (0.00012, "1.2'×'10⁻⁴"),  # noqa: RUF001
    ],
)
def test_numbers_are_written(value: float, text: str) -> None:
    assert number(value).replace(fmt.THIN, "'") == text
