"""Bars of the differences between decoders and between codes, as Figures 4 to 7 show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reproduce.allwein.cells import Ours
from reproduce.allwein.published import CODES, Errors, cells
from reproduce.allwein.rivals import of_code

BAR_COLOURS = "Red: the row's code has the larger error; blue: the smaller; ×: not run with both."
BEYOND = "Dashes: as published; triangles, if any: beyond the axis."


def draw_decoders(
    figure: Any, ours: Ours, names: Sequence[str], losses: Mapping[str, str], published: Errors | None = None
) -> None:
    """Draw bars of the error with each loss (mapped to its colour) minus Hamming's, one panel per code.

    Dashes are the published differences. The axis fits the bars; triangles stand for dashes beyond it.
    """
    printed = cells(published or {})
    figure.set_size_inches(11, 2.8)
    panels = figure.subplots(1, len(CODES), sharey=True)
    width = 0.8 / len(losses)
    differences = [
        own.error - ours[name, "hamming", code].error
        for (name, decoder, code), own in ours.items()
        if decoder in losses
    ]
    least, most = min([0.0, *differences]), max([0.0, *differences])
    room = 0.15 * (most - least) or 1.0
    panels[0].set_ylim(least - room, most + room)
    for panel, code in zip(panels, CODES, strict=True):
        base = of_code(ours, "hamming", code)
        for shift, (loss, colour) in enumerate(losses.items()):
            own = of_code(ours, loss, code)
            places = [at for at, name in enumerate(names) if name in own]
            heights = [own[names[at]] - base[names[at]] for at in places]
            left = np.array(places) - 0.4 + width * (shift + 0.5)
            panel.bar(left, heights, width, color=colour, label=loss)
            of_loss, of_hamming = (
                np.array([printed.get((names[at], decoder, code), np.nan) for at in places])
                for decoder in (loss, "hamming")
            )
            dashes = of_loss - of_hamming
            label = "published" if printed and shift == 0 else None
            for marker, shown, name in (
                ("_", (dashes > least - room) & (dashes < most + room), label),
                ("v", dashes <= least - room, None),
                ("^", dashes >= most + room, None),
            ):
                heights = np.clip(dashes[shown], least - 0.8 * room, most + 0.8 * room)
                panel.plot(left[shown], heights, marker, color="#d95f02", markersize=5, markeredgewidth=1.5, label=name)
        _number_data_sets(panel, names)
        panel.set_title(code, fontsize=10)
    panels[0].set_ylabel("error − Hamming's error, %")
    panels[-1].legend(frameon=False, loc="lower right")
    _list_data_sets(figure, names)


def draw_codes(figure: Any, ours: Ours, names: Sequence[str], decoder: str) -> None:
    """Draw bars of the error of the row's code minus that of the column's."""
    figure.set_size_inches(11, 7)
    panels = figure.subplots(len(CODES), len(CODES), sharex=True, sharey=True)
    for i, row in enumerate(CODES):
        for j, column in enumerate(CODES):
            panel = panels[i, j]
            own, rival = of_code(ours, decoder, row), of_code(ours, decoder, column)
            places = [at for at, name in enumerate(names) if name in own and name in rival]
            heights = np.array([own[names[at]] - rival[names[at]] for at in places])
            colours = np.where(heights > 0, "#b2182b", "#2166ac")
            panel.bar(places, heights, 0.7, color=colours)
            missing = [at for at in range(len(names)) if at not in places and i != j]
            panel.plot(missing, np.zeros(len(missing)), "x", color="0.45", markersize=4)
            _number_data_sets(panel, names)
            if i == 0:
                panel.set_title(column, fontsize=10)
            if j == 0:
                panel.set_ylabel(row, fontsize=10)
            if i == j:
                panel.set_facecolor("0.95")
    # On a linear scale a few large differences would flatten all others.
    panels[0, 0].set_yscale("symlog", linthresh=1.0)
    largest = max([10.0, *np.abs(panels[0, 0].get_ylim())])
    panels[0, 0].set_ylim(-1.2 * largest, 1.2 * largest)
    panels[0, 0].set_yticks([-10, -1, 0, 1, 10], ["−10", "−1", "0", "1", "10"])
    panels[0, 0].minorticks_off()
    figure.supylabel("difference of errors, %, on a logarithmic scale beyond ±1", fontsize=9)
    _list_data_sets(figure, names)


def _number_data_sets(panel: Any, names: Sequence[str]) -> None:
    panel.axhline(0.0, color="0.3", linewidth=0.8)
    panel.set_xticks(range(len(names)), [str(at + 1) for at in range(len(names))], fontsize=7)
    panel.set_xlim(-0.7, len(names) - 0.3)
    panel.grid(axis="y", color="0.9", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _list_data_sets(figure: Any, names: Sequence[str]) -> None:
    figure.supxlabel("   ".join(f"{at + 1} {name}" for at, name in enumerate(names)), fontsize=8)
