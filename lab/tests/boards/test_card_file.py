# SPDX-License-Identifier: BSD-2-Clause
"""The board file beside a card's image is a board file, and is never written over."""

from pathlib import Path

import pytest

from teemark.base.errors import UsageMistake
from teemark.boards import build, config, optee
from teemark.boards.config import SshConfig
from teemark.boards.optee import Optee
from teemark.boards.ta_kit import Kit
from teemark.cli.main import run


def test_the_board_file_of_a_card_is_whole_and_stays_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "step", lambda *_: None)
    made = Optee('an "OP-TEE"', Path("flash"), Path("images"), Kit(tmp_path / "kit"))
    monkeypatch.setattr(optee, "resolve", lambda _: made)
    key, file = tmp_path / 'a "key".pub', tmp_path / "pi3.toml"
    (tmp_path / "kit" / "mk").mkdir(parents=True)
    for name in ("ta_dev_kit.mk", "conf.mk"):
        (tmp_path / "kit" / "mk" / name).touch()
    key.write_text("ssh-ed25519 AAAA\n")
    words = ["vboard", "image", "rpi3", "-o", str(tmp_path / "pi3.img"), "--key", str(key)]
    assert run(words) == 0
    read = config.read(file).config
    assert isinstance(read, SshConfig)
    assert (read.address, read.identity) == ("teemark-pi3", str(key.with_suffix("")))
    file.write_text('kind = "ssh"\naddress = "10.0.0.9"\n')
    assert run(words) == 0
    assert "10.0.0.9" in file.read_text()
    assert f"{file} stays as it is" in capsys.readouterr().err


def test_a_wrong_key_is_said_before_op_tee_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optee, "resolve", lambda _: pytest.fail("OP-TEE was built"))
    key = tmp_path / "id_ed25519"
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    words = ["vboard", "image", "rpi3", "-o", str(tmp_path / "pi3.img"), "--key", str(key)]
    assert run(words) == UsageMistake("").exit_status
    assert f"{key} is no public key for ssh" in capsys.readouterr().err
