# SPDX-License-Identifier: BSD-2-Clause
"""The release of `make dist` works where there is no checkout (`make test-packages`)."""

import hashlib
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import new_debian
from teemark.base import paths
from teemark.boards import VirtualBoard

pytestmark = [pytest.mark.packages]

DIST = paths.build() / "dist"
KINDS = ("aarch64-glibc", "aarch64-musl", "armhf-glibc", "armhf-musl")
PLAN = """\
summary = "Two cases."
[[cases]]
workload = "oneshot"
algorithms = ["sha256"]
backends = ["ce", "tee"]
sizes = ["4KiB"]
samples = 5
"""

Stranger = Callable[..., "subprocess.CompletedProcess[str]"]


def tool(kind: str, name: str) -> str:
    return ("aarch64-linux-gnu-" if kind.startswith("aarch64") else "arm-linux-gnueabihf-") + name


@pytest.mark.parametrize("kind", ["aarch64-glibc", "armhf-glibc"])
@pytest.mark.parametrize("program", ["teebench", "teehash"])
def test_no_program_asks_for_a_glibc_newer_than_2_28(kind: str, program: str) -> None:
    file = paths.build() / "host" / kind / program
    table = subprocess.run(
        [tool(kind, "objdump"), "-T", file], capture_output=True, text=True, check=True
    ).stdout
    wanted = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", table)}
    assert wanted
    assert max(wanted) <= (2, 28)


@pytest.mark.parametrize("kind", KINDS)
def test_known_answers_under_emulation(kind: str, tmp_path: Path) -> None:
    """The programs for each C library hash a file with portable code, and with CE on aarch64."""
    file = tmp_path / "file"
    file.write_bytes(os.urandom(100_001))
    architecture = kind.split("-", maxsplit=1)[0]
    emulator = {"aarch64": "qemu-aarch64-static", "armhf": "qemu-arm-static"}[architecture]
    root = paths.build() / "libc" / kind / "root"
    program = paths.build() / "host" / kind / "teehash"
    for backend in ("c", "ce") if architecture == "aarch64" else ("c",):
        done = subprocess.run(
            [emulator, "-L", root, program, f"--backend={backend}", file],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[0] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_release_has_the_same_bytes_each_time() -> None:
    before = (DIST / "SHA256SUMS").read_text()
    subprocess.run(["mk/dist", "build", sys.executable], cwd=paths.root(), check=True)
    assert (DIST / "SHA256SUMS").read_text() == before
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=DIST, check=True)


def test_a_release_has_the_documentation_as_a_site() -> None:
    (archive,) = DIST.glob("*-site.tar.gz")
    with tarfile.open(archive) as site:
        pages = {Path(name).name for name in site.getnames()}
    assert {f"{page.stem}.html" for page in (paths.root() / "docs").glob("*.md")} <= pages


@pytest.fixture(scope="module")
def stranger() -> Iterator[Stranger]:
    """Runs the wheel's teemark in a folder and a home of its own: as nobody where the tests are
    root's, with nothing of this environment."""
    place = Path(tempfile.mkdtemp(prefix="teemark-packages-"))
    place.chmod(0o755)
    (wheel,) = DIST.glob("*.whl")
    assert wheel.stat().st_size < 10e6
    subprocess.run(["/usr/bin/python3", "-m", "venv", place / "venv"], check=True)
    subprocess.run(
        [place / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", wheel], check=True
    )
    home = place / "home"
    home.mkdir()
    become: list[str] = []
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        become = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*become, place / "venv/bin/teemark", *words],
            cwd=home,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    run.home = home  # type: ignore[attr-defined]
    yield run
    shutil.rmtree(place)


def test_the_wheel_knows_its_plans_boards_and_figures(stranger: Stranger) -> None:
    assert "quick" in stranger("plan", "list").stdout
    assert "qemu-v8" in stranger("board", "list").stdout
    home: Path = stranger.home  # type: ignore[attr-defined]
    (home / "a.md").write_text("| size (MiB) | time (s) |\n|--|--|\n| 10 | 0.5 |\n")
    audit = stranger("audit", "a.md")
    assert audit.returncode == 0
    assert "figure" in audit.stdout + audit.stderr
    without = stranger("exec", "qemu-v8", "--", "true")
    assert without.returncode != 0
    assert "teemark vboard install" in without.stderr


def test_the_wheel_measures_a_board_over_ssh(stranger: Stranger, qemu_v8: VirtualBoard) -> None:
    """A board file that names an address and a key is all that it takes."""
    home: Path = stranger.home  # type: ignore[attr-defined]
    end = qemu_v8.endpoint
    assert end.identity is not None
    key = home / "key"
    key.write_bytes(Path(end.identity).read_bytes())
    key.chmod(0o600)
    known = Path(str(end.known_hosts)).read_text().split(None, 1)[1]
    (home / "known").write_text(f"[127.0.0.1]:{end.port} {known}")
    (home / "desk.toml").write_text(
        f'kind = "ssh"\naddress = "127.0.0.1"\nport = {end.port}\nuser = "root"\n'
        f'identity = "{key}"\ndirectory = "/tmp/ours"\n'
        f'options = ["UserKnownHostsFile={home}/known"]\n'
    )
    (home / "two.toml").write_text(PLAN)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "nobody:nogroup", home], check=True)
    done = stranger("run", "--board", "./desk.toml", "--plan", "./two.toml")
    assert done.returncode == 0, done.stderr
    report = home / "runs/latest/report.html"
    assert report.is_file()
    assert "oneshot/sha256/tee/4096" in report.with_name("run.ndjson").read_text()
    same = stranger("compare", "runs/latest", "runs/latest")
    assert same.returncode == 0, same.stderr
    assert stranger("report", "runs/latest").returncode == 0
    assert json.loads(stranger("doctor", "./desk.toml", "--json").stdout)["meaningful"] in (
        True,
        False,
    )
    asked = stranger("doctor", "./desk.toml", "--accelerators")
    assert "virtio_crypto_aes_cbc" in asked.stdout, asked.stderr
    watched = stranger(
        "watch", "--board", "./desk.toml", "--", "/tmp/ours/teehash", "/etc/hostname"
    )
    assert watched.returncode == 0, watched.stderr
    assert "report: " in watched.stdout
    assert stranger("setup", "--remove", "./desk.toml").returncode == 0


def make(*words: str, **env: str) -> None:
    done = subprocess.run(
        ["make", "-s", *words],
        cwd=paths.root(),
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


KIT = f"TA_DEV_KIT_DIR={paths.vboard() / 'ta_dev_kit'}"
CROSS = "CROSS_COMPILE=aarch64-linux-gnu-"


def machine_of(program: Path) -> str:
    header = subprocess.run(
        ["readelf", "-h", program], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"Machine: +(\S+)", header)
    assert found
    return found[1]


def test_the_form_of_optee_examples_builds_programs_and_tas(tmp_path: Path) -> None:
    """It stands as a folder of optee_examples: a link to ours, and their variables."""
    link = tmp_path / "teemark"
    link.symlink_to(paths.root() / "packaging/optee_examples/teemark")
    make("-C", str(link), KIT, CROSS, f"O={tmp_path}/out")
    try:
        assert machine_of(link / "host/optee_example_teemark") == "AArch64"
        assert len(list((link / "ta").glob("*.ta"))) == len(list(paths.built_tas().glob("*.ta")))
    finally:
        make("-C", str(link), "clean", f"O={tmp_path}/out")
    assert not list((link / "ta").glob("*.ta"))


ANDROID = """\
my-dir = $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CLEAR_VARS := clear.mk
BUILD_STATIC_LIBRARY := module.mk
BUILD_EXECUTABLE := module.mk
BUILD_OPTEE_MK := ta.mk
all:
include $(FOLDER)/Android.mk
"""
"""Android's build is in place of this: what Android.mk is told, and what it includes."""
CLEAR = """\
LOCAL_MODULE :=
LOCAL_SRC_FILES :=
LOCAL_CFLAGS_arm64 :=
LOCAL_STATIC_LIBRARIES :=
LOCAL_LDFLAGS :=
"""
MODULE = """\
objects := $(LOCAL_SRC_FILES:%.c=out/$(LOCAL_MODULE)/%.o)
compile := clang --target=aarch64-linux-gnu --sysroot=$(SYSROOT) -Wall -Wextra -Werror \\
	$(addprefix -I,$(LOCAL_C_INCLUDES)) $(LOCAL_CFLAGS) $(LOCAL_CFLAGS_arm64) -O0
$(objects): compile := $(compile)
$(objects): out/$(LOCAL_MODULE)/%.o: $(LOCAL_PATH)/%.c
	@mkdir -p $(@D)
	@$(compile) -c -o $@ $<
out/$(LOCAL_MODULE)/done: link := $(compile) $(LOCAL_LDFLAGS)
out/$(LOCAL_MODULE)/done: libraries := $(LOCAL_STATIC_LIBRARIES:%=out/%.a)
out/$(LOCAL_MODULE)/done: $(objects) $(LOCAL_STATIC_LIBRARIES:%=out/%/done)
	@$(if $(filter lib%,$(@:out/%/done=%)),aarch64-linux-gnu-ar rcs $(@D).a $(filter %.o,$^),\\
		$(link) -o $(@D).program $(filter %.o,$^) $(libraries) -ldl -lm)
	@touch $@
all: out/$(LOCAL_MODULE)/done
"""
TA = """\
out/$(local_module): folder := $(LOCAL_PATH)
out/$(local_module):
	@$(MAKE) -s -C $(folder) O=$(CURDIR)/out/$(notdir $(folder)) \\
		TA_DEV_KIT_DIR='$(TA_DEV_KIT_DIR)' CROSS_COMPILE64=aarch64-linux-gnu- >/dev/null
	@cp out/$(notdir $(folder))/$(@F) $@
all: out/$(local_module)
"""


def test_android_mk_names_all_that_programs_and_tas_are_made_of(tmp_path: Path) -> None:
    """By a stand-in for Android's build: clang, glibc and Debian's kit; bionic can't be had."""
    files = {"Makefile": ANDROID, "clear.mk": CLEAR, "module.mk": MODULE, "ta.mk": TA}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    folder = paths.root() / "packaging/optee_examples/teemark"
    places = [f"FOLDER={folder}", f"SYSROOT={paths.vboard()}/sysroot", KIT]
    make("-C", str(tmp_path), "-j2", *places, "all")
    for program in ("optee_example_teemark", "optee_example_teemark_hash"):
        assert machine_of(tmp_path / f"out/{program}.program") == "AArch64"
    known = {
        ta.name
        for ta in paths.built_tas().glob("*.ta")
        if not ta.name.startswith("6c1f9d34") and not ta.stem.endswith("743c")  # one of a folder
    }
    assert {ta.name for ta in (tmp_path / "out").glob("*.ta")} == known


RECIPES = {
    "buildroot": (
        {"CC": "aarch64-linux-gnu-gcc", "AR": "aarch64-linux-gnu-ar", "CFLAGS": "-Os"},
        "lib/optee_armtz",
    ),
    "yocto": (
        {
            "CC": f"aarch64-linux-gnu-gcc --sysroot={paths.vboard() / 'sysroot'}",
            "AR": "aarch64-linux-gnu-ar",
            "CFLAGS": "-O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2",
        },
        "usr/lib/optee_armtz",
    ),
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_steps_of_a_recipe_install_programs_and_tas(tmp_path: Path, recipe: str) -> None:
    """The commands of teemark.mk and teemark_0.1.0.bb run here, with the variables of their
    builders."""
    environment, tas = RECIPES[recipe]
    if recipe == "yocto":  # the cross compiler of this machine finds its own library so
        sysroot = paths.vboard() / "sysroot/usr/lib/aarch64-linux-gnu"
        environment |= {"LDFLAGS": f"-B{sysroot} -L{sysroot}"}
    into = [f"DESTDIR={tmp_path}/root", f"BUILD={tmp_path}/build"]
    make("-C", "host", "install", "ARCH=native", "PREFIX=/usr", *into, **environment)
    words = ("SET=all",) if recipe == "yocto" else ()
    make("-C", "ta", "install", KIT, CROSS, f"OUT={tmp_path}/ta", f"TADIR=/{tas}", *words, *into)
    for program in ("teebench", "teehash"):
        assert machine_of(tmp_path / "root/usr/bin" / program) == "AArch64"
    signed = list((tmp_path / "root" / tas).glob("*.ta"))
    without = 0 if recipe == "yocto" else 1  # the broker's
    assert len(signed) == len(list(paths.built_tas().glob("*.ta"))) - without
    assert all(file.stat().st_mode & 0o777 == 0o444 for file in signed)


CHROOT = """\
set -e
dpkg -i /debs/teebench_*.deb /debs/teehash_*.deb >/dev/null
sh /debs/installed
dpkg --purge teebench teehash >/dev/null
! ls -d /usr/bin/teebench /usr/bin/teehash /usr/share/doc/teebench 2>/dev/null
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a chroot is root's")
def test_debian_packages_in_a_clean_chroot(tmp_path: Path) -> None:
    """Those of this machine's architecture: installed, used as autopkgtest would, purged."""
    for program in ("dh", "lintian"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    native = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(["mk/deb", "build", native], cwd=paths.root(), check=True)
    debs = paths.build() / "deb" / native
    complaints = subprocess.run(
        ["lintian", "--no-cfg", "--allow-root", *debs.glob("*.changes")],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert complaints == ""
    root = tmp_path / "root"
    codename = subprocess.run(
        ["sh", "-c", '. /etc/os-release; echo "$VERSION_CODENAME"'],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    new_debian(root, codename)
    (root / "debs").mkdir()
    for file in debs.glob("*.deb"):
        shutil.copy(file, root / "debs")
    shutil.copy(paths.root() / "packaging/debian/tests/installed", root / "debs")
    done = subprocess.run(
        ["chroot", root, "sh", "-c", CHROOT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
