"""Options of compiled functions that keep the first use short: numba makes two more entries per function than we call.

An ENTRY is called from Python. An INNER function is called by compiled functions only, and no Python objects are
converted for it. What Python never calls and one function alone contains is better inlined; but a tiny function with
many calls is not, for each inlined call is a copy to be typed.
"""

ENTRY = {"nogil": True, "cache": True, "no_cfunc_wrapper": True}
INNER = ENTRY | {"no_cpython_wrapper": True}
