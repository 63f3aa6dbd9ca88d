"""Binned features, histograms and the search for splits, shared by stumps, trees and boosters."""
