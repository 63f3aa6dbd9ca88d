"""Linear learners: ridge regression, logistic regression and linear SVMs, all columns solved together."""
