"""Every row of the register of claims in the five notes: the test that checks it, or why there is nothing to check.

Rows 1-41 are Lecture 7, «Relaxations of Differential Privacy»; 42-82 the notebook chapter on variants; 83-103
«Lecture 11»; 104-133 the blog post on Rényi DP; 134-153 the proof of `cdp_delta`.

Published numbers are in test_published.py. Left to the parts of the product that they belong to:
- Steinke, Nasr and Jagielski 2023, App. D (audit in one run: 0.673): with the audit;
- Feldman, McMillan and Talwar 2023, errata (stronger clones only for a restricted class): with shuffling.
Printed numbers that the formulas named do not reproduce, so that they test nothing: Abadi et al. 2016, 400 epochs
(printed 2.55, formula 2.5759); TensorFlow Privacy, noise .6, 30 epochs (printed 9.74, formula 9.7527).
"""

REGISTER: dict[int, tuple[str, str]] = {}


def _rows(file: str, tests: dict[str, tuple[int, ...]]) -> None:
    for name, rows in tests.items():
        for row in rows:
            REGISTER[row] = ("test", f"{file}::{name}")


def _nothing(rows: dict[int, str]) -> None:
    for row, reason in rows.items():
        REGISTER[row] = ("no content", reason)


_rows(
    "test_notes_relaxations.py",
    {
        "test_composition_needs_the_logarithm": (1,),
        "test_optimal_homogeneous_composition": (2,),
        "test_optimal_heterogeneous_composition": (3,),
        "test_pure_dp_is_the_largest_log_ratio_both_ways": (5, 7),
        "test_largest_divergence_is_over_the_support_of_the_first": (6,),
        "test_divergence_is_infinite_without_absolute_continuity": (8,),
        "test_order_one_is_the_mean_loss": (9,),
        "test_renyi_dp_is_a_bound_on_the_divergence": (10,),
        "test_post_processing_never_raises_renyi": (11,),
        "test_group_privacy_of_renyi": (12,),
        "test_adaptive_composition_adds_at_one_order": (13,),
        "test_composition_of_many": (14,),
        "test_subsampling_without_replacement": (15,),
        "test_poisson_is_a_sampler_of_its_own": (16,),
        "test_pure_dp_as_renyi": (17,),
        "test_divergence_grows_with_the_order": (18,),
        "test_renyi_to_approximate": (19,),
        "test_probability_preservation": (20,),
        "test_first_case_of_the_conversion": (21,),
        "test_second_case_of_the_conversion": (22,),
        "test_halving_the_budget": (23,),
    },
)
_rows(
    "test_notes_relaxations_mechanisms.py",
    {
        "test_randomized_response": (24,),
        "test_laplace": (25,),
        "test_gaussian": (26,),
        "test_proof_of_gaussian": (27, 28, 29),
        "test_noise_by_advanced_composition": (30,),
        "test_noise_by_renyi": (31, 32),
        "test_zcdp_is_a_line_above_the_curve": (33,),
        "test_zcdp_as_a_moment_bound": (34,),
        "test_markov_needs_the_expectation": (35,),
        "test_tail_of_the_loss": (36,),
        "test_zcdp_closure_properties_and_no_amplification": (37,),
        "test_zcdp_to_approximate": (38,),
        "test_budget_of_rho": (39,),
        "test_gaussian_rho": (40,),
        "test_bibliography": (41,),
    },
)
_rows(
    "test_notes_notebook.py",
    {
        "test_first_cell": (42,),
        "test_sequential_composition_is_tight": (43,),
        "test_vectorised_laplace": (44, 45, 46),
        "test_split_of_the_budget": (47,),
        "test_variance_by_the_split": (48,),
        "test_vectorised_gaussian": (49,),
        "test_not_the_same_growth": (50,),
        "test_second_cell_disagrees_with_its_text": (51, 52),
        "test_largest_divergence_over_events": (53, 54),
        "test_renyi_divergence_and_its_limit": (55, 56),
        "test_no_catastrophe": (57,),
        "test_renyi_definition": (58,),
        "test_renyi_to_approximate": (59,),
        "test_delta_below_one_over_n_squared": (60,),
        "test_gaussian_for_renyi": (61, 62),
        "test_renyi_composition": (63,),
        "test_gaussian_composition_is_exact_in_renyi": (64,),
        "test_renyi_post_processing": (65,),
        "test_zcdp_definition": (66,),
        "test_zcdp_to_approximate": (67,),
        "test_gaussian_for_zcdp": (68, 69),
        "test_zcdp_composition_of_gaussians": (70,),
    },
)
_rows(
    "test_notes_notebook_composition.py",
    {
        "test_laplace_of_equal_variance": (72,),
        "test_advanced_composition_of_the_last_cell": (73,),
        "test_zcdp_of_the_last_cell": (74,),
        "test_renyi_of_the_last_cell": (75,),
        "test_moments_curve_has_no_source": (76,),
        "test_ordering_of_the_last_figure": (77, 78),
        "test_zcdp_is_not_sublinear": (79,),
        "test_where_the_curves_touch": (80,),
        "test_orders_up_to_one_hundred_are_not_enough": (81,),
        "test_choosing_the_order_is_free": (82,),
    },
)
_rows(
    "test_notes_lecture.py",
    {
        "test_losses_add_up": (83,),
        "test_zcdp_moment_definition": (84,),
        "test_gaussian_moment_generating_function": (85,),
        "test_subgaussian_properties_are_equivalent": (86,),
        "test_which_lambda_in_markov": (87,),
        "test_pure_dp_as_zcdp": (88,),
        "test_zcdp_to_approximate": (89,),
        "test_gaussian_is_zcdp": (90,),
        "test_composition_of_zcdp": (91,),
        "test_advanced_composition_through_zcdp": (92,),
        "test_renyi_by_moments": (93,),
        "test_all_orders_give_zcdp": (94,),
        "test_unequal_variances": (95,),
        "test_the_logarithm_is_missing": (96,),
        "test_only_neighbours": (97,),
        "test_renyi_to_approximate": (98,),
        "test_randomized_response_table": (100,),
        "test_leaky_input_table": (101,),
        "test_leaky_response_table": (102,),
        "test_laplace_mechanism": (103,),
    },
)
_rows(
    "test_notes_renyi_post.py",
    {
        "test_pure_definition": (104,),
        "test_laplace_mechanism": (105,),
        "test_l1_sensitivity": (106,),
        "test_approximate_definition": (107,),
        "test_delta_is_not_a_chance_of_failure": (108,),
        "test_classic_gaussian": (109,),
        "test_gaussian_is_not_pure": (110,),
        "test_subgaussian": (111, 112),
        "test_loss_and_its_mean": (113, 114),
        "test_subgaussian_divergence": (115, 116),
        "test_tail_of_the_loss": (117,),
        "test_all_moments_or_one": (118,),
        "test_divergences_of_three_orders": (119, 120),
        "test_order_infinity_over_the_wrong_support": (121, 122),
        "test_renyi_definition": (123,),
        "test_composition": (124,),
        "test_renyi_to_approximate": (125,),
        "test_moments_accountant": (127, 128),
        "test_supremum_over_neighbours": (129,),
        "test_moment_identity": (130,),
        "test_cumulants": (131,),
        "test_moment_bound_is_renyi": (132,),
        "test_moments_do_not_follow_from_approximate_dp": (133,),
    },
)
_rows(
    "test_notes_conversion_proof.py",
    {
        "test_profile_is_a_mean_over_the_loss": (134, 135, 136),
        "test_change_of_measure": (137,),
        "test_inverted_ratio": (138,),
        "test_worst_event": (139,),
        "test_theorem": (140,),
        "test_moment_of_the_loss": (141,),
        "test_markov_with_the_random_loss": (142,),
        "test_smallest_constant": (143,),
        "test_value_of_the_constant": (144, 145, 146),
        "test_corollary_for_one_order": (147,),
        "test_corollary_for_zcdp": (148,),
        "test_concentrated_not_pure": (149,),
        "test_bad_inputs_are_refused": (150,),
        "test_delta_for_a_given_epsilon": (151,),
        "test_conservative_rounding": (152,),
        "test_sources_are_named": (153,),
    },
)
_nothing(
    {
        4: "a footnote on complexity classes (#P-complete in polynomial time gives P = NP): no formula",
        71: "a section that says «Coming soon»",
        99: "a missing figure; the curves it stands for are rows 100-103",
        126: "a missing image",
    }
)
