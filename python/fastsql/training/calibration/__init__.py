"""Regressions fitted on what a trained model has not seen: the two probabilities of a bundle, and how columns are ranked."""
