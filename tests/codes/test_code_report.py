"""The report and the pictures: contents against brute force, text, HTML, matplotlib."""

import builtins
import re
import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from outputcodes import codes
from outputcodes.codes import BCH, AllPairs, Complete, Dense, Ordinal, Sparse, TernaryComplete, describe, plot
from outputcodes.codes._picture import as_signs, as_svg

mpl.use("Agg")

FAULTY = np.array([[1, 1, 1, -1, 1], [1, -1, -1, 1, 0], [1, 0, 0, 0, -1], [1, 1, 1, -1, -1]], dtype=np.int8)


def test_contents():
    report = describe(FAULTY, class_counts=[10, 20, 30, 40])
    assert (report.k, report.L) == (4, 5)
    assert report.rho == codes.min_distance(FAULTY) == 1
    assert report.correctable_errors == 0
    assert np.array_equal(report.row_distances, codes.row_distances(FAULTY))
    assert np.array_equal(report.column_distances, codes.column_distances(FAULTY))
    assert report.min_column_distance == report.column_distances[np.triu_indices(5, 1)].min() == 0.5
    assert report.repeated_columns.tolist() == [[1, 2]]
    assert report.mirrored_columns.tolist() == [[1, 3]]
    assert report.one_sided_columns.tolist() == [0]
    assert report.unseparated_pairs.tolist() == [[1, 2], [2, 3]]
    assert report.share_of_zeros == 4 / 20
    assert report.examples_per_column.tolist() == [100, 70, 70, 70, 80]
    assert report.positives_per_column.tolist() == [100, 50, 50, 20, 10]


def test_text():
    text = str(describe(FAULTY, class_counts=[0.1, 0.2, 0.3, 0.4]))
    assert text == repr(describe(FAULTY, class_counts=[0.1, 0.2, 0.3, 0.4]))
    found = dict(re.findall(r"^  (\S.*?)  +(\S.*)$", text, flags=re.MULTILINE))
    assert found["repeated columns"] == "1: 1/2"
    assert found["mirrored columns"] == "1: 1/3"
    assert found["columns with one sign only"] == "1: 0"
    assert found["classes no column separates"] == "2: 1/2, 2/3"
    assert found["share of zeros"] == "20.0%"
    assert found["examples per column"] == "0.7 to 1, mean 0.78"
    assert found["share of positive examples"] == "12.5% to 100.0%"
    assert text.endswith("\n+ + + - +\n+ - - + ·\n+ · · · -\n+ + + - -")


def test_without_counts_there_are_no_examples():
    report = describe(FAULTY)
    assert report.examples_per_column is None
    assert "examples" not in str(report)


def test_an_empty_column_of_this_sample_has_no_share():
    assert "share of positive" not in str(describe(AllPairs().draw(3).matrix(), class_counts=[0, 0, 5]))


@pytest.mark.parametrize("counts", [[1, 2], [1, -2, 3], [1, np.nan, 3], [[1, 2, 3]]])
def test_wrong_counts(counts):
    with pytest.raises(ValueError, match="class_counts must have one finite number >= 0 for each of the 3"):
        describe(Ordinal().draw(3).matrix(), class_counts=counts)


@pytest.mark.parametrize(
    ("code", "k", "name"),
    [
        (Dense(), 4, "complete"),
        (Sparse(), 4, "ternary-complete"),
        (BCH(), 3, "complete"),
        (Complete(), 7, "complete"),
        (TernaryComplete(), 5, "ternary-complete"),
        (BCH(), 5, "complete"),
        (AllPairs(), 3, None),
        (Dense(), 6, None),
    ],
)
def test_the_report_says_where_a_code_is_complete(code, k, name):
    M = code.draw(k, random_state=2).matrix()
    report = describe(M)
    assert report.known_as == name
    assert (f"the {name} code" in str(report)) == (name is not None)
    assert describe(-M[:, ::-1]).known_as == name


def test_as_many_columns_as_the_complete_code_do_not_make_it_one():
    M = Complete().draw(4).matrix()
    M[:, 6] = -M[:, 0]
    assert describe(M).known_as is None
    assert describe([[1, 0, 1], [-1, 1, 1], [0, -1, -1]]).known_as is None
    assert describe([[1, 1, 1], [1, -1, 1], [1, 1, -1]]).known_as is None


def test_long_codes_are_described_without_their_column_distances():
    report = describe(Complete().draw(13).matrix())
    assert "smallest distance of two columns         1\n" in str(report)
    assert "column_distances" not in vars(report)
    lines = str(report).splitlines()
    assert max(map(len, lines)) < 80
    assert lines[-1].endswith(" …")


def test_tall_codes_are_cut():
    text = as_signs(Ordinal().draw(40).matrix())
    assert text.splitlines()[26] == "… 14 more rows"
    assert len(text.splitlines()) == 27


@pytest.mark.parametrize("M", [FAULTY, Complete().draw(10).matrix(), Ordinal().draw(100).matrix(), [[-1], [1]]])
def test_html_is_well_formed_and_draws_every_entry_shown(M):
    M = np.asarray(M, dtype=np.int8)
    html = describe(M, class_counts=np.ones(len(M)))._repr_html_()
    root = ElementTree.fromstring(html)
    assert len(root.findall("./table/tr")) >= 10
    svg = root.find("{http://www.w3.org/2000/svg}svg")
    plus, minus = svg.findall("{http://www.w3.org/2000/svg}path")
    shown = M[:64, :256]
    drawn = np.zeros_like(shown)
    for path, sign in ((plus, 1), (minus, -1)):
        for start, row, width, back in re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path.get("d")):
            assert width == back
            drawn[int(row), int(start) : int(start) + int(width)] += sign
    assert np.array_equal(drawn, shown)
    assert len(html) < 300_000


def test_svg_uses_the_page_colour_for_its_frame():
    assert 'stroke="currentColor"' in as_svg(FAULTY)
    assert "<title>code matrix, 4 rows × 5 columns</title>" in as_svg(FAULTY)


def test_plot_shows_the_matrix_and_the_names():
    ax = plot(FAULTY, class_names=["a", "b", "c", "d"])
    assert np.array_equal(ax.images[0].get_array(), FAULTY)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c", "d"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["+1", "0", "-1"]
    assert plot(Complete().draw(9).matrix(), ax=ax) is ax
    mpl.pyplot.close(ax.figure)


def test_plot_colours():
    ax = plot([[1, 0], [-1, 1]])
    colours = ax.images[0].to_rgba(np.array([[1, 0, -1]]), bytes=True)[0, :, :3].tolist()
    assert colours == [[0xE0, 0x7B, 0x39], [255, 255, 255], [0x4A, 0x7F, 0xB5]]
    mpl.pyplot.close(ax.figure)


def test_plot_refusals(monkeypatch):
    with pytest.raises(ValueError, match="class_names must have 4 names, one per row, got 1"):
        plot(FAULTY, class_names=["a"])

    def refuse(name, *args, real=builtins.__import__, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "outputcodes\[plot\]"'):
        plot(FAULTY)
