# SPDX-License-Identifier: BSD-2-Clause
"""teemq and its Python module on this machine, without a TEE: key files, key agreement, sealing,
mistakes."""

import ctypes
import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from teemark.base import paths

HEAD = 25


@pytest.fixture(scope="module")
def built() -> Path:
    root = paths.root()
    argv = ["make", "-s", "-C", str(root / "broker"), "MOSQUITTO="]
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


def agreed(ta: X25519PrivateKey, public: bytes, letter: bytes, name: str) -> bytes:
    """Returns what docs/broker.md says that the TA derives."""
    info = b"teemark MQTT-TZ enrolment 2" + letter + public + ta.public_key().public_bytes_raw()
    shared = ta.exchange(X25519PublicKey.from_public_bytes(public))
    return HKDF(SHA256(), 32, None, info + name.encode()).derive(shared)


def lines(file: Path) -> dict[str, str]:
    rows = (line.split(" ") for line in file.read_text(encoding="utf-8").splitlines())
    return {row[0]: row[1] for row in rows}


def test_the_vectors_of_the_documentation(built: Path) -> None:
    """The page's figures are those of the library and of another implementation."""
    text = (paths.root() / "docs" / "broker.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^    ([a-zA-Z' ]+?) +([0-9a-f]{64})$", text, re.MULTILINE))
    client, ta, public, identity, key, wrapping = map(bytes.fromhex, rows.values())
    pair = X25519PrivateKey.from_private_bytes(ta)
    assert X25519PrivateKey.from_private_bytes(client).public_key().public_bytes_raw() == public
    assert pair.public_key().public_bytes_raw() == identity
    library = ctypes.CDLL(str(built / "libteemq.so"))
    for letter, expected in ((b"A", key), (b"E", wrapping)):
        assert agreed(pair, public, letter, "sensor") == expected
        half, derived = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
        argv = (client, ord(letter), b"sensor", identity, half, derived, None)
        assert library.tz_agree(*argv) == 0
        assert (half.raw, derived.raw) == (public, expected)


def test_a_key_agreement_tells_whoever_enrols_the_public_half(
    built: Path, module: ModuleType, tmp_path: Path
) -> None:
    ta = X25519PrivateKey.generate()
    identity = ta.public_key().public_bytes_raw()
    admin, sensor, panel = (tmp_path / name for name in ("admin", "sensor", "panel"))
    run(built, "key", "admin", str(admin))
    with admin.open("a", encoding="utf-8") as opened:  # `teemq claim` does it
        opened.write(f"identity {identity.hex()}\n")
    assert run(built, "key", "sensor", str(sensor), identity.hex()).returncode == 0
    module.Client(panel, "panel", identity.hex())
    for number, file in enumerate((sensor, panel)):
        secret, open_to_all = lines(file), lines(tmp_path / f"{file.name}.pub")
        public, key = bytes.fromhex(secret["public"]), bytes.fromhex(secret["key"])
        assert key == agreed(ta, public, b"A", file.name)
        assert file.stat().st_mode & 0o777 == 0o600
        assert open_to_all == {name: secret[name] for name in ("teemq", "id", "public", "identity")}
        done = run(built, "enrol", "--print", str(admin), f"{file}.pub", "r:tz/#")
        order, at = done.stdout, HEAD + len("admin")
        admins = AESGCM(bytes.fromhex(lines(admin)["key"]))
        plain = admins.decrypt(order[12:24], order[at:], order[:at] + bytes(2) + identity)
        name = file.name.encode()
        assert plain == b"A" + bytes([len(name)]) + name + public + b"r tz/#\n"
        assert int.from_bytes(order[4:8]) == number + 1
    assert lines(sensor)["key"] != lines(panel)["key"]
    # It opens and seals nothing, and another TA's administrator can't enrol it.
    assert run(built, "seal", f"{sensor}.pub", "tz/a").returncode == 2
    with admin.open("a", encoding="utf-8") as opened:
        opened.write(f"identity {bytes(32).hex()}\n")
    other = run(built, "enrol", "--print", str(admin), f"{sensor}.pub")
    assert (other.returncode, other.stdout) == (2, b"")
    assert b"sensor agreed on its key with another TA than admin's" in other.stderr


def test_a_wrapped_key_opens_with_what_the_ta_agrees_on(built: Path, tmp_path: Path) -> None:
    ta = X25519PrivateKey.generate()
    for name in ("admin", "sensor"):
        run(built, "key", name, str(tmp_path / name))
    identity = ta.public_key().public_bytes_raw()
    with (tmp_path / "admin").open("a", encoding="utf-8") as file:
        file.write(f"identity {identity.hex()}\n")
    order = run(built, "enrol", "--print", str(tmp_path / "admin"), str(tmp_path / "sensor")).stdout
    at = HEAD + len("admin")
    key = bytes.fromhex(lines(tmp_path / "admin")["key"])
    plain = AESGCM(key).decrypt(order[12:24], order[at:], order[:at] + bytes(2) + identity)
    assert plain[:8] == b"E\6sensor"
    wrapping = agreed(ta, plain[8:40], b"E", "sensor")
    opened = AESGCM(wrapping).decrypt(bytes(12), plain[40:], b"sensor")
    assert opened.hex() == lines(tmp_path / "sensor")["key"]


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        ((), 2, b"Usage: teemq COMMAND"),
        (("sael",), 2, b"teemq: there is no command sael\nUsage: teemq COMMAND"),
        (("seal",), 2, b"Usage: teemq seal KEY-FILE TOPIC"),
        (("key", "a/b", "FILE"), 2, b"is no client id"),
        (("key", "x" * 33, "FILE"), 2, b"is no client id"),
        (("key", "x", "FILE", "00"), 2, b"'00' is no enrolment key"),
        (("key", "x", "FILE", "00" * 32), 2, b"nothing can be agreed with this enrolment key"),
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
