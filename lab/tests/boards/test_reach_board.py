# SPDX-License-Identifier: BSD-2-Clause
"""Boards that are hard to reach into, made of the virtual board: a user without root in the group
of /dev/tee0, and one who is root by su alone."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import unprivileged_user
from teemark.base import paths
from teemark.boards import VirtualBoard, install
from teemark.cli import main as cli
from teemark.run import reader

pytestmark = [pytest.mark.board, pytest.mark.long(50)]

PLAN = """\
summary = "Both worlds."
[[cases]]
workload = "invoke"
algorithms = ["none", "refused", "pseudo"]
backends = ["tee"]
samples = 6
[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["tee", "ta-c", "c", "openssl"]
sizes = [64]
samples = 6
"""
WITHOUT_TAS = {"invoke/refused/tee/none", "invoke/pseudo/tee/none"}

HIDE = 'mkdir /data/tas && for ta; do mv "$ta" /data/tas; done'
SHOW = "cp -p /data/tas/*.ta /lib/optee_armtz; rm -rf /data/tas"


BENCH, DIGEST, PROBE = (f"{uuid}.ta" for uuid in (install.TAS[0], *install.TAS[3:5]))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TAs that the plan needs: each costs the TEE a third of a second."""
    folder = tmp_path_factory.mktemp("tas")
    for name in (BENCH, DIGEST, PROBE):
        shutil.copy(paths.built_tas() / name, folder)
    return folder


@pytest.fixture
def desk(qemu_v8: VirtualBoard) -> Iterator[VirtualBoard]:
    """The board has a user ann, and no TA of ours."""
    ours = [f"{qemu_v8.ta_directory}/{uuid}.ta" for uuid in install.TAS]
    qemu_v8.script(unprivileged_user.MAKE)
    qemu_v8.script(HIDE, *ours)
    try:
        yield qemu_v8
    finally:
        qemu_v8.script(SHOW)
        qemu_v8.script(unprivileged_user.UNMAKE)


def _told(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.run(list(words))
    told = capfd.readouterr()
    return status, told.out, " ".join(told.err.split())


def test_without_root_a_member_of_the_devices_group_measures(
    desk: VirtualBoard,
    few: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The TAs are somebody else's to install; what goes without them is measured until then."""
    hers = unprivileged_user.board_file(desk, tmp_path, su=False, tas=few)
    (tmp_path / "both.toml").write_text(PLAN)
    measure = ["run", "--board", hers, "--plan", f"{tmp_path}/both.toml", "--out"]
    status, _, err = _told(capfd, "setup", hers)
    assert status == 1
    assert "installed ~/.teemark/teebench" in err
    assert ".ta" not in err.partition("TA 0b7c")[0].partition("installed ~")[2]
    assert "no TA is installed; those" in err
    assert "/*.ta to /lib/optee_armtz" in err
    assert "3 of 3 TAs can't be used" in err

    status, _, err = _told(capfd, *measure, f"{tmp_path}/without")
    assert status == 1
    run = reader.read(tmp_path / "without")
    assert {skip.code for skip in run.skips} == {"no-ta"}
    keys = {case.key for case in run.sound}
    assert {key for key in keys if "/tee/" in key} == WITHOUT_TAS
    assert keys >= {"oneshot/sha256/c/64", "oneshot/sha256/openssl/64"}

    desk.script("cp /data/tas/*.ta /lib/optee_armtz")  # as the hint said, by root
    status, _, err = _told(capfd, *measure, f"{tmp_path}/with")
    assert status == 0, err
    run = reader.read(tmp_path / "with")
    assert not run.skips
    assert len(run.sound) == 7

    status, _, err = _told(capfd, "setup", "--remove", hers)
    assert status == 1
    assert "removed /data/home/ann/.teemark/" in err
    assert "no permission for /lib/optee_armtz/0b7c9a52" in err
    assert desk.script("ls -A /data/home/ann").text.split() == [".ssh"]


def test_root_by_su_without_a_password(
    desk: VirtualBoard,
    few: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    hers = unprivileged_user.board_file(desk, tmp_path, su=True, tas=few)
    (tmp_path / "both.toml").write_text(PLAN)
    status, _, err = _told(capfd, "setup", hers)  # root has a password there that fits nothing
    assert status == 1
    assert "this user doesn't become root there: su: incorrect password" in err
    assert "leave sudo and su out of the board file" in err

    desk.script(unprivileged_user.NO_PASSWORD)
    status, _, err = _told(capfd, "setup", hers)
    assert status == 0, err
    assert err.count("a session was opened") == 3
    files = "id -u; echo ~; stat -c '%U %n' /data/home/ann/.teemark/* /lib/optee_armtz/0b7c*3b.ta"
    there = desk.script(files).text.split()
    assert there.count("root") == 3, there

    status = cli.run(
        ["exec", hers, "--", "sh", "-c", 'echo "$(id -u) $HOME it\'s $1"', "sh", "o'k"]
    )
    assert (status, capfd.readouterr().out) == (0, "0 /data/home/ann it's o'k\n")

    measure = ["run", "--board", hers, "--plan", f"{tmp_path}/both.toml", "--out"]
    status, _, err = _told(capfd, *measure, f"{tmp_path}/run")
    assert status == 0, err
    assert len(reader.read(tmp_path / "run").sound) == 7
    status, _, err = _told(capfd, "setup", "--remove", hers)
    assert status == 0, err
    assert desk.script("ls -A /data/home/ann").text.split() == [".ssh"]
