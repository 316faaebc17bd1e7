# SPDX-License-Identifier: BSD-2-Clause
"""Output, options and check lists are those of sha256sum, in both directions."""

import hashlib
import os
import re
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from teehash_program import Program

ROOT = Path(__file__).resolve().parents[3]

ALGORITHMS = (
    "sha1", "sha224", "sha256", "sha384", "sha512",
    "sha3-224", "sha3-256", "sha3-384", "sha3-512",
)  # fmt: skip

# Any bytes that a file may be called, with what needs escaping more often than by chance.
NAMES = st.lists(
    st.one_of(
        st.sampled_from([b"\n", b"\\", b"\r", b" ", b"*", b"(", b")", b"=", b"\xff", b"\xc3\xa4"]),
        st.integers(1, 255).filter(lambda n: n != ord("/")).map(lambda n: bytes([n])),
    ),
    min_size=1,
    max_size=12,
).map(b"".join).filter(lambda name: name not in (b".", b"..") and not name.startswith(b"-"))  # fmt: skip

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def digest_of(algorithm: str, data: bytes) -> str:
    return hashlib.new(algorithm.replace("sha3-", "sha3_"), data).hexdigest()


def make_files(directory: Path, names: list[bytes]) -> None:
    for name in names:
        path = os.path.join(os.fsencode(directory), name)
        with open(path, "wb") as file:
            file.write(name * 3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm(teehash: Program, tmp_path: Path, algorithm: str) -> None:
    (tmp_path / "f").write_bytes(b"abc" * 1000)
    done = teehash("-a", algorithm, "f", cwd=tmp_path)
    assert done.out == f"{digest_of(algorithm, b'abc' * 1000)}  f\n".encode()
    assert (done.status, done.err) == (0, b"")


@EXAMPLES
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), data=st.data())
def test_the_same_lines_as_sha256sum(
    teehash: Program, sha256sum: Program, tmp_path_factory: pytest.TempPathFactory,
    names: list[bytes], data: st.DataObject,
) -> None:  # fmt: skip
    directory = tmp_path_factory.mktemp("names")
    make_files(directory, names)
    options = data.draw(
        st.sampled_from([[], ["-b"], ["-t"], ["--tag"], ["-z"], ["--tag", "-z"], ["-b", "-t"]])
    )
    ours = teehash(*options, *names, cwd=directory)
    theirs = sha256sum(*options, *names, cwd=directory)
    assert ours.out == theirs.out
    assert ours.status == theirs.status == 0


@EXAMPLES
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), tag=st.booleans())
def test_lists_are_checked_both_ways(
    teehash: Program, sha256sum: Program, as_sha256sum: Callable[[bytes], bytes],
    tmp_path_factory: pytest.TempPathFactory, names: list[bytes], tag: bool,
) -> None:  # fmt: skip
    directory = tmp_path_factory.mktemp("names")
    make_files(directory, names)
    options = ["--tag"] if tag else []
    for maker, checker in ((teehash, sha256sum), (sha256sum, teehash)):
        made = maker(*options, *names, cwd=directory)
        checked = checker("-c", "-", cwd=directory, stdin=made.out)
        assert checked.status == 0, checked.said
        assert checked.out.count(b": OK\n") == len(names)
    assert (
        as_sha256sum(teehash("-c", stdin=made.out, cwd=directory).out)
        == sha256sum("-c", stdin=made.out, cwd=directory).out
    )


LINE_PIECES = st.sampled_from(
    ["SHA256 (", "SHA256(", "SHA1 (", ") = ", ")= ", "  ", " *", " ", "\\", "\\n", "#", "f", "gone",
     "é", "\r", "\t", "sub dir/x", ")", hashlib.sha256(b"f").hexdigest(),
     hashlib.sha256(b"f").hexdigest().upper(), "0" * 64, "a" * 63, "g" * 64]
)  # fmt: skip


@settings(EXAMPLES, max_examples=2 * EXAMPLES.max_examples)
@given(
    pieces=st.lists(st.lists(LINE_PIECES, max_size=6).map("".join), max_size=4),
    options=st.sets(st.sampled_from(["--strict", "--ignore-missing"])),
)
def test_malformed_lists_are_judged_as_sha256sum_does(
    teehash: Program, sha256sum: Program, as_sha256sum: Callable[[bytes], bytes],
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], options: set[str],
) -> None:  # fmt: skip
    directory = tmp_path_factory.mktemp("list")
    (directory / "f").write_bytes(b"f")
    text = "\n".join(pieces).encode() + b"\n"
    # -a: sha256sum knows one algorithm only
    ours = teehash("-a", "sha256", "-c", "-w", *options, cwd=directory, stdin=text)
    theirs = sha256sum("-c", "-w", *options, cwd=directory, stdin=text)
    assert as_sha256sum(ours.out) == theirs.out
    assert ours.status == theirs.status
    assert ours.err.count(b"improperly formatted SHA256") == theirs.err.count(
        b"improperly formatted SHA256"
    )


def test_a_list_that_names_its_algorithms(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello")
    text = b"".join(teehash("--tag", "-a", a, "f", cwd=tmp_path).out for a in ALGORITHMS)
    done = teehash("-c", stdin=text, cwd=tmp_path)
    assert (done.status, done.out) == (0, b"f: OK\n" * len(ALGORITHMS))
    one = teehash("-a", "sha512", "-c", stdin=text, cwd=tmp_path)
    assert (one.status, one.out) == (0, b"f: OK\n")
    assert b"8 lines are improperly formatted" in one.err


def test_windows_line_ends(teehash: Program, sha256sum: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello")
    text = sha256sum("f", cwd=tmp_path).out.replace(b"\n", b"\r\n")
    assert teehash("-c", stdin=text, cwd=tmp_path).out == b"f: OK\n"


def test_results_of_a_check(teehash: Program, sha256sum: Program, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name)
    text = sha256sum("a", "b", "c", cwd=tmp_path).out + b"0" * 64 + b"  gone\nnonsense\n"
    (tmp_path / "list").write_bytes(text)
    (tmp_path / "b").write_text("other")
    for options in ([], ["--quiet"], ["--status"], ["--warn"], ["--ignore-missing"], ["--strict"]):
        ours = teehash("-c", *options, "list", cwd=tmp_path)
        theirs = sha256sum("-c", *options, "list", cwd=tmp_path)
        assert (ours.status, ours.out) == (theirs.status, theirs.out) == (1, theirs.out)
        assert ours.err == theirs.err.replace(b"sha256sum: ", b"teehash: ")
    (tmp_path / "b").write_text("b")
    for options in (["--ignore-missing"], ["--ignore-missing", "--strict"]):
        ours = teehash("-c", *options, "list", cwd=tmp_path)
        theirs = sha256sum("-c", *options, "list", cwd=tmp_path)
        assert (ours.status, ours.out) == (theirs.status, theirs.out)


def test_several_lists_one_of_them_missing(teehash: Program, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
        (tmp_path / f"{name}.list").write_bytes(teehash(name, cwd=tmp_path).out)
    done = teehash("-c", "a.list", "gone", "b.list", cwd=tmp_path)
    assert (done.status, done.out) == (1, b"a: OK\nb: OK\n")
    assert done.err == b"teehash: gone: No such file or directory\n"
    assert teehash("-c", "a.list", "b.list", cwd=tmp_path).status == 0


def test_lists_without_a_proper_line(teehash: Program, tmp_path: Path) -> None:
    for text in (b"", b"nonsense\n", b"# only a remark\n", b"\0" * 100, b"x" * 3_000_000):
        done = teehash("-c", stdin=text, cwd=tmp_path)
        assert (done.status, done.out) == (1, b"")
        assert b"no properly formatted checksum lines found" in done.err
    assert teehash("-c", "no-list").status == 1
    assert teehash("-c", tmp_path).status == 1


def test_duplicate_names(teehash: Program, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("f")
    once = teehash("f", cwd=tmp_path).out
    assert teehash("f", "f", "./f", cwd=tmp_path).out == once * 2 + once.replace(b"  f", b"  ./f")
    assert teehash("-c", stdin=once * 2, cwd=tmp_path).out == b"f: OK\n" * 2


def test_standard_input(teehash: Program, sha256sum: Program, tmp_path: Path) -> None:
    for data in (b"", b"x", b"y" * 3_000_000):
        theirs = sha256sum(stdin=data)
        assert teehash(stdin=data).out == theirs.out
        assert teehash("-", stdin=data).out == theirs.out
    assert teehash("-c", stdin=theirs.out).status == 1  # a list can't check itself
    (tmp_path / "list").write_bytes(theirs.out)
    assert teehash("-c", "list", stdin=data, cwd=tmp_path).out == b"-: OK\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-such-option"], ["--tag", "-t"], ["--tag", "-c"], ["-z", "-c"], ["-b", "-c"],
        ["--quiet"], ["--status"], ["--warn"], ["--strict"], ["--ignore-missing"],
        ["-a", "md5"], ["--backend=none"], ["-j0"], ["-jx"], ["-j", "65"], ["--chunk=0"],
        ["--chunk=-1"], ["--chunk=1X"], ["--chunk=99999999999999999999"], ["--mode=fast"],
        ["--report=xml"], ["--reader=2"], ["--progress=maybe"],
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line(bare: Program, arguments: list[str]) -> None:
    done = bare(*arguments, "/dev/null")
    assert (done.status, done.out) == (2, b"")
    assert b"Try 'teehash --help'" in done.err


@pytest.mark.parametrize(
    ("argument", "takes"),
    [
        (
            "--chunk=1MB",
            "a size from 4096 to 268435456, in bytes or with K, M or G (times 1024)",
        ),
        (
            "--chunk=4095",
            "a size from 4096 to 268435456, in bytes or with K, M or G (times 1024)",
        ),
        (
            "--oneshot-limit=2G",
            "a size from 0 to 1073741824, in bytes or with K, M or G (times 1024)",
        ),
        ("--jobs=1K", "a number from 1 to 64"),
        ("--jobs=-1", "a number from 1 to 64"),
        ("--jobs=99999999999999999999", "a number from 1 to 64"),
    ],
)
def test_what_a_size_is(bare: Program, argument: str, takes: str) -> None:
    option, _, value = argument.partition("=")
    done = bare(argument, "/dev/null")
    assert done.status == 2
    assert done.said.splitlines()[0] == f"teehash: {option} takes {takes}, not '{value}'"


@pytest.mark.parametrize(
    "line",
    [b"SHA256 (\0a) = %s", b"SHA256 (a\0b) = %s", b"SHA256 () = %s", b"%s  \0a", b"%s  a\0b"],
)
def test_a_name_ends_at_a_nul(
    teehash: Program, sha256sum: Program, tmp_path: Path, line: bytes
) -> None:
    """sha256sum fails, too, where there is no such file: no line is passed over."""
    (tmp_path / "a").write_bytes(b"a")
    digest = hashlib.sha256(b"a").hexdigest().encode()
    (tmp_path / "list").write_bytes(b"%s  a\n" % digest + line % digest + b"\n")
    theirs = sha256sum("-c", "list", cwd=tmp_path)
    ours = teehash("--backend=c", "-c", "list", cwd=tmp_path)
    assert (ours.status, ours.out) == (theirs.status, theirs.out)


def test_improper_lines_of_no_algorithm(teehash: Program) -> None:
    """Where a line may name any, the message names none."""
    told = teehash("-c", "-w", stdin=b"nonsense\n").err.splitlines()[0]
    assert told == b"teehash: 'standard input': 1: improperly formatted SHA256 checksum line"
    told = teehash("-c", "-w", "-a", "sha512", stdin=b"nonsense\n").err.splitlines()[0]
    assert told == b"teehash: 'standard input': 1: improperly formatted SHA512 checksum line"


def test_help_version_and_list(bare: Program) -> None:
    shown = bare("--help")
    assert (shown.status, shown.err) == (0, b"")
    for option in ("--check", "--chunk", "--report", "--jobs", "--mode", "--cold"):
        assert option.encode() in shown.out
    version = re.search('__version__ = "(.+)"', (ROOT / "lab/src/teemark/version.py").read_text())
    assert version
    assert bare("--version").out == f"teehash {version[1]}\n".encode()
    listed = bare("--list").out.decode().split("\n")
    assert [line.split()[0] for line in listed if line] == [
        "tee", "ta-c", "ta-ce", "c", "ce", "openssl", "afalg",
    ]  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_lines_stay_in_the_order_of_the_arguments(
    teehash: Program, sha256sum: Program, tmp_path: Path, jobs: int
) -> None:
    names = [f"{i}" for i in range(60)]
    for i, name in enumerate(names):
        if i % 7:
            (tmp_path / name).write_bytes(os.urandom(i * 1000 if i % 5 else 2_000_000))
    ours = teehash(f"-j{jobs}", *names, cwd=tmp_path)
    theirs = sha256sum(*names, cwd=tmp_path)
    assert (ours.status, ours.out) == (1, theirs.out)
    assert ours.err == theirs.err.replace(b"sha256sum: ", b"teehash: ")


def test_thousands_of_files(teehash: Program, sha256sum: Program, tmp_path: Path) -> None:
    names = []
    for i in range(10_000 if os.environ.get("THOROUGH") else 2_000):
        name = f"{i:05}{string.ascii_letters[i % 52]}"
        (tmp_path / name).write_text(name)
        names.append(name)
    theirs = sha256sum(*names, cwd=tmp_path)
    for jobs in ("1", "4"):
        assert teehash("-j", jobs, *names, cwd=tmp_path).out == theirs.out
    (tmp_path / "list").write_bytes(theirs.out)
    done = teehash("-c", "--quiet", "-j4", "list", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, b"", b"")
