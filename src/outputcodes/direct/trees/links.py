"""Weakest links: the penalty per leaf at which each node of a tree becomes a leaf.

T(α) is the smallest tree that minimises R(T) + α |T| over all prunings T of a tree; R is the weight of the errors, |T|
the number of leaves. As α grows, T(α) shrinks by collapsing the nodes t with the smallest
(R(t) - R(T_t)) / (|T_t| - 1). Breiman, Friedman, Olshen & Stone (1984), section 3.3.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from outputcodes._ground.choosing import TIE
from outputcodes._histograms.questions import goes_left


@njit(nogil=True, cache=True)
def weakest_links(inner, left, error, total, link):  # type: ignore[no-untyped-def]
    """Set link[t] to the α from which node t is a leaf or below a leaf; -1 if it is a leaf already.

    `inner` and `left` describe the tree, parents before children; error[t] = R(t). Penalties within `TIE` of the total
    are equal.
    """
    n_nodes = len(inner)
    above, live = np.full(n_nodes, -1), inner.copy()
    branch_error, branch_leaves, price = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    for t in range(n_nodes):
        link[t] = -1.0
        if inner[t]:
            above[left[t]], above[left[t] + 1] = t, t
    alpha = 0.0
    while live[0]:
        least = np.inf
        for t in range(n_nodes - 1, -1, -1):
            branch_error[t], branch_leaves[t] = error[t], 1.0
            if live[t]:
                branch_error[t] = branch_error[left[t]] + branch_error[left[t] + 1]
                branch_leaves[t] = branch_leaves[left[t]] + branch_leaves[left[t] + 1]
                price[t] = (error[t] - branch_error[t]) / (branch_leaves[t] - 1.0)
                least = min(least, price[t])
        if least > alpha + TIE * total:
            alpha = least
        # Parents come first; the nodes below a collapsed one are collapsed with it.
        for t in range(n_nodes):
            if live[t] and (price[t] <= alpha + TIE * total or (t > 0 and not live[above[t]])):
                live[t] = False
                link[t] = alpha


@njit(nogil=True, cache=True)
def path_errors(X, y, weight, nodes, labels, rank, n_steps, wrong):  # type: ignore[no-untyped-def]
    """Add the weight of the errors of the i-th pruning to wrong[i]; node t is a leaf from the rank[t]-th pruning on."""
    for i in range(len(X)):
        node, until = 0, n_steps
        while True:
            if labels[node] != y[i]:
                for step in range(rank[node], until):
                    wrong[step] += weight[i]
            until = min(until, rank[node])
            if until == 0:
                break
            node = nodes.left[node] if goes_left(X[i], node, nodes) else nodes.left[node] + 1
