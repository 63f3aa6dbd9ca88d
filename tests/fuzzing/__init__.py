"""Cases drawn at random: odd tables for the command line, odd combinations for the estimators.

`make fuzz N=10000` runs N of each and prints what failed, with the number that repeats it.
"""
