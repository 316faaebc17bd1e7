# SPDX-License-Identifier: BSD-2-Clause
"""Board files: what is accepted, and how each mistake is named."""

from pathlib import Path

import pytest

from teemark.base import errors, paths
from teemark.boards import SshConfig, VirtualConfig, config
from teemark.plan.file import load_plan

SSH = 'kind = "ssh"\naddress = "192.0.2.1"\n'
VIRTUAL = 'kind = "virtual"\n'


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "kind: missing", "virtual"),
        ('kind = "serial"', "kind: 'serial' isn't known", "ssh"),
        ("kind = 3", "kind: must be a text, not 3", "ssh"),
        ('kind = "ssh"', "address: missing", None),
        ('kind = "ssh"\naddress = ""', "address", None),
        ('kind = "ssh"\naddress = "-oProxyCommand=x"', "address", None),
        (SSH + "prot = 22", "prot: no such key", "did you mean `port`?"),
        (SSH + "cores = 2", "cores: no such key", "known: kind, directory"),
        (SSH + "port = 0", "port: must be a whole number from 1 to 65535, not 0", None),
        (SSH + "port = 65536", "port: must be a whole number from 1 to 65535", None),
        (SSH + 'port = "22"', "port: must be a whole number", None),
        (
            SSH + 'sudo = "yes"',
            "sudo: must be true or false, not 'yes'",
            None,
        ),
        (SSH + "sudo = true\nsu = true", "su: sudo and su", "leave one of them out"),
        (SSH + "user = 7", "user: must be a text, not 7", None),
        (SSH + 'options = "ProxyJump=x"', "must be a list", None),
        (
            SSH + 'ta_kit = "export-ta_arm64"',
            "ta_kit: ",
            "begin it with / or, for your home directory, with ~/",
        ),
        (SSH + 'ta_key = "/k.pem"', "ta_key: a key without a kit", "name the kit, too"),
        (SSH + 'directory = "programs"', "directory", "begin it with /"),
        (SSH + "options = [1]", "options: must be a text, not 1", None),
        (VIRTUAL + "cores = 0", "cores", None),
        (VIRTUAL + "memory = 100", "memory", None),
        (VIRTUAL + 'devices = ["tpm"]', "devices: 'tpm' isn't known", "known: crypto, rng"),
        (VIRTUAL + "icount = true", "cores: 2, but icount needs 1", "set cores = 1"),
        (
            VIRTUAL + 'cores = 1\nicount = true\ndevices = ["rng"]',
            "devices: rng",
            "leave rng out",
        ),
        (
            VIRTUAL + 'system = "rpi3"\noptee = "source"\noptions = ["CFG_SHMEM_SIZE=0x800000"]',
            "options: with CFG_SHMEM_SIZE=0x800000 Linux would use OP-TEE's memory",
            "reserves 4 MiB",
        ),
        ("kind = ", "not valid TOML", None),
    ],
)
def test_mistakes_name_file_and_key(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        config.parse(text, "my.toml")
    assert caught.value.message.startswith("my.toml: ")
    assert message in caught.value.message
    if hint:
        assert hint in (caught.value.hint or "")


def test_ssh_board_defaults() -> None:
    board = config.parse(SSH, "x")
    assert isinstance(board, SshConfig)
    assert (board.user, board.port, board.identity, board.sudo) == (None, None, None, False)
    assert board.ta_directory is None


def test_boards_of_the_checkout_are_right() -> None:
    found = config.available()
    assert {"qemu-v8", "qemu-v8-icount"} <= set(found)
    for file in found.values():
        assert isinstance(file, config.BoardFile), file
    quick, exact = config.find("qemu-v8").config, config.find("qemu-v8-icount").config
    assert isinstance(quick, VirtualConfig)
    assert isinstance(exact, VirtualConfig)
    assert (quick.cores, quick.icount) == (2, False)
    assert (exact.cores, exact.icount) == (1, True)


def test_documented_example_is_a_valid_board() -> None:
    text = (paths.root() / "docs" / "boards.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    board = config.parse(example, "docs/boards.md")
    assert isinstance(board, SshConfig)
    keys = {line.split("=")[0].strip(" #") for line in example.splitlines() if "=" in line}
    assert set(SshConfig.__struct_fields__) <= keys, "every key is in the example"


def test_users_own_boards_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "teemark" / "boards"
    own.mkdir(parents=True)
    (own / "desk.toml").write_text(SSH)
    (own / "qemu-v8.toml").write_text(SSH)
    (own / "broken.toml").write_text("kind = 1")
    assert config.find("desk").config.kind == "ssh"
    assert config.find("qemu-v8").config.kind == "ssh"
    assert isinstance(config.available()["broken"], errors.ConfigError)


def test_a_user_chooses_the_default_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config.default_board() == "qemu-v8-icount"
    file = tmp_path / "teemark" / "config.toml"
    file.parent.mkdir()
    file.write_text('board = "qemu-v8"\n')
    assert config.default_board() == "qemu-v8"
    file.write_text('board = "nix"\n')
    with pytest.raises(errors.UnknownBoard, match=r"config.toml: board: there is no board named"):
        config.default_board()
    file.write_text('bord = "qemu-v8"\n')
    with pytest.raises(errors.ConfigError, match="bord"):
        config.default_board()


def test_a_plans_own_board_is_taken_once_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(paths, "systems", lambda: tmp_path)
    suited = load_plan("rpi3-secure-hash").board
    assert config.default_board(suited) == "qemu-v8-icount"
    (tmp_path / "rpi3").mkdir()
    (tmp_path / "rpi3" / "ready").touch()
    assert config.default_board(suited) == "qemu-rpi3"
    assert config.default_board(load_plan("quick").board) == "qemu-v8-icount"
    (tmp_path / "teemark").mkdir()
    (tmp_path / "teemark" / "config.toml").write_text('board = "qemu-v8"')
    assert config.default_board(suited) == "qemu-v8"  # the user's own word


def test_a_path_names_a_board(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(SSH)
    board = config.find(str(tmp_path / "b.toml"))
    assert (board.name, board.config.kind) == ("b", "ssh")


def test_unknown_board_is_a_usage_mistake_and_suggests() -> None:
    with pytest.raises(errors.UnknownBoard) as caught:
        config.find("qemu-v9")
    assert "did you mean qemu-v8" in (caught.value.hint or "")
    assert caught.value.exit_status == 2
    with pytest.raises(errors.UnknownBoard):
        config.find("./nothing.toml")
