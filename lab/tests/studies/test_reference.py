# SPDX-License-Identifier: BSD-2-Clause
"""The published figures: complete, and read strictly."""

from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teemark.base import paths
from teemark.base.errors import DataError
from teemark.reference import data
from teemark.reference.data import Document, Reference
from teemark.reference.span import Span, exact, printed

DOCUMENT = Document("d", "Title", "2025", "a board", "")
HEADER = ",".join(one.encode_name for one in msgspec.structs.fields(data.Published))
GOOD = "d,table 1,t,r,c,=,12.50,,ms,12.50,,ms,"


# (document, table): rows x columns that the document has
TABLES = {
    ("rpi3-secure-hash", "large-files"): (6, 3),
    ("rpi3-secure-hash", "medium-files"): (3, 3),
    ("rpi3-secure-hash", "single-shot"): (5, 1),
    ("rpi3-secure-hash", "method-comparison"): (4, 2),
    ("mqtt-tz-blocks", "aes"): (4, 4),
    ("mqtt-tz-blocks", "aes-steps"): (15, 4),
    ("mqtt-tz-blocks", "storage"): (3, 4),
    ("beaglebone-hw-crypto", "openssl-speed"): (3, 6),
    ("beaglebone-hw-crypto", "throughput"): (3, 2),
    ("beaglebone-hw-crypto", "comparison"): (3, 3),
}


@pytest.mark.parametrize(("document", "table"), TABLES)
def test_every_cell_of_a_table_is_there(reference: Reference, document: str, table: str) -> None:
    figures = reference.table(document, table)
    rows = {figure.row for figure in figures}
    columns = {figure.column for figure in figures}
    assert (len(rows), len(columns)) == TABLES[document, table]
    assert len(figures) == len(rows) * len(columns)


def test_every_run_of_the_logs_has_every_line_of_its_report(reference: Reference) -> None:
    figures = reference.table("rpi3-secure-hash", "runs")
    runs = {figure.column for figure in figures}
    assert runs == {"4.5MB cold", "4.5MB warm", "40MB", "100MB"}
    rows = {figure.row for figure in figures}
    assert len(figures) == len(runs) * len(rows)
    assert {"Total Time", "Hash Compute Time", "Average IPC latency", "Memory Peak"} <= rows


def test_documents_have_figures_and_sources(reference: Reference) -> None:
    assert {document for document, _ in TABLES} <= set(reference.documents)
    assert len(reference.documents) >= 5
    for document in reference.documents.values():
        assert document.title in document.source
        assert document.date in document.source
        assert any(figure.document is document for figure in reference.figures.values())
    assert all(figure.place for figure in reference.figures.values())


def test_no_mirror_or_path_is_in_the_data() -> None:
    for file in paths.reference().glob("*.csv"):
        text = file.read_text(encoding="utf-8")
        assert str(paths.root()) not in text
        assert "http" not in text


def test_units_are_corrected(reference: Reference) -> None:
    deviation = reference.get("mqtt-tz-blocks", "aes", "encrypt_secure", "aes128 stdev")
    assert (deviation.published, deviation.put_right) == ("1.778416 ms^2", "1.778416 ms")
    speed = reference.get("beaglebone-hw-crypto", "openssl-speed", "SHA-1", "16384 bytes")
    assert speed.base.mid == 147_696_000
    summary = reference.get("beaglebone-hw-crypto", "throughput", "SHA-1", "Throughput (MB/s)")
    assert (summary.published, summary.put_right) == ("144.2 MB/s", "147.696 MB/s")
    overhead = reference.get("rpi3-secure-hash", "overhead", "All", "Average per Call")
    assert overhead.published == "11.1 to 11.6 ms"
    assert not overhead.was_corrected


def test_the_corrected_summaries_are_those_of_the_speed_table(reference: Reference) -> None:
    for row, name in {"SHA-1": "SHA-1", "SHA-256": "SHA-256", "AES-128-CBC": "AES-128"}.items():
        speed = reference.get("beaglebone-hw-crypto", "openssl-speed", name, "16384 bytes")
        summary = reference.get("beaglebone-hw-crypto", "throughput", row, "Throughput (MB/s)")
        assert summary.base.mid == pytest.approx(speed.base.mid)


def test_what_is_missing_is_named(reference: Reference) -> None:
    with pytest.raises(DataError, match="no figure d/t/r/c"):
        reference.get("d", "t", "r", "c")
    with pytest.raises(DataError, match="no number nothing"):
        reference.constant("nothing")
    with pytest.raises(DataError, match="is no number"):
        _ = reference.get("mqtt-tz-blocks", "setup", "Platform", "value").span


def test_cycles_are_those_of_their_core(reference: Reference) -> None:
    rows = reference.cycles_for("cortex-a53", "sha256")
    assert {row.implementation: row.cycles for row in rows} == {
        "compiler": Decimal("33.3"),
        "scalar": Decimal("15.5"),
        "ce": Decimal("2.38"),
    }


def parse(*rows: str) -> dict[data.Key, data.Published]:
    text = "\n".join((HEADER, *rows)) + "\n"
    figures: dict[data.Key, data.Published] = data.parse(text, data.Published, "f.csv", DOCUMENT)
    return figures


def test_a_good_row() -> None:
    (figure,) = parse(GOOD).values()
    assert figure.key == ("d", "t", "r", "c")
    assert figure.value == Decimal("12.50")
    assert figure.base.mid == pytest.approx(0.0125)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("d,p,t,r,c,=,12,,ms,12,,ms", "12 cells, not 13"),
        ("e,p,t,r,c,=,12,,ms,12,,ms,", "document is e, not d"),
        ("d,,t,r,c,=,12,,ms,12,,ms,", "place: missing"),
        ("d,p,t,r,c,?,12,,ms,12,,ms,", "relation"),
        ("d,p,t,r,c,=,twelve,,ms,12,,ms,", "'twelve' is no number"),
        ("d,p,t,r,c,=,nan,,ms,12,,ms,", "plain digits"),
        ("d,p,t,r,c,=,1e3,,ms,1e3,,ms,", "plain digits"),
        ("d,p,t,r,c,=,12,,fortnights,12,,ms,", "'fortnights' isn't known"),
        ("d,p,t,r,c,=,12,,ms,12,,KB,", "KB is no corrected unit"),
        ("d,p,t,r,c,=,12,,ms,12,,KiB,", "no units of the same thing"),
        ("d,p,t,r,c,=,12,,KB,12,,KiB,", "doesn't say why"),
        ("d,p,t,r,c,=,12,,ms,13,,ms,", "doesn't say why"),
        ("d,p,t,r,c,=,12,11,ms,12,11,ms,", "a range from 12 to 11"),
        ("d,p,t,r,c,=,yes,,text,1,,text,", "words have no"),
        ("d,p,t,r,c,=, 12,,ms,12,,ms,", "blanks around"),
        (GOOD + "\n" + GOOD, "t / r / c is there twice"),
        ('d,p,t,r,c,=,"12,,ms,12,,ms,', "not CSV"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(row: str, why: str) -> None:
    with pytest.raises(DataError, match=r"^f\.csv:[23]: ") as caught:
        parse(row)
    assert why in caught.value.message


def test_other_columns_are_refused() -> None:
    with pytest.raises(DataError, match="the columns must be"):
        data.parse("a,b\n", data.Published, "f.csv", DOCUMENT)
    with pytest.raises(DataError, match="the columns must be"):
        data.parse("", data.Published, "f.csv", DOCUMENT)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"documents\.csv: can't be read"):
        data.load(tmp_path)


def test_other_tables_are_strict() -> None:
    cycles = "core,algorithm,implementation,cycles_per_byte,source,note\na,b,c,0,s,\n"
    with pytest.raises(DataError, match="cycles_per_byte: must be positive"):
        data.parse(cycles, data.CyclesPerByte, "f.csv")
    with pytest.raises(DataError, match="is there twice"):
        data.parse("name,value,unit,source\na,1,B,s\na,2,B,s\n", data.Constant, "f.csv")
    documents = "document,title,date,system,note,emulated\nd,t,d,s,,\nd,t,d,s,,yes\n"
    with pytest.raises(DataError, match="d is there twice"):
        data.parse(documents, data.Document, "f.csv")
    with pytest.raises(DataError, match=r"f\.csv:2: .*emulated"):
        data.parse(documents.replace("s,,", "s,,no", 1), data.Document, "f.csv")


@given(st.decimals(-(10**6), 10**6, places=3), st.decimals(1, 10**6, places=2))
def test_spans_hold_the_exact_result(a: Decimal, b: Decimal) -> None:
    """Whatever the true values behind two printed numbers are, the result's span holds theirs."""
    x, y = printed(a), printed(b)
    assert x.low <= float(a) <= x.high
    results: list[tuple[Span, float]] = [
        (x + y, float(a) + float(b)),
        (x - y, float(a) - float(b)),
        (x * y, float(a) * float(b)),
        (x / y, float(a) / float(b)),
    ]
    for span, value in results:
        assert span.overlaps(exact(value))


def test_spans_know_the_last_digit() -> None:
    assert printed(Decimal("11.6")).overlaps(exact(11.65))
    assert not printed(Decimal("11.6")).overlaps(exact(11.66))
    assert printed(Decimal("2"), Decimal("5")).overlaps(exact(5.4))
    with pytest.raises(ZeroDivisionError):
        _ = exact(1) / printed(Decimal("0.0"))
