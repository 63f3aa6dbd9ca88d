"""Time the search for random codes: the best of 10,000 draws (fewer where the work budget ends the search).

    python benchmarks/codes.py [--quick]

The floor is one read of each pair of rows of each candidate: k(k-1)/2 · ⌈L/64⌉ words for dense codes, and twice as many
for sparse codes, which have a second bit plane.
"""

from __future__ import annotations

import resource

from common import QUICK, interleaved, print_table, save

from outputcodes.codes import BCH, Code, Dense, Sparse, min_distance

SIZES = (26,) if QUICK else (26, 1000, 10_000)


def measure(name: str, code: Code, k: int) -> dict[str, object]:
    seconds, found = interleaved({name: lambda: code.draw(k, random_state=0).matrix()}, repeats=3)
    M = found[name]
    return {
        "code": name,
        "k": k,
        "L": M.shape[1],
        "seconds": seconds[name],
        "rho": min_distance(M),
        "peak RSS MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    table = [measure(name, code, k) for k in SIZES for name, code in (("dense", Dense()), ("sparse", Sparse()))]
    table += [measure("bch", BCH(), k) for k in (26, 100)]
    print_table(table)
    save("codes", table)


if __name__ == "__main__":
    main()
