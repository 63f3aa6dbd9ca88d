"""Theorems as functions from arrays to numbers, without estimators.

Bounds are not truncated and may exceed 1. If a condition of a theorem fails, the function raises a ValueError.
"""

from outputcodes.bounds.boosting import (
    mh_error_bound,
    mo_margin_bound,
    mo_margin_bound_by_edge,
    mo_margin_bound_by_zeros,
    mr_error_bound,
    normalised_margins,
    normalised_scores,
    normaliser_product,
    oc_error_bound,
    smooth_potential,
    smooth_potential_drop,
    smooth_weights,
)
from outputcodes.bounds.decoding_error import (
    average_binary_loss,
    expected_error,
    hamming_error_bound,
    hamming_error_bound_by_zeros,
    training_error,
    training_error_bound,
    training_error_bound_by_zeros,
    zero_fraction,
)
from outputcodes.bounds.generalisation import (
    boosting_margin_bound,
    kernel_margin_bound,
    margin_bound,
    margin_loss,
    pairwise_margins,
    separable_class_error_bound,
    separable_error_bound,
)
from outputcodes.bounds.leave_one_out import decoded_wrongly, loo_error_bound, pessimistic_margins, possible_loo_errors

__all__ = [
    "average_binary_loss",
    "boosting_margin_bound",
    "decoded_wrongly",
    "expected_error",
    "hamming_error_bound",
    "hamming_error_bound_by_zeros",
    "kernel_margin_bound",
    "loo_error_bound",
    "margin_bound",
    "margin_loss",
    "mh_error_bound",
    "mo_margin_bound",
    "mo_margin_bound_by_edge",
    "mo_margin_bound_by_zeros",
    "mr_error_bound",
    "normalised_margins",
    "normalised_scores",
    "normaliser_product",
    "oc_error_bound",
    "pairwise_margins",
    "pessimistic_margins",
    "possible_loo_errors",
    "separable_class_error_bound",
    "separable_error_bound",
    "smooth_potential",
    "smooth_potential_drop",
    "smooth_weights",
    "training_error",
    "training_error_bound",
    "training_error_bound_by_zeros",
    "zero_fraction",
]
