# SPDX-License-Identifier: BSD-2-Clause
"""A report says each thing once: no sentence, option or command stands in two places."""

from collections.abc import Callable

import msgspec
import pytest

import test_answers
import test_breakdown
import test_keys
from report_claims import compared, twice
from synthetic import Synthetic, run_of, run_with
from teemark.report import run_page
from teemark.run.reader import RunData
from test_trace_outputs import case, trace

SIZES = (0, 64, 4096, 65536, 1 << 20)


def explained() -> RunData:
    """Everything that the plan `explain` has, with causes in all of it."""
    cases = {key: times[1] for key, times in test_breakdown.truth().items()}
    for kind, ns in {
        "temporary": 3.0,
        "registered": 1.0,
        "allocated": 1.0,
        "registered-ro": 2.0,
    }.items():
        cases |= {f"shm/{kind}/tee/in/{n}": 6e4 + ns * n for n in SIZES[1:]}
    for by, ns in {"tee": 50.0, "ta-ce": 2.0, "openssl": 2.0}.items():
        cases |= {f"oneshot/sha256/{by}/{n}": 6e4 + ns * 64 * -(-(n + 9) // 64) for n in SIZES}
    for name, ns in {"ree": 9e3, "system": 3e3}.items():
        cases |= {f"time/{name}/tee/{n}": 6e4 + ns * n for n in (0, 4)}
    for name, ns in {"read": 90.0, "write": 900.0}.items():
        cases |= {f"storage/{name}/tee-ree-fs/{n}": 1e6 + ns * n for n in SIZES[1:]}
    cases |= {"storage/create/tee-ree-fs/256": 5e6, "storage/create/file-fsync/256": 1e5}
    cases |= {"session/first-open/tee/none": 2.7e7, "session/open/tee/none": 7e4}
    cases |= {"rng/random/tee/4096": 2e6, "rng/random/getrandom/4096": 3e4}
    cases |= {f"ta-size/{n}/tee/none": 6e4 + 40.0 * n for n in (32, 4096)}
    return run_with(cases | {"invoke/none/empty/none": 9e4})


def keys() -> RunData:
    both = test_keys.P256 | test_keys.STEPS
    more = {f"verify/ecdsa-p256/{by}/none": ns for by, ns in {"tee": 3e8, "openssl": 3e5}.items()}
    return run_of({key: [ns] * 8 for key, ns in (both | more).items()})


RUNS: dict[str, Callable[[], RunData]] = {
    "quick": Synthetic().run,
    "counted": Synthetic(identical=True, counter=1.01, page=190).run,
    "scattered": Synthetic(noise=0.5, counter=2.0).run,
    "starts": Synthetic(starts=3, between=0.01, algorithms=("sha256",)).run,
    "explain": explained,
    "keys": keys,
    "pkcs11": lambda: test_keys.layers(560).run,
    **{name: lambda name=name: test_answers.run(name) for name in test_answers.DOCUMENTS},  # type: ignore[misc]
}


@pytest.mark.parametrize("name", RUNS)
def test_a_report_says_nothing_twice(name: str) -> None:
    assert twice(run_page.make([RUNS[name]()]).markdown) == []


def test_a_report_with_a_trace_says_nothing_twice() -> None:
    """Each call has its own figures; how to read them is said once, at the first."""
    run, other = Synthetic(algorithms=("sha256",)).run(), case(30, "shm/temporary/tee/in/64")
    lost = tuple(msgspec.structs.replace(one, count=2) for one in other.lost)
    traced = trace(case(9000), msgspec.structs.replace(other, lost=lost))
    made = run_page.make([run], [traced], trace(case(20), other)).markdown
    assert twice(made) == []
    assert "1 return to a place" in made
    assert "2 returns to a place" in made


def test_what_is_said_twice_is_found() -> None:
    page = "## In short\n\n- **A call costs 57 200 ns.** Build it with CFG\\_X\\_Y=y.\n\n"
    again = (
        page + "A call costs 57 200 ns. `teemark run` tells.\n\n- Without CFG\\_X\\_Y it is slow.\n"
    )
    assert twice(page) == []
    assert twice(again) == ["A call costs 57 200 ns.", "CFG_X_Y"]
    table = "Times at the median.\n\n| a |\n|---|\n| 1 |\n\n"
    assert twice(table * 2) == []


def test_claims_are_matched_by_their_facts() -> None:
    before = "An empty call takes 57 216 instructions.\n\nIt takes 34.5 times as much.\n\n"
    before += "All is well here."
    after = "Entering costs 57 300.\n\n| factor |\n|---|\n| 35 times |\n"
    found = {one.text: other and other.text for one, other in compared(before, after)}
    assert found == {
        "An empty call takes 57 216 instructions.": None,
        "It takes 34.5 times as much.": "| 35 times |",
        "All is well here.": None,
    }
    near = after.replace("57 300", "57.216 µs is 57 216")
    assert next(other for _, other in compared(before, near)) is not None
