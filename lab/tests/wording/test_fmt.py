# SPDX-License-Identifier: BSD-2-Clause
"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teemark.wording import fmt
from teemark.wording.interval import Interval


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").replace(fmt.THIN, "'")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0, "0"),
        (1, "1.00"),
        (9.996, "10.0"),
        (0.09996, "0.100"),
        (1234, "1230"),
        (123456.7, "123'000"),
        (20.6, "20.6"),
        (-3.14159, "−3.14"),  # noqa: RUF001
        (0.00123, "0.00123"),
        (-0.00003876, "−3.88'×'10⁻⁵"),  # noqa: RUF001
    ],
)
def test_digits(value: float, says: str) -> None:
    assert plain(fmt.digits(value)) == says


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_digits_are_near(value: float) -> None:
    mantissa, _, power = fmt.digits(value).replace(fmt.THIN, "").partition(f"{fmt.TIMES}10")
    plain_power = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    shown = float(f"{mantissa}e{plain_power or 0}")
    assert "0.000" not in mantissa, "zeros to be counted"
    assert shown == pytest.approx(value, rel=0.00501)


@pytest.mark.parametrize(
    ("ns", "says"),
    [
        (0, "0 ns"),
        (310, "310 ns"),
        (999.9, "1.00 µs"),
        (387_000, "387 µs"),
        (21_500_000, "21.5 ms"),
        (61e9, "61.0 s"),
    ],
)
def test_duration(ns: float, says: str) -> None:
    assert plain(fmt.duration(ns)) == says


def test_counts_and_shares() -> None:
    assert [plain(fmt.count(n)) for n in (0, 9999, 10_000, -460, -12_345)] == [
        *("0", "9999", "10'000"),
        *("−460", "−12'345"),  # noqa: RUF001
    ]
    assert [plain(fmt.change(n)) for n in (0, 26_504, -460)] == ["0", "+26'504", "−460"]  # noqa: RUF001
    shares = (0.0, 0.00005, 0.0001, 0.406, 1.0)
    assert [plain(fmt.share(x, 3)) for x in shares] == [
        *("0'%", "< 0.01'%", "0.0100'%", "40.6'%", "100'%")
    ]
    assert [plain(fmt.signed(x)) for x in (0.0, 0.028, -0.952, -0.00001)] == [
        *("0'%", "+2.8'%", "−95'%", "< 0.01'%")  # noqa: RUF001
    ]


def test_whole_percents_are_not_rounded_away() -> None:
    shares = (0.1146, 0.996, 1.146, 36.5234, float("inf"))
    assert [plain(fmt.percent(x)) for x in shares] == ["11'%", "100'%", "115'%", "3652'%", "–'%"]  # noqa: RUF001
    assert plain(fmt.percent(1.146, 1)) == "115'%"


def test_intervals() -> None:
    assert plain(fmt.duration_interval(Interval(995_000, 1_020_000))) == "0.995 … 1.02 ms"
    assert plain(fmt.duration_interval(Interval(75_500, 75_500))) == "75.5 µs"
    assert fmt.duration_interval(None) == fmt.NONE
    assert plain(fmt.span(Interval(1, 2))) == "1.00 … 2.00"


@pytest.mark.parametrize(
    ("number", "says"),
    [(0, "0 B"), (100, "100 B"), (4096, "4 KiB"), (1 << 20, "1 MiB"), (10_000, "10'000 B")],
)
def test_size(number: int, says: str) -> None:
    assert plain(fmt.size(number)) == says


def test_a_rate_is_in_mib_a_second() -> None:
    assert fmt.rate(3 << 20) == "3.00"
    assert fmt.rate(None) == fmt.NONE
