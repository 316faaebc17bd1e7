# SPDX-License-Identifier: BSD-2-Clause
"""A TLS server whose key is in OP-TEE's PKCS #11 (gnutls-serv of Debian), watched as docs/watch.md
says: the advice names what takes the time, and doing what it says saves what it predicts."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import bring
from teemark.boards import VirtualBoard, config
from teemark.exact.program import known_names
from teemark.findings.program import advice
from teemark.measure import watching
from teemark.measure.watching import Program, Ran

pytestmark = [
    pytest.mark.board,
    pytest.mark.exhaustive,
    pytest.mark.long(120),
]

PLACE = "/data/tls"
PROGRAMS = {"tls": ("gnutls-serv", "certtool"), "opensc": ("pkcs11-tool",)}
HANDSHAKES = 6

KEY = """\
cd "$1" && export LD_LIBRARY_PATH="$1"
M=/usr/lib/aarch64-linux-gnu/libckteec.so.0
tool() { ./pkcs11-tool --module $M "$@" >>setup.log 2>&1 || { cat setup.log; exit 1; }; }
tool --init-token --slot-index 0 --label tls --so-pin the-so-pin
tool --slot-index 0 --login --login-type so --so-pin the-so-pin --init-pin --new-pin the-user-pin
tool --token-label tls --login --pin the-user-pin --keypairgen --key-type EC:prime256v1 \
    --label server --id 01 --usage-sign
printf 'cn = localhost\\nexpiration_days = 365\\nsigning_key\\n' >template
U='pkcs11:token=tls;object=server'
./certtool --provider $M --generate-self-signed --template template --outfile cert.pem \
    --load-privkey "$U;type=private;pin-value=the-user-pin" --load-pubkey "$U;type=public"
"""
SERVER = """\
#!/bin/sh
# tls-server N full|resumed: serves N connections, with a key in the TEE
cd /data/tls || exit
rm -f session server.log
LD_LIBRARY_PATH=/data/tls ./gnutls-serv --http -p 4433 --x509certfile cert.pem \
    --provider /usr/lib/aarch64-linux-gnu/libckteec.so.0 \
    --x509keyfile 'pkcs11:token=tls;object=server;type=private;pin-value=the-user-pin' \
    >server.log 2>&1 &
server=$!
until grep -q 'port 4433...done' server.log; do sleep 1; done
unset LD_PRELOAD
i=0
while [ $i -lt $1 ]; do
  keep='-sess_out session'
  [ $2 = resumed ] && [ -s session ] && keep='-sess_in session'
  echo Q | openssl s_client -connect 127.0.0.1:4433 -tls1_2 $keep 2>&1 | grep -E '^(New|Reused), '
  i=$((i + 1))
done
kill $server
wait $server
exit 0
"""


@pytest.fixture(scope="module")
def board() -> Iterator[VirtualBoard]:
    """A board of its own, for the key stays in its token."""
    with VirtualBoard(config.find("qemu-v8-icount")) as made:
        bring(made, PLACE, PROGRAMS)
        made.script(KEY, PLACE, timeout=400)
        yield made


def served(board: VirtualBoard, folder: Path, how: str) -> Ran:
    program = folder / "tls-server"
    folder.mkdir()
    program.write_text(SERVER)
    asked = Program(("sh", "-c", f"exec tls-server {HANDSHAKES} {how}"), (program,))
    ran = watching.run(board, asked, folder / "run")
    assert ran.status == 0, ran.output
    return ran


def test_what_the_advice_predicts_is_saved(board: VirtualBoard, tmp_path: Path) -> None:
    names = known_names(board.kit, ())
    before = served(board, tmp_path / "full", "full")
    assert re.findall("^(New|Reused), ", before.output.read_text(), re.M) == ["New"] * HANDSHAKES
    first, *_ = advice(before.watched, names, exact=True)
    assert first.key == "program-dearest-command"
    assert "resumes sessions" in first.remedy
    assert first.saves is not None
    (calls,) = (figure.value for figure in first.figures if figure.what == "calls")
    # Two for each handshake, of which one asks for the size, and two when the server starts.
    assert calls == 2 + 2 * HANDSHAKES
    each = first.saves.value * before.watched.inside

    after = served(board, tmp_path / "resumed", "resumed")
    assert re.findall("^(New|Reused), ", after.output.read_text(), re.M) == [
        "New",
        *["Reused"] * (HANDSHAKES - 1),
    ]
    predicted = each * 2 * (HANDSHAKES - 1)
    saved = before.watched.inside - after.watched.inside
    print(f"{predicted:.0f} predicted, {saved} saved of {before.watched.inside}")
    assert saved == pytest.approx(predicted, rel=0.1)
