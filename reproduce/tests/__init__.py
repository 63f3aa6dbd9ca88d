"""Tests of the published experiments and of the frame that runs them."""
