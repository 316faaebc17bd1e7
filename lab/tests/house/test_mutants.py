# SPDX-License-Identifier: BSD-2-Clause
"""The list of errors for `make mutants` fits the sources: one whose line changed would end it."""

import pytest

import mutants

LISTED, TESTS = mutants.load()


@pytest.mark.parametrize("one", LISTED, ids=lambda one: f"{one.number}-{one.file}")
def test_what_it_changes_is_there_once(one: mutants.Mutant) -> None:
    assert one.text.count(one.old) == 1
    assert mutants.tests_of(one.file, TESTS)
