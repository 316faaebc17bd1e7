# SPDX-License-Identifier: BSD-2-Clause
"""A program's calls into the TEE: the library that is preloaded, on this machine with a libteec
made here; what is read from its file; and what is said of it."""

import html
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import cast

import pytest

from teemark.base import paths, shutdown
from teemark.base.console import terminal as console
from teemark.base.errors import BoardError, CommandFailed, DataError, UsageMistake
from teemark.boards.board import Board
from teemark.boards.shell import Result
from teemark.exact import program as programs
from teemark.findings.program import advice
from teemark.measure import watching
from teemark.measure.memory import MemoryPool, MemoryStep
from teemark.measure.watching import Program, Ran, Wait
from teemark.page import terminal
from teemark.page.blocks import Table
from teemark.report import program_page
from teemark.trace import calls, deaths, names, symbols
from teemark.trace.calls import Maps, Param, TeeCall, WatchedCalls
from teemark.trace.names import Names
from teemark.trace.profile import CaseTrace, Function, Node
from teemark.wording import fmt
from waiting import PATIENCE_S, output_of, until

LIBRARY = paths.built_programs("native") / watching.LIBRARY
needs_library = pytest.mark.skipif(not LIBRARY.is_file(), reason="build/host/native isn't built")

TA = "0b7c9a52-31f4-4e0d-a866-5d902ce1743b"
SECRET = "not to be found in any record"

LIBTEEC = r"""
#include "tee_client_api.h"
TEEC_Result TEEC_RegisterSharedMemory(TEEC_Context *c, TEEC_SharedMemory *m) { return 0; }
TEEC_Result TEEC_AllocateSharedMemory(TEEC_Context *c, TEEC_SharedMemory *m) { return 0; }
void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *m) {}
TEEC_Result TEEC_OpenSession(TEEC_Context *c, TEEC_Session *s, const TEEC_UUID *u, uint32_t l,
  const void *d, TEEC_Operation *o, uint32_t *e) { return 0; }
void TEEC_CloseSession(TEEC_Session *s) {}
TEEC_Result TEEC_InvokeCommand(TEEC_Session *s, uint32_t k, TEEC_Operation *o, uint32_t *e)
{ TEEC_SharedMemory m = { 0 }; /* as libteec does with temporary memory */
  TEEC_RegisterSharedMemory(0, &m); TEEC_ReleaseSharedMemory(&m);
  if (e) *e = 4; return k == 9 ? 0xffff0006u : 0; }
"""

CLIENT = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tee_client_api.h"
TEEC_Result TEEC_OpenSession(TEEC_Context *, TEEC_Session *, const TEEC_UUID *, uint32_t,
  const void *, TEEC_Operation *, uint32_t *);
void TEEC_CloseSession(TEEC_Session *);
TEEC_Result TEEC_InvokeCommand(TEEC_Session *, uint32_t, TEEC_Operation *, uint32_t *);
TEEC_Result TEEC_AllocateSharedMemory(TEEC_Context *, TEEC_SharedMemory *);
void TEEC_ReleaseSharedMemory(TEEC_SharedMemory *);
static TEEC_Session s;
static char secret[] = "SECRET";
static void *work(void *no)
{ TEEC_Operation o = { .paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_TEMP_INPUT, TEEC_VALUE_OUTPUT,
    0, 0) };
  o.params[0].tmpref.buffer = secret; o.params[0].tmpref.size = sizeof(secret);
  for (int i = 0; i < 10; i++) TEEC_InvokeCommand(&s, 1, &o, NULL);
  return no; }
int main(void)
{ TEEC_UUID u = { 0x0b7c9a52, 0x31f4, 0x4e0d,
    { 0xa8, 0x66, 0x5d, 0x90, 0x2c, 0xe1, 0x74, 0x3b } };
  TEEC_SharedMemory m = { .size = 4096 };
  TEEC_Operation o = { .paramTypes = TEEC_PARAM_TYPES(TEEC_MEMREF_WHOLE,
    TEEC_MEMREF_PARTIAL_OUTPUT, 0, 0) };
  uint32_t e = 0;
  pthread_t t;
  o.params[0].memref.parent = o.params[1].memref.parent = &m; o.params[1].memref.size = 100;
  TEEC_OpenSession(NULL, &s, &u, 0, NULL, NULL, NULL);
  TEEC_AllocateSharedMemory(NULL, &m);
  if (TEEC_InvokeCommand(&s, 9, &o, &e) != 0xffff0006u || e != 4) return 3;
  pthread_create(&t, NULL, work, NULL); work(NULL); pthread_join(t, NULL);
  if (!fork()) { work(NULL); _exit(0); }
  wait(NULL);
  TEEC_ReleaseSharedMemory(&m); TEEC_CloseSession(&s);
  puts(secret); return 5; }
"""

PLUGIN_USER = r"""
#include <dlfcn.h>
int main(int n, char **v) { void *h = dlopen(v[1], RTLD_NOW | RTLD_LOCAL);
  return h ? ((int (*)(void))dlsym(h, "call"))() : 9; }
"""

LOOKING_UP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include "tee_client_api.h"
typedef TEEC_Result invoke(TEEC_Session *, uint32_t, TEEC_Operation *, uint32_t *);
int next(void); /* of its own library: RTLD_NEXT means what stands behind that */
static invoke *call;
/* Exported for modules, as by teebench: a module's calls come here and go on to libteec. */
TEEC_Result TEEC_InvokeCommand(TEEC_Session *s, uint32_t k, TEEC_Operation *o, uint32_t *e)
{ return call(s, k, o, e); }
int main(int n, char **v) { void *h = dlopen(v[1], RTLD_NOW | RTLD_LOCAL);
  TEEC_Session s; TEEC_Operation o = { 0 };
  call = (invoke *)dlsym(h, "TEEC_InvokeCommand");
  return dlsym(h, "TEEC_Nonesuch") || call(&s, 9, &o, 0) != 0xffff0006u ? 9 : next(); }
"""

NEXT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int puts(const char *s) { return 7; }
int next(void) { return ((int (*)(const char *))dlsym(RTLD_NEXT, "puts"))("next") == 7; }
"""


class Here:
    """This machine as a board: what watching.run needs of one."""

    name = "here"

    def __init__(self, path: str) -> None:
        self.env = {**os.environ, "LD_LIBRARY_PATH": path}
        self.limits: list[float | None] = []

    def architecture(self) -> str:
        return "native"

    def held_folder(self, parent: str) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(dir=parent)

    def pull(self, source: str, local: Path, *, most: int) -> None:
        assert Path(source).stat().st_size <= most
        shutil.copy(source, local)

    def secure_log(self, _after: int) -> tuple[int, bytes]:
        return 0, b""

    def push(self, local: Path, target: str, *, mode: int | None = None) -> None:
        shutil.copy(local, target)
        Path(target).chmod(mode or 0o644)

    def capture(
        self, argv: Sequence[str], *, stdin: bytes = b"", check: bool = True, **_: object
    ) -> Result:
        done = subprocess.run(argv, input=stdin, capture_output=True, check=False, env=self.env)
        if check and done.returncode:
            raise CommandFailed("failed")
        return Result(done.returncode, done.stdout, done.stderr)

    def script(self, text: str, *args: str, stdin: bytes = b"", check: bool = True) -> Result:
        return self.capture(["sh", "-c", text, "sh", *args], stdin=stdin, check=check)

    @contextmanager
    def stream(self, argv: Sequence[str]) -> Iterator["Here"]:
        self.process = subprocess.Popen(argv, env=self.env, start_new_session=True)
        with self.process, shutdown.telling(lambda signum: os.killpg(self.process.pid, signum)):
            yield self

    def copy(self, _take: object, timeout: float | None) -> int:
        self.limits.append(timeout)
        return self.process.wait()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("watch")
    include = f"-I{paths.root()}/host/include"

    def gcc(name: str, text: str, *options: str) -> None:
        source = made / f"{name}.c"
        source.write_text(text.replace("SECRET", SECRET))
        argv = ["gcc", "-w", include, str(source), "-o", str(made / name), *options]
        subprocess.run(argv, check=True)

    gcc("libteec.so.2", LIBTEEC, "-shared", "-fPIC")
    teec = str(made / "libteec.so.2")
    gcc("client", CLIENT, teec, "-pthread")
    gcc("libuser.so", CLIENT.replace("int main", "int call"), "-shared", "-fPIC", teec)
    gcc("loader", PLUGIN_USER, "-ldl")
    gcc("libnext.so", NEXT, "-shared", "-fPIC")
    gcc("looks_up", LOOKING_UP, str(made / "libnext.so"), "-ldl", "-rdynamic")
    gcc("static", "int main(void) { return 0; }", "-static")
    return made


def watched_here(folder: Path, place: Path, *argv: str) -> Ran:
    board = cast(Board, Here(str(folder)))
    return watching.run(board, Program(argv, (folder / "client",)), place)


@needs_library
def test_a_program_may_run_longer_than_a_question_to_the_board(
    folder: Path, tmp_path: Path
) -> None:
    here = Here(str(folder))
    watching.run(cast("Board", here), Program(("client",), (folder / "client",)), tmp_path)
    assert here.limits == [None]


WATCHING = f"""\
import sys
from pathlib import Path
from teemark.base import shutdown
from test_watch import watched_here

shutdown.GRACE_S = shutdown.PATIENCE_S = shutdown.LAST_S = {PATIENCE_S}
shutdown.install()
ran = watched_here(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
print(ran.status, len(ran.watched.calls))
"""


@needs_library
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_was_called_before_the_first_signal_is_kept(
    folder: Path, tmp_path: Path, how: signal.Signals
) -> None:
    """A server never ends by itself: a signal ends it, and its calls are what was asked for."""
    begun = tmp_path / "begun"
    text = f'client; echo >"{begun}"; exec sleep 6000'
    with subprocess.Popen(
        [sys.executable, "-c", WATCHING, str(folder), str(tmp_path / "kept"), "sh", "-c", text],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    ) as process:
        until("the calls to be made", lambda: begun.exists() or process.poll() is not None)
        process.send_signal(how)
        status, calls = map(int, output_of(process)[0].split()[-2:])
    assert status == 128 + how
    whole = watched_here(folder, tmp_path / "whole", "client")
    assert calls == len(whole.watched.calls) > 10


@needs_library
def test_every_call_of_threads_and_forks_is_kept_and_nothing_in_buffers(
    folder: Path, tmp_path: Path
) -> None:
    ran = watched_here(folder, tmp_path, "client")  # pushed, and found by its name
    assert ran.status == 5
    assert ran.output.read_text() == SECRET + "\n"
    watched = ran.watched
    by = {f: [c for c in watched.calls if c.function == f] for f in calls.FUNCTIONS}
    # libteec's own calls of itself, within a command, are none of the program's
    assert {f: len(found) for f, found in by.items()} == {
        "open": 1, "close": 1, "invoke": 31, "register": 0, "allocate": 1, "release": 1,
    }  # fmt: skip
    assert (watched.lost, watched.processes) == (0, 1)
    assert {call.ta for call in by["invoke"]} == {TA, ""}  # the child knows of no opening
    threads = {call.thread for call in by["invoke"]}
    assert len(threads) == 3
    assert len({call.process for call in by["invoke"]}) == 2
    (failed,) = [call for call in watched.calls if call.result]
    assert (failed.command, failed.result) == (9, 0xFFFF0006)
    assert failed.params == (Param("allocated inout", 4096), Param("allocated out", 100))
    assert by["invoke"][-1].params == (
        Param("temporary in", len(SECRET) + 1),
        Param("value out", None),
    )
    assert by["allocate"][0].size == 4096
    assert SECRET.encode() not in (tmp_path / "calls.bin").read_bytes()
    at = ran.maps[failed.process].find(failed.caller)
    assert at is not None
    assert Path(at[0]).name == "client"
    assert all(call.begin <= call.end for call in watched.calls)
    assert 0 < watched.own_ns < 20_000


@needs_library
def test_libteec_in_a_library_that_is_opened_at_run_time(folder: Path, tmp_path: Path) -> None:
    """PKCS #11 modules are so."""
    loader, library = str(folder / "loader"), str(folder / "libuser.so")
    ran = watched_here(folder, tmp_path, loader, library)
    assert ran.status == 5
    assert sum(call.function == "invoke" for call in ran.watched.calls) == 31


@needs_library
def test_a_program_that_looks_libteec_up_and_what_comes_next_stays(
    folder: Path, tmp_path: Path
) -> None:
    """teebench and Python's ctypes do so. RTLD_NEXT depends on the caller, which has to stay."""
    shutil.copy(folder / "libteec.so.2", other := tmp_path / "another-libteec.so")
    ran = watched_here(folder, tmp_path / "looked", str(folder / "looks_up"), str(other))
    assert (ran.status, ran.output.read_text()) == (0, "next\n")
    (call,) = ran.watched.calls
    assert (call.function, call.command, call.result) == ("invoke", 9, 0xFFFF0006)
    ctypes = f"import ctypes; ctypes.CDLL('{other}').TEEC_InvokeCommand(b'0' * 99, 1, None, None)"
    ran = watched_here(folder, tmp_path / "python", sys.executable, "-c", ctypes)
    assert [(call.function, call.command) for call in ran.watched.calls] == [("invoke", 1)]


@needs_library
def test_much_output_and_many_calls_are_kept(folder: Path, tmp_path: Path) -> None:
    """More than 16 MiB of either ended in an error without a report."""
    loud = f"head -c 20000000 /dev/zero | tr '\\0' x; client; exec {folder}/client"
    ran = watched_here(folder, tmp_path, "sh", "-c", loud)
    assert ran.output.stat().st_size > 20_000_000
    assert sum(call.function == "invoke" for call in ran.watched.calls) == 62
    text = EVENTS * 31_000  # 62,000 complete calls
    assert len(text) > 16 << 20
    seen = attached(f"7.00 5.00\n9.50 6.00\noverrun: 0\n{text}", 0, tmp_path / "attached")
    assert len(seen.watched.calls) == 62_000


@needs_library
def test_what_cannot_be_watched_is_refused_with_the_reason(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=r"no process of .*static could be watched"):
        watched_here(folder, tmp_path, str(folder / "static"))
    with pytest.raises(BoardError, match=r"no process of nonesuch could.*not found"):
        watched_here(folder, tmp_path, "nonesuch")
    (tmp_path / "script").write_text(f"#!{folder}/static\n")
    (tmp_path / "script").chmod(0o755)
    with pytest.raises(BoardError, match=r"no process of .*script could be watched"):
        watched_here(folder, tmp_path / "x", str(tmp_path / "script"))


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "calls.bin"
    file.write_bytes(b"TWATCH1")
    with pytest.raises(DataError, match="no record of a program's calls"):
        calls.read(file)
    head = bytearray(calls.HEAD.itemsize)
    head[:8] = b"TWATCH1\0"
    head[8] = head[16] = 9
    file.write_bytes(head)
    with pytest.raises(DataError, match="its end is missing"):
        calls.read(file)


def test_names_of_a_header_and_of_a_file(tmp_path: Path) -> None:
    header = tmp_path / "my_ta.h"
    header.write_text(
        "#define TA_MY_UUID \\\n\t{ 0x0b7c9a52, 0x31f4, 0x4e0d, \\\n"
        "\t\t{ 0xa8, 0x66, 0x5d, 0x90, 0x2c, 0xe1, 0x74, 0x3b } }\n"
        "#define TA_MY_CMD_INC 0\n#define TA_MY_CMD_DEC\t0x10 /* x */\n"
        "enum { MY_CMD_SIGN = 5, };\n"
    )
    found = names.read([header])
    assert found.ta(TA) == "my"
    assert [found.command(TA, number) for number in (0, 16, 5, 7)] == [
        "INC", "DEC", "SIGN", "command 7",
    ]  # fmt: skip
    file = tmp_path / "names.toml"
    file.write_text(f'["{TA}"]\nname = "mine"\ncommands = {{ 0 = "UP" }}\n')
    both = names.read([header, file])
    assert (both.ta(TA), both.command(TA, 0), both.command(TA, 5)) == ("mine", "UP", "SIGN")
    file.write_text('["x"]\nname = 1\n')
    with pytest.raises(UsageMistake, match="no file of names"):
        names.read([file])


def test_names_that_no_header_of_the_kit_has() -> None:
    found = names.read([names.KNOWN])
    pkcs11 = "fd02c9da-306c-48c7-a49c-bbd827ae86ee"
    assert (found.ta(pkcs11), found.command(pkcs11, 31)) == ("pkcs11", "SIGN_ONESHOT")
    assert found.command(pkcs11, 50) == "GENERATE_KEY_PAIR"


def call(function: calls.Function, begin: int, ns: int = 1000, **more: object) -> TeeCall:
    known: dict[str, object] = {"ta": TA, "command": 1, "process": 1, "thread": 1, "caller": 16}
    known |= {"params": (), "size": 0, "result": 0, "window": None, "printed": 0, "session": 1}
    if function in ("register", "allocate", "release"):
        known |= {"ta": "", "session": 0}
    return TeeCall(function=function, begin=begin, end=begin + ns, **{**known, **more})  # type: ignore[arg-type]


def watched(*made: TeeCall) -> WatchedCalls:
    return WatchedCalls(made, lost=0, processes=1, own_ns=3)


def keys(*made: TeeCall) -> dict[str, float | None]:
    return {f.key: f.saves.value if f.saves else None for f in advice(watched(*made), Names())}


def test_a_session_for_each_call_is_told_with_what_it_costs() -> None:
    one = (call("open", 0, 5000), call("invoke", 6000), call("close", 8000, 2000))
    many = [c for number in range(4) for c in one for c in (call(c.function, number, c.ns),)]
    assert keys(*many) == {"program-session-per-call": pytest.approx(21_000 / 32_000)}
    assert keys(*many[:6]) == {}  # two sessions are no habit
    assert keys(*many, *(call("invoke", n) for n in range(5))) == {}  # more than two a session


def test_temporary_memory_and_small_pieces_are_told() -> None:
    def pieces(count: int, kind: str, size: int) -> list[TeeCall]:
        return [call("invoke", n, params=(Param(kind, size),)) for n in range(count)]

    assert keys(*pieces(3, "temporary out", 9)) == {"program-temporary-memory": None}
    assert keys(*pieces(2, "temporary out", 9)) == {}
    assert keys(*pieces(16, "registered in", 4096)) == {
        "program-small-pieces": pytest.approx(15 / 16)
    }
    assert keys(*pieces(16, "registered in", 4097)) == {}
    assert keys(*pieces(15, "registered in", 4096)) == {}


def test_memory_that_is_made_for_each_command_is_told() -> None:
    one = [call("allocate", 0, 700), call("invoke", 1), call("release", 2, 300)]
    assert keys(*one * 3) == {"program-memory-per-call": pytest.approx(2000 / 6000)}
    assert keys(*one * 2) == {}
    assert keys(*one * 3, *[call("invoke", 1)] * 4) == {}


def test_a_command_that_takes_most_of_the_time_is_told_with_what_each_call_less_saves() -> None:
    """Calls that only ask for a size are among a signature's."""
    dear = [call("invoke", n, 1_000_000 if n % 2 else 10_000, command=7) for n in range(4)]
    cheap = [call("invoke", n, 20_000) for n in range(3)]
    told = keys(*dear, *cheap)
    assert told == {"program-dearest-command": pytest.approx(505_000 / 2_080_000)}
    assert keys(*dear[:2], *cheap) == {"program-dearest-command": None}  # two are no habit
    assert keys(*dear) == {}  # nothing shows what the way alone takes
    assert keys(*dear, *(call("invoke", n, 60_000) for n in range(3))) == {}
    many = [call("invoke", n, 20_000, command=2) for n in range(110)]
    assert "program-dearest-command" not in keys(*dear, *many)


EVENTS = """\
   client-11    [000] .....    1.000010: optee_invoke_fn_begin: param=00000000 (4, 0, 0, 0)
   client-11    [000] .....    1.000012: optee_invoke_fn_end: param=00000000 (ffff0005, 0, 0, 0)
   client-11    [000] .....    1.000015: optee_invoke_fn_begin: param=00000000 (3, 0, 0, 0)
   client-11    [000] .....    1.000019: optee_invoke_fn_end: param=00000000 (0, 0, 0, 0)
   client-11    [000] .....    1.000030: optee_invoke_fn_begin: param=00000000 (3, 0, 0, 0)
   client-11    [000] .....    1.000033: optee_invoke_fn_end: param=00000000 (0, 0, 0, 0)
"""


def ran(*made: TeeCall, events: str | None = None) -> Ran:
    legs = None if events is None else tuple(watching.legs(events.splitlines()))
    return Ran(
        watched(*made), 0, Path("output.txt"), {1: Maps("10-20 r-xp 0 0:0 0 /bin/it\n")}, legs, 0
    )


def test_the_kernels_tracepoints_are_held_against_the_calls(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = call("invoke", 1_000_009_500, 10_000, thread=11)
    with_events = ran(one, events=EVENTS)
    assert with_events.legs is not None
    assert [leg.rpc for leg in with_events.legs] == ["commands", "", ""]
    made = program_page.sections(with_events, Names(), exact=False)
    terminal.show(console(120), [block for section in made for block in section.blocks])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "count 1 complete call within the 1 calls of sessions, as many; besides 1 by client."
        in shown
    )
    assert "1 commands" in shown
    assert "100 % 10.0 µs 10.0 µs 10.0 µs 6.00 µs 1 commands" in shown
    assert "it+0x" in shown
    without = program_page.sections(ran(one), Names(), exact=False)
    terminal.show(console(120), without[0].blocks)
    assert "nothing to compare the counts with" in " ".join(capsys.readouterr().out.split())


def test_the_most_memory_of_the_tee_is_shown_where_it_has_statistics(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pools = [(MemoryPool("TA RAM", 0, most, 9, 0, 0),) for most in (0, 190_000)]
    known = tuple(MemoryStep("all", *at) for at in zip(("before", "after"), pools, strict=True))
    unknown = tuple(MemoryStep("all", step, unknown="no") for step in ("before", "after"))
    one = call("invoke", 1_000_009_500, 10_000, thread=11)
    made = [
        program_page.sections(replace(ran(one), memory=steps), Names(), exact=False)
        for steps in (known, unknown, ())
    ]
    found = [section for sections in made for section in sections if section.key == "memory"]
    assert len(found) == 1
    terminal.show(console(120), found[0].blocks)
    said = " ".join(capsys.readouterr().out.replace(fmt.THIN, " ").split())
    assert "program pool at most when closed" in said  # no column of a case's steps
    assert "TA RAM +190 000 0" in said


WAITS = """\
   client-11    [000] .....    1.000010: wait_thread: (optee_cq_wait_for_completion+0x0/0xb0)
   client-11    [000] .....    1.000030: done_thread: (optee_do_call+0x1/0x2 <- optee_cq_wait)
   client-11    [000] .....    1.000040: wait_lock: (optee_notif_wait+0x0/0xb0 [optee])
   client-12    [001] .....    1.000041: wait_supplicant: (optee_supp_thrd_req+0x0/0xb0 [optee])
   client-11    [000] .....    1.000050: done_lock: (optee_rpc_cmd+0x1/0x2 <- optee_notif_wait)
   client-12    [001] .....    1.000071: done_supplicant: (optee_rpc_cmd+0x1/0x2 <- x)
   client-12    [001] .....    1.000090: wait_lock: (optee_notif_wait+0x0/0xb0 [optee])
"""


@pytest.mark.parametrize(
    ("other", "session", "span", "lock"),
    [
        (7, 7, (45, 50), "another call of the session 1 10.0 µs"),
        (8, 7, (45, 50), "the TA's only instance, or another lock 1 10.0 µs"),
        (0, 0, (45, 50), "a lock in the TEE 1 10.0 µs"),
        # It held the lock, and returned before the kernel heard of the wait at 40 µs.
        (7, 7, (20, 15), "another call of the session 1 10.0 µs"),
        # It returned before the wait before ended, at 30 µs.
        (7, 7, (20, 9), "the TA's only instance, or another lock 1 10.0 µs"),
    ],
)
def test_what_calls_wait_for_is_named(
    other: int, session: int, span: tuple[int, int], lock: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wait that hasn't ended, and one outside of the calls, count for nothing."""
    waits = tuple(watching.waits([*WAITS.splitlines(), *EVENTS.splitlines()]))
    assert [(wait.thread, wait.what, wait.end - wait.begin) for wait in waits] == [
        (11, "thread", 20_000),
        (11, "lock", 10_000),
        (12, "supplicant", 30_000),
    ]
    begin, ns = (us * 1000 for us in span)
    one = call("invoke", 1_000_005_000, 50_000, thread=11, session=session)
    two = call("invoke", 1_000_000_000 + begin, ns, thread=13, session=other)
    made = program_page.sections(replace(ran(one, two), waits=waits), Names(), exact=False)
    (section,) = [section for section in made if section.key == "waits"]
    terminal.show(console(160), section.blocks)
    shown = " ".join(capsys.readouterr().out.split())
    share = " ".join(fmt.share(20 / (50 + span[1])).split())
    assert f"a thread of OP-TEE 1 20.0 µs {share}" in shown
    assert lock in shown
    assert "supplicant" not in shown


class Counted(TeeCall):
    """A call that counts how often its end is asked for."""

    __slots__ = ()
    asked = 0

    def __getattribute__(self, name: str) -> object:
        Counted.asked += name == "end"
        return super().__getattribute__(name)


def _asked(number: int) -> int:
    """Returns how often the ends of so many calls, each of which waits, are asked for."""
    plain = [call("invoke", 50_000 * n, 40_000, thread=11, session=7) for n in range(number)]
    calls = [Counted(*(getattr(one, word.name) for word in fields(TeeCall))) for one in plain]
    waits = tuple(Wait(11, c.begin + 5_000, c.begin + 15_000, "lock") for c in calls)
    Counted.asked = 0
    made = program_page.sections(replace(ran(*calls), waits=waits), Names(), exact=False)
    (section,) = [section for section in made if section.key == "waits"]
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert table.rows[0][:2] == ("the TA's only instance, or another lock", fmt.count(number))
    return Counted.asked


def test_the_work_of_judging_waits_grows_with_the_calls() -> None:
    """Each wait was held against every call: minutes for a busy program."""
    assert _asked(2000) < 2.5 * _asked(1000)


class Attached:
    """A board whose answer to watch.sh is known."""

    name = "there"

    def __init__(self, text: str, status: int) -> None:
        self.text, self.status = text, status

    @contextmanager
    def stream(self, _argv: Sequence[str]) -> Iterator["Attached"]:
        yield self

    def error(self, what: str) -> BoardError:
        return BoardError(what)

    def copy(self, take: Callable[[bytes], object], _timeout: float | None) -> int:
        take(self.text.encode())
        return self.status


def attached(text: str, status: int, folder: Path) -> Ran:
    return watching.attach(cast("Board", Attached(text, status)), 11, 9, folder)


def test_a_process_that_runs_already_is_shown_as_the_kernel_saw_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    under_way = EVENTS.splitlines(keepends=True)[0].replace("1.000010", "1.000040")
    later = under_way.replace("begin", "end").replace("(4", "(ffff0004").replace("40", "41")
    text = f"7.00 5.00\n9.50 6.00\noverrun: 3\n{EVENTS}{under_way}{later}"
    seen = attached(text, 0, tmp_path)
    assert [(c.begin - 10**9, c.ns, c.thread) for c in seen.watched.calls] == [
        (10_000, 9000, 11), (30_000, 3000, 11),
    ]  # fmt: skip
    made = program_page.sections(seen, Names(), exact=False)
    assert [section.key for section in made] == ["answer", "calls"]
    terminal.show(console(120), [block for section in made for block in section.blocks])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "Process 11 in 2.5 s: 2 calls into the TEE took 12.0 µs: 9.00 µs in the secure world, the "
        "rest for 1 RPC."
    ) in shown
    assert "TA, command, what crosses, who calls" in shown
    assert "1 call hadn't ended; 3 events found no room" in shown
    assert "client, thread 11 2 12.0 µs 100 %" in shown


def test_a_process_that_cannot_be_watched_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match="there is no process 11"):
        attached("", 3, tmp_path)
    with pytest.raises(BoardError, match="tracepoints can't be used"):
        attached("", 4, tmp_path)
    for text in ("", "noon\n", "7.00 5.00\n", "1.00 1.00\n" * 3, "9" * 20 + ".00 1.0\n" * 2):
        with pytest.raises(BoardError, match="there: its answer about process 11 can't be under"):
            attached(text, 0, tmp_path)


def test_events_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FETCHED_MAX", 1 << 20)
    with pytest.raises(BoardError, match="sends more than 1 MiB of events"):
        attached("7.00 5.00\n" * 200_000, 0, tmp_path)


def test_a_traced_call_is_shown_without_the_time_that_the_guest_slept() -> None:
    """How long its disk takes depends on the host: it would be told as instructions."""
    idle = Function("EL1", "kernel", "cpu_do_idle")
    slept, awake = (
        CaseTrace("it", 40, (), (function,), (Node(-1, 0, 40, 1),))
        for function in (idle, Function("EL1", "kernel", "main"))
    )
    made = watched(*(call("invoke", n, 1000, window=n or None) for n in range(3)))
    found = programs.awake(made, {1: slept, 2: awake})
    assert [one.ns for one in found.calls] == [1000, 40, 1000]


DEAD, SHORT = 0xFFFF3024, 0xFFFF0010
CONSOLE = """\
D/LD:  ldelf:176 ELF (0b7c9a52-31f4-4e0d-a866-5d902ce1743b) at 0x8008a000
E/TC:? 0 TA panicked with code 0xbeef
E/LD:  Status of TA 0b7c9a52-31f4-4e0d-a866-5d902ce1743b
E/LD:   arch: aarch64
E/LD:  region  0: va 0x80005000 pa 0x0e1dc000 size 0x002000 flags rw-s (ldelf)
E/LD:   [0] 0b7c9a52-31f4-4e0d-a866-5d902ce1743b @ 0x8008a000
E/LD:   [1] ffd2bded-ab7d-4988-95ee-e4962fff7154 @ 0x8001f000
E/LD:  Call stack:
E/LD:   0x8008c118
E/LD:   0x80029924
E/LD:   0x00000004
D/TC:? 0 tee_ta_invoke_command:802 Error: ffff3024 of 3
E/TC:? 0 User mode undef-abort at address 0x8008a598
E/LD:  Status of TA 5b9e0e40-2636-11e1-ad9e-0002a5d5c51b
"""


def test_the_secure_console_tells_how_tas_died() -> None:
    first, second = deaths.deaths(CONSOLE.replace("\n", "\r\n"))
    assert (first.ta, first.why) == (TA, "panic with code 0xbeef")
    assert first.stack == (
        (TA, 0x2118), ("ffd2bded-ab7d-4988-95ee-e4962fff7154", 0xA924), ("", 4),
    )  # fmt: skip
    assert first.frames({}) == "0b7c9a52+0x2118 ← ffd2bded+0xa924 ← 0x4"
    table = symbols.SymbolTable([symbols.Symbol(0x2100, 64, "my_panic")])
    elf = symbols.Elf(Path("x"), "x", (), table)
    assert first.frames({TA: elf}) == "my_panic+0x18 ← ffd2bded+0xa924 ← 0x4"
    assert (second.why, second.stack) == ("undef-abort", ())
    assert deaths.deaths("E/LD:   0x4\n" * 9) == []


def test_failures_are_named_and_a_size_that_is_asked_for_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """34 deaths of a TA were told as "0xffff3024 34 times", questions for a size as failures."""
    dead = {"result": DEAD, "origin": 3, "command": 7, "session": 4}
    seen = ran(
        *(call("invoke", n, result=SHORT, origin=4) for n in range(5)),
        *(call("invoke", n, **dead) for n in range(2)),
        call("open", 9, result=0xFFFF0008, origin=3, session=0),
    )
    seen = replace(seen, deaths=tuple(deaths.deaths(CONSOLE)))
    made = program_page.sections(seen, names.read([names.KNOWN]), exact=False)
    terminal.show(console(120), [block for section in made for block in section.blocks])
    shown = " ".join(capsys.readouterr().out.split())
    assert "5 calls only asked for a size (TEE_ERROR_SHORT_BUFFER), which is no failure" in shown
    assert "3 calls failed: see below" in shown
    who = "teemark's bench: command 7 TEE_ERROR_TARGET_DEAD: "
    assert f"{who}it ended the TA TEE 1" in shown
    assert f"{who}the TA had ended before TEE 1" in shown
    assert "open session TEE_ERROR_ITEM_NOT_FOUND TEE 1" in shown
    assert "teemark's bench, 1 time: panic with code 0xbeef, in 0b7c9a52+0x2118 ←" in shown


def test_no_advice_comes_of_calls_that_failed() -> None:
    """The first advice was to keep a session that ended each time because its TA had died."""
    died: list[TeeCall] = []
    for number in range(1, 5):
        died.append(call("open", number, 5000, session=number))
        died.append(call("invoke", number, session=number, result=DEAD))
        died.append(call("close", number, 2000, session=number))
    assert keys(*died) == {}
    assert "program-session-per-call" in keys(*(replace(c, result=0) for c in died))


def test_calls_that_the_kernel_alone_sees_are_explained() -> None:
    """The kernel sees 781 calls of xtest 4001, the library 319: 231 temporary buffers come, go."""
    lines = EVENTS.splitlines()
    inside = [line.replace("1.0000", "1.0001") for line in lines[2:4]] * 2
    buffer = call("invoke", 1_000_000_000, 900_000, thread=11, params=(Param("temporary in", 7),))
    other = [line.replace("client-11", "irq/31-optee_no-9") for line in lines[4:]]
    text = program_page._against_the_kernel(
        ran(buffer, events="\n".join([*lines[2:4], *inside, *other])), exact=False
    )
    assert "within the 1 calls of sessions: +2 (1 temporary buffer: libteec registers" in text
    assert text.endswith("besides 1 by irq/31-optee_no.")


def test_a_page_has_its_title_once_and_its_units(tmp_path: Path) -> None:
    made = program_page.sections(ran(call("invoke", 10, 10_000)), Names(), exact=True)
    text = program_page.write(made, "it", "a board", tmp_path).with_suffix(".md").read_text()
    assert text.count("# What it spends in the TEE of a board") == 1
    assert "\ninstructions\n\n| call | calls | total |" in text


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (None, "No call of libteec was seen, and the kernel's tracepoints were not read."),
        ("", "It called nothing in the TEE: the kernel's tracepoints count no call, either."),
        (EVENTS, "No call of libteec was seen, but the kernel's tracepoints count 2 calls into the "
         "TEE meanwhile: 2 by client."),
    ],
)  # fmt: skip
def test_of_a_program_without_a_call_of_libteec_the_kernel_tells(
    tmp_path: Path, events: str | None, said: str
) -> None:
    made = program_page.sections(ran(events=events), Names(), exact=False)
    assert [section.key for section in made] == ["answer"]
    page = program_page.write(made, "it", "a board", tmp_path)
    assert said in html.unescape(page.read_text())
