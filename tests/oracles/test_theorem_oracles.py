"""Teeth: every theorem has an oracle, and an equality understated by one part in a hundred is caught by it.

ORACLES maps a theorem to a check that compares its conclusion with the definitions. Each check passes as it is, and
must fail when the theorem's conclusion (ρ, ε, μ², η, δ, divergence) is multiplied by 0.99. Theorems that only bound,
and those without a number of their own, name the tests elsewhere in this directory that hold them to the truth.
"""

from __future__ import annotations

from pathlib import Path

import group_checks  # noqa: F401 - each check registers itself
import leaf_checks  # noqa: F401
import notion_checks  # noqa: F401
import pytest
import sharing_checks  # noqa: F401
from theorem_checks import ORACLES
from understated import understated

import tightrope as tr
from tightrope.curves.pure import Pure
from tightrope.numerics.real import real
from tightrope.theorems import REGISTRY

# Theorems that bound only, or have no number of their own: where they are held to the truth.
ELSEWHERE = {
    "pure_is_shuffled": "test_shuffling.py::test_general_clones_hold_for_random_randomizers",
    "response_is_shuffled": "test_shuffling.py::test_shuffled_responses_by_enumeration",
    "shuffling_never_hurts": "test_shuffling.py::test_a_shuffle_costs_no_more_than_its_report",
    "loss_attained_by_shuffling": "test_shuffling.py::test_counts_by_enumeration",
    "record_meets_one_run": "test_batches.py::test_an_epoch_is_one_unsampled_step",
    "loss_attained_by_sharing": "test_batches.py::test_cells_of_the_largest_answer",
    "renyi_of_allocation": "test_allocation.py::test_the_add_direction_is_bounded",
    "renyi_for_groups": "test_groups.py::test_renyi_on_chains",
    "truncated_for_groups": "test_groups.py::test_tcdp_and_zcdp_on_chains",
    "concentrated_for_groups": "test_groups.py::test_a_negative_offset_counter_example",
    "approximate_for_groups": "test_groups.py::test_pure_and_approximate_on_chains",
    "noise_for_groups": "test_groups.py::test_log_concave_noise_is_read_at_the_larger_distance",
    "noise_for_draws": "test_sampling_draws.py::test_discrete_noise_on_a_sum_of_draws",
    "concentrated_composes": "test_composition.py::test_leaks_of_approximate_zcdp_multiply",
    "approximate_composes_basically": "test_composition.py::test_basic_composition_counts_every_delta",
    "gaussian_composes": "test_composition.py::test_gaussians_merge_into_one",
    "basic": "test_composition.py::test_advanced_composition_formulas",
    "advanced": "test_composition.py::test_advanced_composition_formulas",
    "advanced_sharp": "test_composition.py::test_formulas_are_never_below_the_optimum",
    "approximate_is_approximately_concentrated": (
        "test_conversions.py::test_a_leaky_response_is_approximately_concentrated"
    ),
    "mean_concentrated_is_concentrated": "test_conversions.py::test_mean_concentrated",
    "pure_is_concentrated_classically": "test_conversions.py::test_pure_to_others",
    "pure_is_mean_concentrated": "test_conversions.py::test_every_pure_law_keeps_the_converted_bounds",
    "gaussian_instance": "test_conversions.py::test_zcdp_numbers",
    "renyi_to_profile_classic": "test_conversions.py::test_one_order",
    "renyi_to_profile": "test_conversions.py::test_zcdp_to_delta",
    "zcdp_to_epsilon_classic": "test_conversions.py::test_zcdp_numbers",
    "profile_has_renyi": "test_sampling.py::test_without_replacement_renyi_from_the_profile",
    "approximate_is_amplified": "test_sampling.py::test_amplified_guarantees_on_random_bases",
    "sampling_never_hurts": "test_sampling.py::test_general_bounds_are_never_below_the_truth",
    "renyi_of_poisson_sample": "test_sampling.py::test_general_bounds_are_never_below_the_truth",
    "renyi_without_replacement": "test_sampling.py::test_general_bounds_are_never_below_the_truth",
    "loss_is_dominated_by_dots": "test_tabled.py::test_a_profile_lies_between_its_tables",
    "loss_is_dominated_by_even_dots": "test_tabled.py::test_an_even_table_dominates_both_ways",
    "loss_is_dominated_by_fewer_kinds": "test_ladders.py::test_few_kinds_bracket_what_is_known_of_all",
    "loss_dominates_fewer_kinds": "test_ladders.py::test_few_kinds_bracket_what_is_known_of_all",
    "loss_dominates_lines": "test_tabled.py::test_a_profile_lies_between_its_tables",
    "loss_attained_without_replacement": "test_attained_samples.py::test_the_pair_of_equal_records_is_attained",
    "renyi_attained_by_sample": "test_attained_samples.py::test_whole_orders_of_a_discrete_base",
    "loss_of_poisson_replacement_by_quantiles": (
        "test_sampling_exchanges.py::test_quantiles_against_every_permutation"
    ),
    "loss_attained_by_poisson_replacement": (
        "test_sampling_exchanges.py::test_a_record_that_counts_as_none_is_attained"
    ),
    "loss_with_replacement": "test_sampling_draws.py::test_never_below_a_count_of_the_draws",
    "loss_attained_with_replacement": "test_sampling_draws.py::test_lower_end_is_the_record_drawn_or_not",
    "pure_with_replacement": "test_sampling_draws.py::test_pure_guarantees_grow_with_the_draws",
    "cut_batches_cost_little": "test_sampling_cut.py::test_never_below_a_cut_run",
    "loss_attained_by_cut_batches": "test_sampling_cut.py::test_never_above_what_small_data_sets_cost",
    "loss_attained_by_one_of_a_group": "test_groups.py::test_a_group_costs_at_least_what_one_member_does",
    "nothing_costs_nothing": "test_sampling.py::test_sampling_all_or_nothing",
    "above_threshold_is_pure": "test_leaf_selections.py::test_above_threshold_never_costs_more_than_claimed",
    "above_threshold_is_renyi": "test_leaf_selections.py::test_above_threshold_never_costs_more_than_claimed",
    "tradeoff_for_groups": "test_tradeoff_polygons.py::test_groups_on_chains",
    "guarantees_have_tradeoff": "test_tradeoff_polygons.py::test_guarantees_are_below_the_tradeoff_and_touch_it",
    "noisy_max_is_pure": "test_leaf_selections.py::test_selections_never_cost_more_than_claimed",
    "pure_filter": "test_filters.py::test_the_basic_filter_lets_nothing_through",
    "basic_filter": "test_filters.py::test_the_basic_filter_lets_nothing_through",
    "concentrated_filter": "test_filters.py::test_no_adaptive_adversary_exceeds_a_filter",
    "renyi_filter": "test_filters.py::test_no_adaptive_adversary_exceeds_a_filter",
    "gaussian_filter": "test_filters.py::test_no_adaptive_adversary_exceeds_a_filter",
    "squares_filter": "test_filters.py::test_no_adaptive_adversary_exceeds_a_filter",
    "time_uniform": "test_filters.py::test_the_odometer_is_rarely_crossed",
}
# Equalities that the engine applies to the mechanism itself.
NO_NUMBER = {"noise_for_groups", "noise_for_draws", "nothing_costs_nothing"}


def test_every_theorem_has_an_oracle():
    assert set(ORACLES) | set(ELSEWHERE) == set(REGISTRY)
    assert not set(ORACLES) & set(ELSEWHERE)


def test_every_equality_with_a_number_has_teeth():
    assert {name for name, t in REGISTRY.items() if t.kind == "equal"} - NO_NUMBER <= set(ORACLES)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_tests_named_exist(name):
    file, _, test = ELSEWHERE[name].partition("::")
    assert f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", ORACLES)
def test_the_conclusion_is_true(name):
    ORACLES[name]()


@pytest.mark.parametrize("name", ORACLES)
def test_an_understated_conclusion_is_caught(name):
    if REGISTRY[name].kind != "equal":
        return
    with understated(name), pytest.raises(AssertionError):
        ORACLES[name]()


def test_the_registry_is_as_it_was():
    """Nothing understated is left behind: one more ask, at the user's level, is right."""
    with understated("pure_composes"):
        assert float(REGISTRY["pure_composes"]([(Pure(real(1)), 1)]).epsilon.rational) == 0.99
    assert tr.pure(tr.Pure("0.77") * 3).upper == 2.31


def test_what_is_added_to_all_that_is_known_holds_from_above():
    """Conversions are applied wherever their premise is known: one that bounds from below would pass for a guarantee,
    and one from a notion to itself would replace what is known of it."""
    conversions = [theorem for theorem in REGISTRY.values() if theorem.role == "conversion"]
    assert conversions
    assert all(theorem.kind != "lower" and theorem.of is not theorem.gives for theorem in conversions)
