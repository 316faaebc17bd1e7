# SPDX-License-Identifier: BSD-2-Clause
"""Issue 19 names 18 kinds of sentences that weren't true. Here stands, for each, which tests keep
them from coming back; a test that is renamed or removed is missed."""

import re
from pathlib import Path

import pytest

from synthetic import Synthetic
from teemark.plan.file import load_plan
from teemark.reference.data import load
from teemark.report.run_page import make
from teemark.studies.answers import mistaken

HELD = {
    "1 a byte with what the model misses": (
        "test_coverage.test_what_is_printed_holds_where_the_model_is_false",
        "test_figures.test_no_measured_rate_exceeds_the_limit_and_the_interval_holds_a_knee",
    ),
    "2 what may be added up": (
        "test_figures.test_costs_of_counted_instructions",
        "test_figures.test_terms_and_when_they_are_paid",
        "test_figures.test_what_no_model_describes_is_not_shown_as_one",
    ),
    "3 exact": (
        "test_breakdown.test_a_set_up_that_two_sizes_tell_has_no_interval",
        "test_breakdown.test_nothing_is_left_by_construction_and_the_table_says_so",
        "test_fit.test_counted_instructions_are_exact",
        "test_model_stats.test_a_difference_of_counts_is_as_steady_as_what_was_counted",
    ),
    "4 small samples and odd starts": (
        "test_coverage.test_six_samples_of_two_ways",
        "test_coverage.test_skewed_starts_hold_what_the_method_says",
        "test_coverage.test_neighbours_that_are_alike_hold_what_the_method_says",
        "test_coverage.test_a_report_says_which_starts_it_may_lack",
        "test_report.test_one_start_cannot_know_what_differs_between_starts",
    ),
    "5 compare sees what all calls have": (
        "test_compare.test_what_all_calls_into_the_tee_have_more_is_no_boot",
        "test_compare.test_a_shift_is_what_most_calls_have",
        "test_compare.test_the_signs_of_cases_are_tested_two_sided",
        "test_gate.test_what_all_calls_have_more_is_one_change_with_its_functions",
    ),
    "6 PASS says what it could have seen": (
        "test_compare.test_a_limit_is_held_against_the_interval",
        "test_compare.test_a_pass_says_what_would_have_been_seen",
        "test_alarms.test_what_is_said_to_be_visible_is_seen_in_80_of_100",
        "test_alarms.test_equals_raise_no_alarm_and_three_per_cent_are_not_five",
    ),
    "7 one count of cases": ("test_compare.test_cases_are_counted_alike_everywhere",),
    "8 a price is no loss": (
        "test_causes.test_a_price_is_no_loss",
        "test_causes.test_causes_are_ranked_by_what_they_cost",
    ),
    "9 causes that aren't there": (
        "test_causes.test_a_core_built_for_size_is_a_suspicion_from_outside",
        "test_causes.test_a_trace_overrules_what_is_told_from_outside",
        "test_findings.test_buffers_that_are_dearer_at_one_size_alone",
        "test_causes.test_one_case_that_waits_isnt_lost_among_long_ones",
        "test_causes.test_a_wait_longer_than_its_sample_lay_outside_of_it",
        "test_causes.test_a_tee_that_is_slow_all_over_isnt_told_to_use_what_it_uses",
        "test_causes.test_an_opened_ta_on_a_clock_that_goes_on_is_uncertain",
        "test_causes.test_a_board_without_caches_clears_none",
    ),
    "10 unexplained": ("test_breakdown.test_one_size_with_a_slope_or_a_counter_is_explained",),
    "11 sentences": (
        "test_readme.test_a_sentence_that_was_withdrawn_stays_out",
        "test_causes.test_as_much_as_the_digest_of_so_many_bytes",
        "test_choices.test_pieces_that_no_stream_was_measured_of_are_predicted",
        "test_choices.test_code_that_is_there_to_be_compared_with_is_no_choice",
        "test_offload.test_how_cpu_time_was_split_isnt_said",
        "test_fmt.test_whole_percents_are_not_rounded_away",
        "test_figures.test_a_counted_chart_s_points_are_instructions_a_byte",
        "test_decide.test_a_number_that_nobody_can_follow_is_no_advice",
        "test_breakdown.test_a_call_that_waits_is_a_time_on_the_exact_board_too",
        "test_findings.test_what_is_spoken_of",
        "test_sentences.test_samples_that_were_taken_again_are_not_denied",
    ),
    "12 README's figures": ("test_readme.test_readme_shows_what_the_exact_board_gives",),
    "13 rpi3-secure-hash": (
        "test_answers.test_the_cpu_is_busy_while_it_hashes_and_not_while_the_ta_is_loaded",
        "test_answers.test_the_baseline_is_like_for_like",
        "test_answers.test_what_is_no_figure_says_why_it_has_no_answer",
        "test_answers.test_a_mistake_stands_by_the_printed_figures_alone",
    ),
    "14 rpi3-small-messages": (
        "test_answers.test_the_floor_is_measured_where_the_document_measured_it",
        "test_answers.test_what_ran_and_what_was_tried",
    ),
    "15 api-vs-custom": (
        "test_seed_tables.test_pure_hash_time_is_what_the_ta_counted_for_that_file",
        "test_answers.test_what_the_documents_never_said_is_not_answered",
        "test_sentences.test_the_chunk_is_what_16_calls_point_to",
    ),
    "16 what no rule can know, and emulators": (
        "test_answers.test_a_mistake_stands_by_the_printed_figures_alone",
        "test_answers.test_what_an_emulated_board_cannot_give_is_not_answered",
        "test_answers.test_what_waits_on_a_board_that_counts_is_no_answer",
        "test_audit.test_a_contradiction_is_found",
        "test_audit.test_planted_errors_are_found_and_nothing_else",
        "test_sentences.test_each_contradiction_that_the_issue_names_is_said",
    ),
    "17 false alarms": (
        "test_audit.test_what_may_be_right_is_no_finding",
        "test_audit.test_a_report_of_ours_gives_no_alarm",
        "test_audit.test_tables_that_agree_give_no_alarm",
    ),
    "18 an answer in one sentence": (
        "test_answers.test_an_answer_names_the_document_its_figure_and_ours_with_the_ratio",
        "test_seed_tables.test_a_column_says_how_many_times_the_published_figure_was_measured",
        "test_seed_tables.test_a_table_has_one_unit_and_it_is_the_documents",
        "test_seed_tables.test_words_have_no_unit_in_their_column_s_head",
        "test_answers.test_what_an_emulated_board_cannot_give_is_not_answered",
    ),
}


@pytest.mark.parametrize("number", HELD)
def test_each_number_has_its_tests(number: str) -> None:
    for name in HELD[number]:
        file, test = name.split(".")
        (path,) = Path(__file__).parents[1].glob(f"*/{file}.py")
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^def {test}\(", text, re.MULTILINE), name


def test_all_eighteen_are_there() -> None:
    assert [int(number.split()[0]) for number in HELD] == list(range(1, 19))


def test_the_chunk_is_what_16_calls_point_to() -> None:
    """INIT, 14 updates and FINAL of 42.8 MB: pieces of 3 MiB, not of the usual one."""
    (chunk,) = {step.chunk for step in load_plan("api-vs-custom").teehash}
    assert 14 * (chunk - 1048576) < 42_822_485 <= 14 * chunk
    assert chunk == 3 * 1048576


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ("beaglebone-hw-crypto", "claimed-range"),
        ("beaglebone-hw-crypto", "too-short-for-a-driver"),
        ("beaglebone-hw-crypto", "unexplained-time"),
        ("rpi3-small-messages", "constant-beside-a-floor"),
        ("rpi3-small-messages", "cured-at-half"),
        ("rpi3-secure-hash", "not-unchanged"),
    ],
)
def test_each_contradiction_that_the_issue_names_is_said(document: str, key: str) -> None:
    assert key in {one.key for one in mistaken(load(), document)}


def test_samples_that_were_taken_again_are_not_denied() -> None:
    """“No sample was thrown out” stood above “taken again, too short: 16”."""
    page = " ".join(make([Synthetic().run()]).markdown.split())
    assert "Too short samples were taken again; all others are in" in page
    assert "thrown out" not in page
