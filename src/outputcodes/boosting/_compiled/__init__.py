"""The compiled passes of the boosters."""
