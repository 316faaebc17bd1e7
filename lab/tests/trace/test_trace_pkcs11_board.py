# SPDX-License-Identifier: BSD-2-Clause
"""`trace -- PROGRAM` of pkcs11-tool as it is (Debian's opensc), which signs with a key in OP-TEE:
what takes the time, and what another build of OP-TEE saves, predicted by a case of teebench."""

from pathlib import Path

import pytest

from conftest import fetched
from teemark.boards import config
from teemark.exact import program as programs
from teemark.exact import record
from teemark.exact.program import TracedProgram
from teemark.measure.watching import Program
from teemark.page import markdown
from teemark.report import program_page

pytestmark = [
    pytest.mark.board,
    pytest.mark.exhaustive,
    pytest.mark.long(300),
    pytest.mark.timeout(1800),
]

BOARD = "qemu-v8-icount"
CASE = "sign/ecdsa-p256/tee/none"
SIGN = "pkcs11: SIGN_ONESHOT"
MBEDTLS = ("CFG_CRYPTOLIB_NAME=mbedtls", "CFG_CRYPTOLIB_DIR=lib/libmbedtls")

SIGNS = """\
#!/bin/sh -e
# Makes a token with a P-256 key, unwatched, and signs a message with it, watched.
watched=$LD_PRELOAD
unset LD_PRELOAD
M=/usr/lib/aarch64-linux-gnu/libckteec.so.0
cd "$(mktemp -d)"
tool() { pkcs11-tool --module $M "$@"; }
tool --init-token --slot-index 0 --label desk --so-pin the-so-pin
tool --slot-index 0 --login --login-type so --so-pin the-so-pin --init-pin --new-pin the-pin
tool --token-label desk --login --pin the-pin --keypairgen --key-type EC:prime256v1 --id 01
echo 'to be signed' >message
export LD_PRELOAD=$watched
tool --token-label desk --login --pin the-pin --sign --id 01 --mechanism ECDSA-SHA256 \\
    -i message -o signature
wc -c <signature
"""


def signed(options: tuple[str, ...], folder: Path) -> tuple[TracedProgram, int]:
    """Returns pkcs11-tool's trace with such an OP-TEE, and the instructions of teebench's case."""
    folder.mkdir()
    file = record.with_optee(config.find(BOARD), "source", options)
    own = record.record(file, [CASE], folder / "own", 1).trace.case(CASE)
    assert own is not None
    script = folder / "signs"
    script.write_text(SIGNS)
    pushed = (script, *fetched({"opensc": ("pkcs11-tool",)}))
    traced = programs.record(file, Program(("signs",), pushed), folder / "run", (), 0)
    assert traced.ran.status == 0, traced.ran.output
    assert traced.ran.output.read_text().endswith("\n64\n")
    assert traced.unread == ()
    return traced, own.instructions


def cost(traced: TracedProgram) -> int:
    (kind,) = (kind for kind in traced.ran.watched.kinds(traced.names) if kind.name == SIGN)
    (call,) = kind.calls
    return call.ns


@pytest.mark.usefixtures("optee_source")
def test_what_takes_the_time_of_a_signature_and_what_another_build_saves(tmp_path: Path) -> None:
    before, own_before = signed((), tmp_path / "before")
    made = program_page.sections(before.ran, before.names, exact=True)
    made += program_page.traced(before.trace, tuple(programs.subtests(before.ran)))
    page = markdown.render("it", "", made, ()).replace("\\", "")
    assert f"of that is {SIGN}." in page
    assert f"{SIGN} takes 82" in page  # percent of what calls take; nearly all else is the log-in
    assert "command 31" not in page
    assert [section.key for section in made if section.key == "subtests"] == []
    (case,) = (case for case in before.trace.cases if case.case.startswith(SIGN))
    assert sum(node.self for node in case.nodes) == case.instructions
    assert 0 <= cost(before) - case.instructions < 400
    assert "[no file]" not in {function.name for function in case.functions}
    assert not any(lost.origin == "begin" for lost in case.lost)
    dearest = max(case.costs.values(), key=lambda one: one.self)
    assert (dearest.function.level, dearest.function.name) == ("S-EL1", "memset")

    after, own_after = signed(MBEDTLS, tmp_path / "after")
    predicted, saved = own_before - own_after, cost(before) - cost(after)
    print(f"{predicted} predicted, {saved} saved of {cost(before)}")
    assert predicted > 0.5 * own_before
    assert saved == pytest.approx(predicted, rel=0.1)
