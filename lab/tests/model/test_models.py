# SPDX-License-Identifier: BSD-2-Clause
"""The calls of each family are made of terms with a meaning, found again where they are."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from synthetic import MACHINE, Synthetic, known_algorithm, run_of, run_with
from teemark.base.work import Work
from teemark.model import models
from teemark.model.forms import Form
from teemark.model.models import Cost, Models
from teemark.run.reader import MeasuredCase
from teemark.run.records import Case, Machine


def form_of(algorithm: str) -> Form:
    case = Work.of(f"oneshot/{algorithm}/c/64")
    return Form.of(case, known_algorithm(algorithm), in_tee=False)


def case(key: str, size: int | None) -> Case:
    workload, algorithm, backend, parameters = key.split("/", 3)
    return Case(
        case=key,
        workload=workload,
        algorithm=algorithm,
        backend=backend,
        parameters=parameters,
        bytes=size,
        verified=True,
        samples=1,
        repeat=(1,),
        loops=(1,),
    )


@pytest.mark.parametrize(
    ("key", "size", "name"),
    [
        ("oneshot/sha256/tee/4096", 4096, "oneshot"),
        ("cipher/aes-128-cbc/tee/enc/4096", 4096, "cipher enc"),
        ("shm/temporary/tee/inout/64", 64, "shm inout"),
        ("stream/sha256/tee/1048576/4096", 1048576, None),
        ("cipher-steps/aes-128-cbc/tee/enc/4096/set-iv/all", 4096, None),
        ("invoke/none/tee/none", None, None),
    ],
)
def test_family(key: str, size: int | None, name: str | None) -> None:
    assert MeasuredCase(case(key, size)).curve == name


@pytest.mark.parametrize(
    ("algorithm", "last", "bytes_"),
    [
        ("sha1", 55, 64),
        ("sha256", 55, 64),
        ("sm3", 55, 64),
        ("sha512", 111, 128),
        ("sha384", 111, 128),
        ("hmac-sha256", 55, 64),
        ("sha3-256", 135, 136),
        ("sha3-512", 71, 72),
        ("sha3-224", 143, 144),
        ("aes-128-cbc", 16, 16),
    ],
)
def test_blocks_with_their_padding(algorithm: str, last: int, bytes_: int) -> None:
    """`last` is the longest message that fits one block with its padding (FIPS 180-4, 202)."""
    form = form_of(algorithm)
    assert form.block == bytes_
    assert list(map(form.blocks, (last, last + 1, last + bytes_))) == [1, 2, 2]


def test_what_has_no_blocks() -> None:
    assert form_of("random").block == form_of("memcpy").block == 0


SIZES = (0, 55, 56, 64, 1024, 4096, 8192, 16384, 262144)


def blocks(n: int) -> int:
    return -(-(n + 9) // 64)


def pages(n: int) -> int:
    return -(-n // 4096)


def made(times: Mapping[str, float], spread: float = 0.0) -> Models:
    return models.build(run_with(times, spread))


def only(found: Models) -> tuple[Cost, dict[str, float]]:
    (cost,) = found.costs
    return cost, {name: term.value for name, term in cost.fit.terms.items()}


@pytest.mark.parametrize("spread", [0.0, 0.001])
def test_a_digest(spread: float) -> None:
    """Each term as large as it is on the exact board."""
    times = {
        f"oneshot/sha256/ce/{n}": 2570
        + 1001 * blocks(n)
        + 100 * (n > 0)
        + 800 * (blocks(n) > 1)
        + 250 * (n % 64 > 0)
        for n in SIZES
    }
    cost, found = only(made(times, spread))
    assert found == {
        "call": pytest.approx(2570, rel=0.02),
        "block": pytest.approx(1001, rel=0.01),
        "feed": pytest.approx(100, rel=0.3),
        "again": pytest.approx(800, rel=0.05),
        "tail": pytest.approx(250, rel=0.2),
    }
    assert cost.slope.value == pytest.approx(1001 / 64, rel=0.01)
    assert cost.at(100).value == pytest.approx(2570 + 2 * 1001 + 1150, rel=0.01)


def test_a_digest_by_the_kernel_pays_pages() -> None:
    times = {f"oneshot/sha256/afalg/{n}": 3500 + 100 * blocks(n) + 800 * pages(n) for n in SIZES}
    cost, found = only(made(times))
    assert found["page"] == pytest.approx(800, rel=0.01)
    assert cost.slope.value == pytest.approx(100 / 64 + 800 / 4096, rel=0.01)
    assert cost.at(8192).value == pytest.approx(times["oneshot/sha256/afalg/8192"], rel=0.01)


def test_in_the_tee_a_page_is_told_only_by_what_measured_it() -> None:
    times = {f"oneshot/sha256/tee/{n}": 80_000 + 3_800 * blocks(n) + 600 * pages(n) for n in SIZES}
    _, found = only(made(times))
    assert "page" not in found
    carried = {
        f"shm/allocated/tee/in/{n}": 60_000 + 600 * pages(n) for n in (64, 4096, 16384, 262144)
    }
    # Whatever the order of the plan.
    for both in (times | carried, carried | times):
        with_shm = made(both).cost("sha256", "tee")
        assert with_shm is not None
        assert with_shm.fit.terms["page"].value == pytest.approx(600, rel=0.001)
        assert with_shm.fit.terms["block"].value == pytest.approx(3800, rel=0.001)
        assert with_shm.slope.value == pytest.approx(3800 / 64 + 600 / 4096, rel=0.001)


@pytest.mark.parametrize(("page", "identical"), [(190.0, True), (0.0, True), (9000.0, False)])
def test_in_the_tee_the_counter_tells_a_page(page: float, identical: bool) -> None:
    synthetic = Synthetic(counter=1.0, identical=identical, algorithms=("sha256",), page=page)
    cost = models.build(synthetic.run()).cost("sha256", "tee")
    assert cost is not None
    assert cost.crossing is not None
    assert cost.crossing.terms["call"].value == pytest.approx(409_000 - 250, rel=0.02)
    if page:
        assert cost.fit.terms["page"] == cost.crossing.terms["page"]
        assert cost.fit.terms["page"].value == pytest.approx(page, rel=0.1)
    else:
        assert "page" not in cost.fit.terms


def test_a_page_that_is_lost_in_scatter_is_not_reported() -> None:
    synthetic = Synthetic(counter=1.0, noise=0.03, algorithms=("sha256",))
    for cost in models.build(synthetic.run()).costs:
        assert cost.crossing is None or "page" not in cost.fit.terms


def test_a_cipher_pays_pages_in_and_out_and_requests() -> None:
    sizes = (16, 256, 1024, 4096, 16384, 65536, 131072, 262144, 1048576)
    times = {
        f"cipher/aes-128-cbc/afalg/enc/{n}": 7_000
        + 28 * n // 16
        + 2 * 500 * pages(n)
        + 4_000 * -(-n // 65536)
        for n in sizes
    }
    cost, found = only(made(times))
    assert (cost.workload, cost.algorithm) == ("cipher enc", "aes-128-cbc")
    assert found == {
        "call": pytest.approx(7_000, rel=0.01),
        "block": pytest.approx(28, rel=0.01),
        "page": pytest.approx(500, rel=0.01),
        "request": pytest.approx(4_000, rel=0.02),
    }
    assert cost.slope.value == pytest.approx(28 / 16 + 1000 / 4096 + 4000 / 65536, rel=0.01)


def test_shared_memory_pays_pages_and_copies_bytes() -> None:
    sizes = (64, 1024, 4096, 16384, 65536, 262144)
    mapped = {f"shm/allocated/tee/in/{n}": 60_000 + 50 * pages(n) for n in sizes}
    copied = {f"shm/registered-ro/tee/in/{n}": 60_000 + 50 * pages(n) + 0.2 * n for n in sizes}
    assert set(only(made(mapped))[1]) == {"call", "page"}
    cost, found = only(made(copied))
    assert found["byte"] == pytest.approx(0.2, rel=0.02)
    assert cost.slope.value == pytest.approx(0.2 + 50 / 4096, rel=0.02)


@pytest.mark.parametrize(("table", "spread"), [(38_500, 0.0), (-141_000, 0.0), (0, 0.0)])
def test_a_large_buffer_fills_page_tables(table: float, spread: float) -> None:
    """The exact board is so: 4 MiB of allocated memory cost more than their pages, 4 MiB of a
    temporary reference less."""
    sizes = (64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304)
    times = {
        f"shm/allocated/tee/in/{n}": 116_400 + 800 * pages(n) + table * (n // 2097152)
        for n in sizes
    }
    cost, found = only(made(times, spread))
    assert found["page"] == pytest.approx(800, rel=0.001)
    assert found.get("table", 0) == pytest.approx(table, rel=0.001)
    assert cost.slope.value == pytest.approx(800 / 4096 + table / 2097152, rel=0.001)
    assert cost.at(8 << 20).value == pytest.approx(116_400 + 800 * 2048 + 4 * table, rel=0.001)


def test_an_object_of_the_tee_has_a_head() -> None:
    """Which moves what a block holds: 4096 bytes are two blocks, and so are 7000."""
    run = run_of(
        {
            f"storage/read/{by}/{n}": [140_000 + 1_500_000.0 * count] * 8
            for by, counts in (("tee-ree-fs", (1, 2, 2, 17, 257)), ("file", (1, 1, 2, 16, 256)))
            for n, count in zip((256, 4096, 7000, 65536, 1048576), counts, strict=True)
        },
        icount=True,
    )
    secure = {**MACHINE, "backends": [{"name": "tee-ree-fs", "title": "", "secure": True}]}
    machine = msgspec.convert({k: v for k, v in secure.items() if k != "type"}, Machine)
    for cost in models.build(replace(run, machine=machine)).costs:
        assert {name: term.value for name, term in cost.fit.terms.items()} == {
            "call": pytest.approx(140_000),
            "block": pytest.approx(1_500_000),
        }, cost.backend


def test_storage_pays_rpcs() -> None:
    rpcs = {256: 31, 4096: 31, 7000: 35, 16384: 47, 65536: 143}
    run = run_of(
        {f"storage/create/tee-ree-fs/{n}": [9e6 + 7e5 * count] * 8 for n, count in rpcs.items()},
        icount=True,
    )
    cases = {
        key: replace(
            measured,
            record=msgspec.structs.replace(
                measured.record, rpcs_per_call=rpcs[measured.record.bytes or 0]
            ),
        )
        for key, measured in run.cases.items()
    }
    cost, found = only(models.build(replace(run, cases=cases)))
    assert found == {"call": pytest.approx(9e6), "rpc": pytest.approx(7e5)}
    # In between, as often in proportion.
    assert cost.at(10_000).value == pytest.approx(9e6 + 7e5 * (35 + 12 * 3000 / 9384))
    assert "rpc" not in only(models.build(run))[1]


def test_bytes_where_nothing_better_is_known() -> None:
    times = {f"copy-limit/memcpy/c/{n}": 40 + n / 16 for n in (64, 1024, 16384, 262144)}
    cost, found = only(made(times))
    assert found == {"call": pytest.approx(40), "byte": pytest.approx(1 / 16)}
    assert cost.slope.value == pytest.approx(1 / 16)


def test_calls_that_go_another_way_say_nothing_of_references() -> None:
    """Not those without libteec or a TA, and not a question to the core, as runs had before."""
    times = {"invoke/none/tee/none": 40_000.0}
    times |= {f"invoke/memref-{way}/tee/none": 47_000.0 for way in ("in", "out", "inout")}
    plain = made(times).references
    assert plain is not None
    others = {f"invoke/{one}/tee/none": 5_000.0 for one in ("core", "direct", "refused")}
    assert made(times | others).references == plain


def test_an_empty_call_with_references() -> None:
    kinds = {"none": 0, "values": 0, "memref-in": 1, "memref-out": 1, "memref-inout": 1}
    times = {f"invoke/{kind}/tee/none": 57_000.0 + 9_000 * n for kind, n in kinds.items()}
    references = made(times).references
    assert references is not None
    assert {name: term.value for name, term in references.terms.items()} == {
        "call": pytest.approx(57_000),
        "reference": pytest.approx(9_000),
    }


def test_a_stream_is_predicted_from_the_whole_message() -> None:
    """A way in and out more for each piece; outside of the TEE none."""
    whole = {
        f"oneshot/sha256/{by}/{n}": way + 3_800 * blocks(n)
        for by, way in (("tee", 80_000), ("c", 300))
        for n in (0, 64, 1024, 4096, 16384, 262144, 1048576)
    }
    calls = {f"invoke/memref-{way}/tee/none": 66_000 for way in ("in", "out", "inout")}
    times: dict[str, float] = {"invoke/none/tee/none": 57_000, **calls, **whole}
    times["stream/sha256/tee/1048576/65536"] = (
        whole["oneshot/sha256/tee/1048576"] + 57_000 + 15 * 66_000
    )
    times["stream/sha256/c/1048576/65536"] = whole["oneshot/sha256/c/1048576"] * 1.1
    found = {one.measured.backend: one for one in made(times).streams}
    assert found["tee"].off == pytest.approx(0, abs=1e-4)
    assert found["c"].off == pytest.approx(1 / 1.1 - 1, abs=1e-4)
    del times["invoke/none/tee/none"]
    assert [one.measured.backend for one in made(times).streams] == ["c"]


def test_pieces_that_fill_no_page_pay_for_more_of_them() -> None:
    sizes = (64, 1024, 4096, 16384, 65536, 262144)
    way, page, reference = 57_000, 600, 9_000
    times: dict[str, float] = {"invoke/none/tee/none": way}
    times |= {f"invoke/memref-{to}/tee/none": way + reference for to in ("in", "out", "inout")}
    times |= {f"shm/allocated/tee/in/{n}": way + page * pages(n) for n in sizes}
    whole = {n: 80_000 + 3_800 * blocks(n) + page * pages(n) for n in sizes}
    times |= {f"oneshot/sha256/tee/{n}": ns for n, ns in whole.items()}
    calls = way + 63 * (way + reference)
    times["stream/sha256/tee/65536/1024"] = whole[65536] + calls + page * (64 - 16)
    (found,) = made(times).streams
    assert found.off == pytest.approx(0, abs=1e-4)


def test_failed_and_repeated_cases() -> None:
    run = Synthetic(repeat=(1, 2)).run()
    assert models.build(run).repeats == {}
    four = models.build(Synthetic().run())
    assert {tuple(point.x for point in line.points) for line in four.repeats.values()} == {
        (1, 2, 4, 8)
    }
    assert four.case("oneshot/sha256/c/64") is not None
    assert four.case("oneshot/sha256/c/65") is None


def test_form_of_the_tee_has_no_page_of_its_own() -> None:
    for backend, in_tee, has in (("tee", True, False), ("afalg", False, True), ("c", False, False)):
        case = Work.of(f"oneshot/sha256/{backend}/0")
        form = Form.of(case, known_algorithm("sha256"), in_tee=in_tee)
        _, candidates = form.columns([0, 5000], [None] * 2)
        assert ("page" in candidates) is has
