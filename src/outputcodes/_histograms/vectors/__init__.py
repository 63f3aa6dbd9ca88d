"""Trees whose rows have vectors of gradients: one tree for all columns of a code."""
