"""Compiled inner loops: module-level functions of arrays and scalars, each opening with the problem it solves."""
