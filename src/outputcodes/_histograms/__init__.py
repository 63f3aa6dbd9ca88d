"""What stumps, trees and boosters stand on: binned features, histograms and the search for splits."""
