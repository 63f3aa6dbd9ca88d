"""Sequential minimal optimisation of the columns of a code on one Gram matrix."""
