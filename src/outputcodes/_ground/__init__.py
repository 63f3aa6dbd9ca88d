"""What everything stands on: checks at the door, blocks of rows and threads, arithmetic in lanes."""
