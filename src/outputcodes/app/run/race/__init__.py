"""A race on a table: its journal, what a report says of it, and the model on disk."""
