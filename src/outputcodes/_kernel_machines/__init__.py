"""What KernelSVM, MulticlassSVC and Continuous stand on: Gram matrices, SMO and SPOC."""
