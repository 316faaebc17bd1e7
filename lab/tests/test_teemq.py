# SPDX-License-Identifier: BSD-2-Clause
"""teemq and its Python module on this machine, without a TEE: key files, sealing, mistakes."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from teemark.base import paths

HEAD = 25


@pytest.fixture(scope="module")
def built() -> Path:
    root = paths.root()
    argv = ["make", "-s", "-C", str(root / "broker"), "MOSQUITTO_20=", "MOSQUITTO_21="]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return root / "build" / "broker" / "native"


@pytest.fixture
def module(built: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("TEEMQ_LIBRARY", str(built / "libteemq.so"))
    spec = importlib.util.spec_from_file_location("teemq", paths.root() / "broker" / "teemq.py")
    assert spec is not None
    assert spec.loader is not None
    teemq = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(teemq)
    return teemq


def run(built: Path, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    line = [str(built / "teemq"), *argv]
    return subprocess.run(line, input=stdin, capture_output=True, check=False)


def test_a_key_file_is_its_owners_and_is_never_replaced(built: Path, tmp_path: Path) -> None:
    file = tmp_path / "alice"
    assert run(built, "key", "alice", str(file)).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_bytes()
    again = run(built, "key", "alice", str(file))
    assert again.returncode == 1
    assert b"is there already" in again.stderr
    assert file.read_bytes() == before


def test_each_start_begins_an_epoch_and_a_salt(built: Path, tmp_path: Path) -> None:
    file = tmp_path / "alice"
    run(built, "key", "alice", str(file))
    sealed = [run(built, "seal", str(file), "tz/a", stdin=b"21.5").stdout for _ in range(3)]
    assert [int.from_bytes(message[4:8]) for message in sealed] == [1, 2, 3]
    assert len({message[12:20] for message in sealed}) == 3
    assert all(not message[12] & 0x80 for message in sealed)
    assert all(len(message) == HEAD + len("alice") + 4 + 16 for message in sealed)
    assert "epoch 3" in file.read_text(encoding="utf-8")


def test_python_counts_within_one_epoch(built: Path, module: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "alice"
    run(built, "key", "alice", str(file))
    alice = module.Client(file)
    sealed = [alice.seal("tz/a", b"x" * size) for size in (0, 1, 1000)]
    assert [int.from_bytes(message[4:8]) for message in sealed] == [1, 1, 1]
    assert [int.from_bytes(message[8:12]) for message in sealed] == [1, 2, 3]
    with pytest.raises(module.Error, match="no message from the broker's TA"):
        alice.open("tz/a", sealed[0])
    with pytest.raises(module.Error, match="can't read"):
        module.Client(tmp_path / "nobody")


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        ((), 2, b"Usage: teemq COMMAND"),
        (("seal",), 2, b"Usage: teemq seal KEY-FILE TOPIC"),
        (("key", "a/b", "FILE"), 2, b"is no client id"),
        (("key", "x" * 33, "FILE"), 2, b"is no client id"),
        (("seal", "/dev/null", "tz/a"), 2, b"is no file of a client's key"),
        (("open", "nowhere", "tz/a"), 1, b"can't read nowhere"),
    ],
)
def test_mistakes(
    built: Path, tmp_path: Path, argv: tuple[str, ...], status: int, said: bytes
) -> None:
    named = [str(tmp_path / "new") if word == "FILE" else word for word in argv]
    done = run(built, *named)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert not (tmp_path / "new").exists()


def test_a_client_that_never_claimed_a_ta_enrols_nobody(built: Path, tmp_path: Path) -> None:
    for name in ("admin", "bob"):
        run(built, "key", name, str(tmp_path / name))
    done = run(built, "enrol", "--print", str(tmp_path / "admin"), str(tmp_path / "bob"), "r:tz/#")
    assert done.returncode == 2
    assert b"never claimed a TA" in done.stderr
