"""Theorems as functions: arrays in, numbers out, never an estimator.

Bounds are returned as they are and may exceed 1; where a theorem's condition fails it is a ValueError.
"""

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

__all__ = [
    "average_binary_loss",
    "expected_error",
    "hamming_error_bound",
    "hamming_error_bound_by_zeros",
    "training_error",
    "training_error_bound",
    "training_error_bound_by_zeros",
    "zero_fraction",
]
