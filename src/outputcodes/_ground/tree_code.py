"""A code of one or more trees of classes: every node is a one-vs-all problem over its children."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from outputcodes._ground.drawn_code import ColumnBlock, DrawnCode, Matrix, Rows
from outputcodes._ground.words import counted

# Splits the classes of a node, given what is known about it: the groups, each with what is known about it, or None if
# the classes themselves are its children.
Split = Callable[[Rows, Any], list[tuple[Rows, Any]] | None]


class Node(NamedTuple):
    """A node: its columns are first..last - 1, one per child; `starts` are the places where the children begin.

    The classes below it have the places starts[0]..stop - 1 in the `order` of its tree.
    """

    number: int
    first: int
    last: int
    starts: Rows
    stop: int


class TreeCode(DrawnCode):
    """Trees of classes: a column is +1 on the classes of one child of a node, -1 on its siblings and 0 elsewhere.

    Every two classes are opposed in two columns of each tree, those of the node where their paths part. Nodes are
    numbered level by level, the roots first, and columns node by node.

    Parameters
    ----------
    n_classes : int
    n_trees : int
    first : ndarray, shape (V + 1,)
        The first column of each node.
    child : ndarray, shape (L,)
        Below each column: the number of a node, or -1 - r for the class r.

    Examples
    --------
    >>> code = grown(4, [(np.arange(4), None)], lambda classes, _: None if len(classes) < 3 else [
    ...     (classes[:2], None), (classes[2:], None)])
    >>> code.matrix()
    array([[ 1, -1,  1, -1,  0,  0],
           [ 1, -1, -1,  1,  0,  0],
           [-1,  1,  0,  0,  1, -1],
           [-1,  1,  0,  0, -1,  1]], dtype=int8)
    """

    def __init__(self, n_classes: int, n_trees: int, first: Rows, child: Rows) -> None:
        self.first, self.child, self.n_trees = first, child, n_trees
        self.shape = n_classes, len(child)
        self.node_of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        inner = np.flatnonzero(child >= 0)
        self.parent = np.full(len(first) - 1, -1)
        self.parent[child[inner]] = inner
        self.levels = self._levels()
        self._place_classes()

    def __getstate__(self) -> dict[str, Any]:
        # The rest follows from these.
        return {"shape": self.shape, "n_trees": self.n_trees, "first": self.first, "child": self.child}

    def __setstate__(self, state: dict[str, Any]) -> None:
        k = int(state["shape"][0])
        self.__init__(k, state["n_trees"], state["first"], state["child"])  # type: ignore[misc]

    def _levels(self) -> Rows:
        """Return the first node of each level, and the number of nodes."""
        bounds, last = [0], self.n_trees
        while last < len(self.first) - 1:
            bounds.append(last)
            below = self.child[self.first[bounds[-2]] : self.first[last]]
            last += int(np.count_nonzero(below >= 0))
        return np.array([*bounds, last])

    def _place_classes(self) -> None:
        """Order the classes of each tree so that those below a node, and below a column, are neighbours."""
        k, L = self.shape
        size, total = np.ones(L, dtype=np.intp), np.zeros(len(self.first) - 1, dtype=np.intp)
        for a, b in reversed(list(zip(self.levels[:-1], self.levels[1:], strict=True))):
            columns = slice(self.first[a], self.first[b])
            below = self.child[columns]
            size[columns][below >= 0] = total[below[below >= 0]]
            total[a:b] = np.add.reduceat(size[columns], self.first[a:b] - self.first[a])
        before = np.cumsum(size) - size
        # Where the classes below a column, and below a node, begin in the order of all trees.
        self.begins, self.node_begins = np.empty(L, dtype=np.intp), np.empty(len(total), dtype=np.intp)
        self.node_begins[: self.n_trees] = k * np.arange(self.n_trees)
        for a, b in zip(self.levels[:-1], self.levels[1:], strict=True):
            columns = slice(self.first[a], self.first[b])
            shift = self.node_begins[a:b] - before[self.first[a:b]]
            self.begins[columns] = before[columns] + np.repeat(shift, np.diff(self.first[a : b + 1]))
            below = self.child[columns]
            self.node_begins[below[below >= 0]] = self.begins[columns][below >= 0]
        self.node_sizes = total
        ends = np.flatnonzero(self.child < 0)
        self.order = np.empty(self.n_trees * k, dtype=np.intp)
        self.order[self.begins[ends]] = -1 - self.child[ends]
        # The column above each class, and its place in the order, by tree.
        self.place, self.above = np.empty((self.n_trees, k), dtype=np.intp), np.empty((self.n_trees, k), dtype=np.intp)
        tree = self.begins[ends] // k
        self.place[tree, -1 - self.child[ends]], self.above[tree, -1 - self.child[ends]] = self.begins[ends], ends

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.levels) - 1

    def nodes(self, level: int) -> Iterator[Node]:
        """Yield the nodes of a level."""
        for v in range(self.levels[level], self.levels[level + 1]):
            first, last, start = int(self.first[v]), int(self.first[v + 1]), int(self.node_begins[v])
            yield Node(v, first, last, self.begins[first:last], start + int(self.node_sizes[v]))

    def tree_of(self, node: Node) -> int:
        """Return the number of the tree of a node."""
        return int(node.starts[0]) // self.shape[0]

    def paths(self, classes: Rows, tree: int = 0) -> Rows:
        """Return the columns from the root to each class, (len(classes), depth); -1 after the end of a path."""
        found = np.full((len(classes), self.depth), -1)
        column, level_of = self.above[tree, classes], np.repeat(np.arange(self.depth), np.diff(self.levels))
        at = np.arange(len(classes))
        while at.size:
            found[at, level_of[self.node_of[column]]] = column
            column = self.parent[self.node_of[column]]
            at, column = at[column >= 0], column[column >= 0]
        return found

    def rows(self, classes: ArrayLike) -> Matrix:
        """Return the rows of the given classes."""
        classes = np.asarray(classes, dtype=np.intp)
        found = np.zeros((len(classes), self.shape[1]), dtype=np.int8)
        for tree in range(self.n_trees):
            for row, path in zip(found, self.paths(classes, tree), strict=True):
                for column in path[path >= 0]:
                    node = self.node_of[column]
                    row[self.first[node] : self.first[node + 1]] = -1
                    row[column] = 1
        return found

    def blocks(self) -> Iterator[ColumnBlock]:
        """Yield the columns of each node."""
        for level in range(self.depth):
            for node in self.nodes(level):
                places = np.arange(node.starts[0], node.stop)
                lane = np.searchsorted(node.starts, places, side="right") - 1
                entries = np.where(lane[:, None] == np.arange(node.last - node.first), 1, -1).astype(np.int8)
                ascending = np.argsort(self.order[places])
                columns = np.arange(node.first, node.last)
                yield ColumnBlock(columns, self.order[places][ascending], entries[ascending])

    def signs(self, classes: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which columns have +1, and which have -1, among the given classes."""
        seen = np.zeros(self.shape[0], dtype=np.intp)
        seen[classes] = 1
        before = np.append(0, np.cumsum(seen[self.order]))
        own, every = np.empty(self.shape[1], dtype=np.intp), before[self.node_begins + self.node_sizes]
        every = (every - before[self.node_begins])[self.node_of]
        last = np.append(self.begins[1:], 0)
        ends = np.append(self.node_of[1:] != self.node_of[:-1], True)
        last[ends] = (self.node_begins + self.node_sizes)[self.node_of[ends]]
        own = before[last] - before[self.begins]
        return own > 0, every > own

    def same_as(self, other: DrawnCode) -> bool:
        """Return whether another code has the same trees."""
        if self is other:
            return True
        return isinstance(other, TreeCode) and self.shape == other.shape and self.n_trees == other.n_trees and (
            np.array_equal(self.first, other.first) and np.array_equal(self.child, other.child)
        )  # fmt: skip

    def __repr__(self) -> str:
        k, L = self.shape
        sizes = counted(self.n_trees, "tree"), counted(len(self.first) - 1, "node"), counted(L, "column")
        return f"TreeCode of {counted(k, 'class', 'classes')}: {', '.join(sizes)}"


def grown(n_classes: int, roots: list[tuple[Rows, Any]], split: Split) -> TreeCode:
    """Return the code of trees that grow from their roots, level by level; each root has all classes."""
    first, child = [0], []
    nodes = list(roots)
    at = 0
    while at < len(nodes):
        classes, known = nodes[at]
        groups = split(classes, known)
        # A group that is the whole node would never end.
        while groups is not None and len(groups) == 1:
            groups = split(*groups[0])
        if groups is None:
            child.append(-1 - classes)
        else:
            alone = np.array([len(group) == 1 for group, _ in groups])
            column = np.array([-1 - group[0] for group, _ in groups])
            column[~alone] = len(nodes) + np.arange(np.count_nonzero(~alone))
            child.append(column)
            nodes += [group for group, is_alone in zip(groups, alone, strict=True) if not is_alone]
        first.append(first[-1] + len(child[-1]))
        nodes[at] = (np.empty(0, dtype=np.intp), None)  # its memory is free again
        at += 1
    return TreeCode(n_classes, len(roots), np.array(first), np.concatenate(child))


def flat(n_classes: int) -> TreeCode:
    """Return one-vs-all as a tree of one node.

    >>> flat(3).matrix()
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    return TreeCode(n_classes, 1, np.array([0, n_classes]), -1 - np.arange(n_classes))
