# SPDX-License-Identifier: BSD-2-Clause
"""Reading run.ndjson: whole, cut off, corrupt, foreign, newer."""

import json
import resource
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import Synthetic, run_of
from teemark.base.errors import DataError, UsageMistake
from teemark.run import listing, reader, records


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    return Synthetic(samples=6).lines()


def test_whole_run(lines: list[bytes]) -> None:
    run = reader.parse(lines, file="run.ndjson")
    assert run.incomplete is None
    assert run.header is not None
    assert run.header.board == "synthetic"
    assert run.end is not None
    samples = sum(len(case.samples) for case in run.cases.values())
    assert samples == sum(b'"type": "sample"' in line for line in lines)
    assert len(run.skips) == 12
    assert [first.what for first in run.first] == ["context", "session", "invoke"]
    assert all(case.first for case in run.cases.values())


def test_without_the_run_record(lines: list[bytes]) -> None:
    """The output of teebench alone is a run, too."""
    run = reader.parse(lines[1:], file="x")
    assert run.header is None
    assert run.incomplete is None


def test_no_end_is_incomplete_and_usable(lines: list[bytes]) -> None:
    run = reader.parse(lines[:-1], file="x")
    assert run.incomplete is not None
    assert run.incomplete.startswith("cut off: there is no end record")
    assert run.cases


@pytest.mark.parametrize("keep", [1, 20, -2])
def test_cut_in_a_line(lines: list[bytes], keep: int) -> None:
    cut = [*lines[:-1], lines[-1][:keep]]
    run = reader.parse(cut, file="x")
    assert run.incomplete == f"cut off in the middle of line {len(lines)}"
    assert len(run.cases) == 116


def test_interrupted(lines: list[bytes]) -> None:
    end = b'{"type":"end","complete":false,"reason":"interrupted"}\n'
    assert reader.parse([*lines[:-1], end], file="x").incomplete == "interrupted (Ctrl-C, SIGINT)"


def test_unknown_fields_are_ignored(lines: list[bytes]) -> None:
    more = [json.dumps({**json.loads(line), "hue": [1, {"a": None}]}).encode() for line in lines]
    with_newlines = [line + b"\n" for line in more]
    assert reader.parse(with_newlines, file="x").cases == reader.parse(lines, file="x").cases


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (b"{broken\n", "x:40: not JSON"),
        (b"\xff\xfe\n", "x:40: not"),
        (b'{"type":"sample"}\n', "x:40: not a record of teemark: case: missing"),
        (b'{"type":"sampel"}\n', "x:40: not a record of teemark: type: 'sampel' isn't known"),
        (b"[]\n", "x:40: not a record of teemark"),
        (b'{"type":"end","complete":"yes","reason":"done"}\n', "x:40: not a record of teemark"),
        (b'{"type":"end","complete":true,"reason":"done"}\n', "x:41: a "),
        (
            b'{"type":"sample","case":"a/b/c/d","seq":0,"repeat":1,"loops":1,"ns":1,'
            b'"source":"client-clock"}\n',
            "x:40: a sample of a/b/c/d, which has no case record before it",
        ),
        (
            b'{"type":"sample","case":"a/b/c/d","seq":0,"repeat":1,"loops":0,"ns":1,'
            b'"source":"client-clock"}\n',
            "x:40: not a record of teemark: loops: must be a whole number from 1 on, not 0",
        ),
        (
            b'{"type":"sample","case":"a/b/c/d","seq":0,"repeat":1,"loops":1,"ns":1.5,'
            b'"source":"client-clock"}\n',
            "x:40: not a record of teemark: ns: must be a whole number, not 1.5",
        ),
        (b'{"type":"machine","schema":1,"teebench":"0","pid":1}\n', "x:40: a second machine"),
    ],
)
def test_corrupt_line_is_named(lines: list[bytes], change: bytes, says: str) -> None:
    corrupt = [*lines[:39], change, *lines[40:]]
    with pytest.raises(DataError) as error:
        reader.parse(corrupt, file="x")
    assert error.value.message.startswith(says)


def test_newer(lines: list[bytes]) -> None:
    newer = [line.replace(b'"schema": 1', b'"schema": 5') for line in lines]
    with pytest.raises(DataError, match=r"x:1: made by a newer teemark: schema 5, known .* 4"):
        reader.parse(newer, file="x")


def test_newer_with_other_fields() -> None:
    line = b'{"type":"machine","schema":7,"pid":{"main":1}}\n'
    with pytest.raises(DataError, match="x:1: made by a newer teemark: schema 7"):
        reader.parse([line], file="x")


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\x89PNG\r\n\x1a\n\0\0", b'{"name": "foreign"}\n', b"a,b,c\n1,2,3\n", b"{}"],
)
def test_foreign(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "run.ndjson"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"run\.ndjson"):
        reader.read(file)


def test_records_before_the_machine(lines: list[bytes]) -> None:
    with pytest.raises(DataError, match="x:1: a case record before the machine record"):
        reader.parse([line for line in lines if b'"type": "case"' in line], file="x")


def test_folder_file_and_partial(lines: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(UsageMistake, match=r"no run\.ndjson in this folder"):
        reader.read(tmp_path)
    (tmp_path / "run.ndjson.partial").write_bytes(b"".join(lines[:-1]))
    assert reader.read(tmp_path).incomplete
    (tmp_path / "run.ndjson").write_bytes(b"".join(lines))
    assert reader.read(tmp_path).incomplete is None
    assert reader.read(tmp_path / "run.ndjson").incomplete is None
    with pytest.raises(UsageMistake, match="no such file"):
        reader.read(tmp_path / "nothing.ndjson")


def test_failed_cases_are_not_computed_with(lines: list[bytes]) -> None:
    key = "oneshot/sha256/c/4096"
    fail = json.dumps({"type": "fail", "case": key, "reason": "wrong digest"}).encode() + b"\n"
    run = reader.parse([*lines[:-1], fail, lines[-1]], file="x")
    assert key in run.cases
    assert key not in {case.key for case in run.sound}


def _parse_or_named_error(text: bytes) -> reader.RunData | None:
    try:
        return reader.parse(text.splitlines(keepends=True), file="x")
    except DataError as error:
        said = error.message
    assert said.startswith("x:")
    return None


@given(cut=st.integers(min_value=0))
def test_any_cut_is_a_run_or_an_error_that_names_the_file(cut: int) -> None:
    whole = b"".join(_SMALL)
    text = whole[: cut % (len(whole) + 1)]
    run = _parse_or_named_error(text)
    if run is not None:
        # Without its newline the last line is as good.
        assert (run.incomplete is None) == (len(text) >= len(whole) - 1)


@given(place=st.integers(min_value=0), byte=st.integers(0, 255))
def test_any_changed_byte_raises_nothing_else(place: int, byte: int) -> None:
    changed = bytearray(b"".join(_SMALL))
    changed[place % len(changed)] = byte
    _parse_or_named_error(bytes(changed))


_ALL = Synthetic(samples=1, repeat=(1,)).lines()
_SMALL = [*_ALL[:3], *(line for line in _ALL[3:] if b"invoke/none" in line), _ALL[-1]]


def test_every_record_type_survives_encoding() -> None:
    run = records.Run(
        schema=1,
        teemark="0",
        board="b",
        plan="p",
        started="2026-01-01T00:00:00Z",
        emulated=True,
        cases=0,
    )
    encoded = msgspec.json.encode(run)
    assert json.loads(encoded)["type"] == "run"
    assert reader.decode_line(encoded, file="x", number=1) == run


STARTS = Synthetic(samples=6, starts=3, counter=1.0, algorithms=("sha256",))


def test_starts_are_kept_apart_and_their_samples_counted_through() -> None:
    lines = STARTS.lines()
    run = reader.parse(lines, file="x")
    assert run.incomplete is None
    assert [(start.number, start.kind) for start in run.starts] == [(n, "round") for n in (1, 2, 3)]
    each = sum(b'"client-clock"' in line for line in lines) // 3
    assert [len(start.seqs) for start in run.starts] == [each] * 3
    for case in run.cases.values():
        assert [len(start) for start in case.starts] == [6 * len(case.record.repeat)] * 3
        assert case.samples == tuple(sample for start in case.starts for sample in start)
        for samples, start in zip(case.starts, run.starts, strict=True):
            assert all(sample.seq in start.seqs for sample in samples)
    seqs = [sample.seq for case in run.cases.values() for sample in case.samples]
    assert sorted(seqs) == list(range(3 * each))
    counted = run.cases["oneshot/sha256/tee/64"]
    assert [s.seq for s in counted.ta_samples] == [s.seq for s in counted.samples]
    assert run.end is not None
    assert run.end.duration_ns == sum(
        start.end.duration_ns or 0 for start in run.starts if start.end is not None
    )
    assert len(run.skips) == len({skip.case for skip in run.skips})


def test_a_file_without_start_records_is_one_start(lines: list[bytes]) -> None:
    run = reader.parse(lines, file="x")
    assert [(start.number, start.kind) for start in run.starts] == [(1, "round")]
    assert all(len(case.starts) == 1 for case in run.cases.values())


def test_starts_that_are_missing() -> None:
    lines = STARTS.lines()
    begins = [number for number, line in enumerate(lines) if b'"type": "start"' in line]
    run = reader.parse(lines[: begins[2]], file="x")
    assert run.incomplete == "2 of 3 starts were measured"
    run = reader.parse(lines[: begins[2] - 1], file="x")
    assert run.incomplete is not None
    assert "(in start 2 of 3)" in run.incomplete
    assert run.end is None
    with pytest.raises(DataError, match="start 3 after start 1"):
        reader.parse([*lines[: begins[1]], *lines[begins[2] :]], file="x")
    with pytest.raises(DataError, match="before the end of the start before it"):
        reader.parse([*lines[: begins[1] - 1], *lines[begins[1] :]], file="x")


def test_a_start_that_never_came_up_says_why() -> None:
    lines = STARTS.lines()
    begins = [number for number, line in enumerate(lines) if b'"type": "start"' in line]
    end = b'{"type":"end","complete":false,"reason":"stopped","message":"it did not boot"}\n'
    run = reader.parse([*lines[: begins[1] + 1], end], file="x")
    assert run.incomplete == "it did not boot (in start 2 of 3)"
    assert len(run.starts) == 1


def test_backends_and_algorithms_are_called_as_the_run_says() -> None:
    machine = {
        "type": "machine",
        "schema": 1,
        "teebench": "0",
        "backends": [
            {"name": "vault", "title": "the vault", "secure": True},
            {"name": "abacus", "title": "an abacus", "local": True},
        ],
        "algorithms": [{"name": "sm3", "title": "SM3"}],
    }
    run = reader.parse([json.dumps(machine).encode()], file="x")
    assert run.title("sm3") == "SM3"
    assert run.backend("vault").title == "the vault"
    assert (run.backend("vault").secure, run.backend("abacus").local) == (True, True)
    assert sorted(["who", "abacus", "vault"], key=run.place) == ["vault", "abacus", "who"]
    # of a run that doesn't say
    bare = reader.parse([b'{"type": "machine", "schema": 1, "teebench": "0"}'], file="x")
    assert (bare.title("sm3"), bare.backend("vault").title) == ("sm3", "vault")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("oneshot/sha256/afalg:sha256-ce/64", True),
        ("oneshot/sha256/afalg:*/64", True),  # there was none: it was skipped
        ("oneshot/sha256/afalg/64", False),
        ("oneshot/sha256/afalg:sha256-ce/65", False),
        ("oneshot/sha1/afalg:sha1-ce/64", False),
    ],
)
def test_any_driver_stands_for_those_there_are(key: str, *, meant: bool) -> None:
    assert reader.stands_for("oneshot/sha256/afalg:*/64", key) == meant


def test_the_steps_of_teehash_are_counted_as_cases_and_their_runs_as_samples() -> None:
    """A run of teehash alone isn't one of no case and no sample."""
    report: dict[str, object] = {"files": [{"total_ns": 5}]}
    step = "teehash/sha256/tee/stream/warm/1048576/65536/read"
    run = run_of({"a/b/c/1": [1.0] * 8}, reports={step: [report] * 3})
    assert run.measured == ("a/b/c/1", step)
    assert run.samples == 8 + 3


def test_a_line_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A line of 1.5 GB took 3 GB: stores hold what others put there."""
    file = tmp_path / "run.ndjson"
    with file.open("wb") as stream:
        stream.write(b'{"type":"run",')
        stream.truncate(1500 << 20)
    for look in (reader.read, reader.ends):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(DataError, match="a line has more than 8 MiB"):
            look(file)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert "a line has more than 8 MiB" in listing.look("run", file).wrong
