# SPDX-License-Identifier: BSD-2-Clause
"""bench.toml: what teebench is told, and what is said of a wrong one; new folders for a TA."""

import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from synthetic import run_of, scattered
from teemark.base import paths
from teemark.base.errors import ConfigError, DataError, UsageMistake
from teemark.boards import new_ta, own_ta
from teemark.exact import record
from teemark.model.models import build
from teemark.plan import calls
from teemark.plan.file import Plan, load_plan, parse_plan
from teemark.report import run_page, summary
from teemark.wording import fmt

UUID = "8aaaf200-2450-11e4-abe2-0002a5d5c51b"
HEAD = f'summary = "x"\n\n[ta]\nuuid = "{UUID}"\n\n[[call]]\n'
GOOD = HEAD + (
    'name = "hash"\n'
    "command = 3\n"
    'sizes = [0, "4KiB"]\n'
    'setup = [{ command = 1, p0 = { type = "value-in", a = 7 } }]\n'
    'p0 = { type = "memory-in", size = "{}", content = "message" }\n'
    'p2 = { type = "memory-out", size = 32, expect = "sha256 of p0", memory = "allocated" }\n'
)


def parsed(text: str) -> Plan:
    return parse_plan(text, name="b", file="bench.toml")


def test_a_call_becomes_a_case_of_each_size() -> None:
    found = parsed(GOOD)
    assert found.ta == UUID
    assert [case.key for case in found.cases] == ["call/hash/tee/0", "call/hash/tee/4096"]
    assert {case.place for case in found.cases} == {"bench.toml:6"}
    assert found.cases[1].line == (
        f"call/hash/tee/4096 call={UUID};setup:1:0x00000000;value-in:7:0;none;none;none;"
        "run:3:0x00000000;memory-in:temporary:4096:message;none;"
        "memory-out:allocated:32:sha256-of-0:any;none"
    )


@pytest.mark.parametrize(
    ("param", "words"),
    [
        ('type = "value-inout", a = 1, b = 2, expect_a = "any"', "value-inout:1:2:any:2"),
        ('type = "value-out", expect_a = 3, expect_b = "any"', "value-out:3:any"),
        ('type = "memory-in", content = "text:abc"', "memory-in:temporary:3:hex-616263"),
        (
            'type = "memory-in", size = "1KiB", content = "fill:FF"',
            "memory-in:temporary:1024:fill-ff",
        ),
        (
            'type = "memory-inout", content = "hex:00FF", expect = "zeros", memory = "registered"',
            "memory-inout:registered:2:hex-00ff:fill-00:2",
        ),
        (
            'type = "memory-out", size = 9, expect = "any", expect_size = 4',
            "memory-out:temporary:9:any:4",
        ),
        (
            f'type = "memory-out", size = 9, expect = "sha256:{"0A" * 32}"',
            f"memory-out:temporary:9:digest-{'0a' * 32}:any",
        ),
    ],
)
def test_parameters_in_teebenchs_words(param: str, words: str) -> None:
    found = parsed(f'{HEAD}name = "x"\ncommand = 0\np0 = {{ {param} }}\n')
    assert found.cases[0].call.split(";")[2] == words


def test_what_went_in_comes_back() -> None:
    text = GOOD.replace('size = 32, expect = "sha256 of p0"', 'size = "8KiB", expect = "p0"')
    assert [case.call.split(";")[-2] for case in parsed(text).cases] == [
        "memory-out:allocated:8192:message:0",
        "memory-out:allocated:8192:message:4096",
    ]


def test_expectations_by_size() -> None:
    each = 'expect_each = { 0 = "zeros", "4096" = "fill:01" }'
    found = parsed(GOOD.replace('size = 32, expect = "sha256 of p0"', f'size = "{{}}", {each}'))
    assert [case.call.split(";")[-2] for case in found.cases] == [
        "memory-out:allocated:0:fill-00:0",
        "memory-out:allocated:4096:fill-01:4096",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("command = 3", "", "bench.toml:6: call[1].command: missing"),
        ("command = 3", "comand = 3", "bench.toml:8: call[1].comand: no such key"),
        ("command = 3", "command = -1", "bench.toml:8: call[1].command: must be"),
        (
            '"value-in", a = 7',
            '"value-in", c = 7',
            "bench.toml:10: call[1].setup[1].p0.c: no such key",
        ),
        ('"value-in", a', '"value", a', "bench.toml:10: call[1].setup[1].p0"),
        ("a = 7", "a = 4294967296", "bench.toml:10: call[1].setup[1].p0.a: must be"),
        ('"4KiB"', "0", "bench.toml:9: call[1].sizes: 0 is there twice"),
        ('sizes = [0, "4KiB"]', "", "call[1].p0.size: '{}', but there are no sizes"),
        ('"message"', '"noise"', "bench.toml:11: call[1].p0.content: 'noise' are no bytes"),
        ('"message"', '"hex:123"', "call[1].p0.content: 'hex:123' are no bytes"),
        ('"message"', '"text:abc"', "call[1].p0.content: 3 bytes, in memory of 0"),
        (
            '"sha256 of p0"',
            '"sha256 of p4"',
            "bench.toml:12: call[1].p2.expect: 'sha256 of p4' are",
        ),
        ('"sha256 of p0"', '"sha256 of p1"', "call[1].p2.expect: p1 is no memory with a content"),
        ('"sha256 of p0"', '"text:aa", expect_each = {}', "exclude each other"),
        ('"sha256 of p0"', '"p0"', "call[1].p2.expect: 4096 bytes are in p0"),
        ('"sha256 of p0"', '"text:aa", expect_size = 3', "expect_size: 3 bytes, where 2 are"),
        ('"sha256 of p0"', '"message", expect_size = 33', "expect_size: 33 bytes, where 32 are"),
        (', expect = "sha256 of p0"', "", "bench.toml:12: call[1].p2.expect: missing"),
        ('[ta]\nuuid = "' + UUID + '"\n', "", "bench.toml: ta: missing"),
        (UUID, UUID[:-1], "bench.toml:4: ta.uuid: "),
        ('name = "hash"', 'name = "a hash"', "bench.toml:7: call[1].name: 'a hash' is no name"),
        ("command = 3", 'command = 3\nresult = "TEE_ERROR_TARGET_DEAD"', "call[1].result: "),
    ],
)
def test_mistakes_name_file_line_and_key(old: str, new: str, says: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        parsed(GOOD.replace(old, new, 1))
    assert says in caught.value.message


def test_two_calls_of_one_name() -> None:
    with pytest.raises(ConfigError, match="call: hash is there twice"):
        parsed(GOOD + GOOD[GOOD.index("[[call]]") :])


def test_bounds_and_words_are_teebenchs() -> None:
    """C and Python say the same."""
    root = paths.root()
    results = re.findall(
        r'\{ (0x[0-9A-F]+), "(TEE_\w+)"', (root / "host/src/lib/error.c").read_text()
    )
    known = {name: int(number, 16) for number, name in results}
    del known["TEE_ERROR_TARGET_DEAD"]
    assert known == calls.RESULTS


# -- what comes of them ----------------------------------------------------------------------

SIZES = (0, 64, 1024, 4096, 16384, 65536, 262144)


@pytest.mark.parametrize("name", ["copy", "sha256", "sha3-of-mine", "aes-ish"])
def test_a_line_over_sizes(name: str) -> None:
    """The first page is dear, and each one costs: whatever the command is called."""
    truth = {n: 57_000 + (120_000 if n else 0) + 1_400 * -(-n // 4096) + 6.0 * n for n in SIZES}
    run = run_of({f"call/{name}/tee/{n}": [ns] * 3 for n, ns in truth.items()}, icount=True)
    (cost,) = build(run).costs
    assert cost.fit.fits
    terms = {term: round(found.value, 3) for term, found in cost.fit.terms.items()}
    assert terms == {"call": 57_000, "byte": 6, "feed": 120_000, "page": 1_400}
    assert cost.at(8192).value == pytest.approx(57_000 + 120_000 + 2 * 1_400 + 6 * 8192)


def test_the_report_of_calls(capsys: pytest.CaptureFixture[str]) -> None:
    times = {"invoke/none/tee/none": 387_000.0, "call/increment/tee/none": 391_000.0}
    more: dict[str, Any] = {"ta": UUID, "command": 3, "unchecked": ["p0.b"]}
    noisy = run_of({key: scattered(ns, 0.01) for key, ns in times.items()}, **more)
    exact = run_of({key: [ns] * 6 for key, ns in times.items()}, icount=True, **more)
    blanks = re.compile(f"[\N{NO-BREAK SPACE}{fmt.THIN}]")
    text = blanks.sub(" ", run_page.make([exact]).markdown)
    assert f"TA {UUID}" in text
    assert "| `increment` | 3 | 391 000 | 4000 | 6 | p0.b |" in text
    made = run_page.make([noisy])
    text = blanks.sub(" ", made.markdown)
    assert re.search(r"\| `increment` \| 3 \| 391 µs \| 38\d.*µs \| 4\.0. µs \|", text), text
    summary.show(made.subjects[0])
    assert "increment" in capsys.readouterr().out


def test_a_trace_takes_calls_from_a_plan() -> None:
    known = parsed(GOOD)
    plan = record.plan_of(["call/hash/tee/4096", "invoke/none/tee/none"], 3, plan=known)
    assert [case.key for case in plan.cases] == [
        *("invoke/none/empty/none", "call/hash/tee/4096", "invoke/none/tee/none"),
    ]
    assert plan.cases[1].call == known.cases[1].call
    assert (plan.cases[1].samples, plan.ta) == (3, UUID)
    with pytest.raises(UsageMistake, match="no plan says what that calls"):
        record.plan_of(["call/hash/tee/1"], 3, plan=known)


# -- new-ta ----------------------------------------------------------------------------------


def test_a_new_folder_has_no_blank_left_and_its_own_uuid(tmp_path: Path) -> None:
    made = [new_ta.make(tmp_path / name) for name in ("one", "two_2")]
    assert made[0] != made[1]
    assert all(found.version == 4 for found in made)
    for name, found in zip(("one", "two_2"), made, strict=True):
        folder = tmp_path / name
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        assert {str(file.relative_to(folder)) for file in files} == {
            *("CMakeLists.txt", "Makefile", "README.md", "bench.toml", ".gitignore"),
            *("host/Makefile", "host/main.c", "ta/Makefile", "ta/entry.c", "ta/sub.mk"),
            *("ta/user_ta_header_defines.h", f"ta/include/{name}_ta.h"),
        }
        assert not [file for file in files if re.search("@[A-Z_]+@", file.read_text())]
        assert f"BINARY = {found}" in (folder / "ta/Makefile").read_text()
        bench = load_plan(str(folder / "bench.toml"))
        assert (bench.name, bench.ta) == (name, str(found))
        assert own_ta.find(folder).name == name
    header = (tmp_path / "one/ta/include/one_ta.h").read_text()
    numbers = re.findall(r"0x([0-9a-f]+)", header.partition("{")[2])
    assert uuid.UUID("".join(numbers)) == made[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two_2"]


@pytest.mark.parametrize("name", ["A", "1a", "a-b", "a b", "ä", "a" * 41, "..", "a$", ".a", "_a"])
def test_bad_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageMistake, match="no name"):
        new_ta.make(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("there", "dangling"):
        with pytest.raises(UsageMistake, match="there already"):
            new_ta.make(tmp_path / name)
    assert not list((tmp_path / "there").iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="can't be made"):
        new_ta.make(tmp_path / "file" / "one")


@pytest.mark.parametrize(
    ("files", "word", "says"),
    [
        ((), "absent", "doesn't exist"),
        (("empty/x",), "empty", "has no ta/Makefile"),
        (("a.txt",), "a.txt", "no Trusted Application"),
    ],
)
def test_what_is_no_ta(tmp_path: Path, files: tuple[str, ...], word: str, says: str) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("")
    with pytest.raises(UsageMistake, match=says):
        own_ta.find(tmp_path / word)
