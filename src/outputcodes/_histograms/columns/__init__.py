"""Trees whose rows have a sign and a weight: one tree for each column of a code."""
