"""Kernel machines on an accelerator: the Gram matrix, working sets and gradients stay in its memory."""
