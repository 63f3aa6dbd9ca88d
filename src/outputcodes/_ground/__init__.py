"""Common ground of all rooms: checks of input, drawn codes, blocks of rows, folds, threads, arithmetic in lanes."""
