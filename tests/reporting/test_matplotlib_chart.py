"""Figures of one's own: axes of matplotlib, labels, and a chart shown from a script."""

import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.reporting.policy_styles import styles


@pytest.fixture(scope="module")
def result() -> lr.Results:
    return lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", 60, 6, engine="reference", progress=False)


def test_curves_bands_and_labels_in_axes_of_ones_own(result) -> None:
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot
    from matplotlib.colors import to_hex

    figure, (left, right) = pyplot.subplots(1, 2)
    assert result.plot(ax=left, labels={"MOSS": "MOSS (ours)"}) is left
    looks = styles(["MOSS", "RoundRobin"])
    assert [line.get_label() for line in left.lines] == ["MOSS (ours)", "RoundRobin"]
    assert [to_hex(line.get_color()).upper() for line in left.lines] == [
        style.colour for style in looks.values()
    ]
    assert left.lines[0].get_ydata()[-1] == pytest.approx(result.summary()["mean"][0])
    assert len(left.collections) == 2 and left.get_xlabel() == "time step t" and left.get_title() == ""
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["MOSS (ours)", "RoundRobin"]
    result.plot(ax=right, band="none", title="Mine")
    assert not right.collections and right.get_title() == "Mine" and not left.get_title()
    assert right.get_xlim() == (0, 60) and right.lines[0].get_xydata()[0].tolist() == [0, 0]
    right.plot([0, 60], [0, 10_000])
    assert right.get_ylim()[1] >= 10_000  # nothing that is drawn later is cut
    pyplot.close(figure)
    with pytest.raises(InputError, match="leave out against, width and height"):
        result.plot(ax=left, width=240)
    with pytest.raises(InputError, match="ax must be axes of matplotlib"):
        result.plot(ax=figure)


def test_nothing_of_matplotlib_or_altair_is_imported_otherwise() -> None:
    program = (
        "import sys, lowregret as lr\n"
        "class Axes:\n    def __getattr__(self, name): return lambda *a, **b: None\n"
        "r = lr.simulate(['MOSS'], 'bernoulli:0.1,0.9', 60, 6, engine='reference', progress=False)\n"
        "r.plot(ax=Axes()); print(r)\n"
        "assert not {'matplotlib', 'altair'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_labels_are_in_tables_figures_and_the_report(result, tmp_path) -> None:
    ours = result.with_labels({"MOSS": "MOSS (ours)"})
    assert ours.summary()["policy"].to_list() == ["MOSS (ours)", "RoundRobin"]
    assert ours.summary(all=True).drop("policy").equals(result.summary(all=True).drop("policy"))
    assert "MOSS (ours)" in str(ours) and "MOSS (ours) " in str(ours.compare("RoundRobin"))
    assert (ours["MOSS (ours)"].regret == result["MOSS"].regret).all() and ours.horizon == 60
    colour = styles(["MOSS"])["MOSS"].colour
    assert colour in result.plot(labels={"MOSS": "ours"}).to_json()
    page = result.report(tmp_path, labels={"MOSS": "MOSS (ours)"}, figures="none", progress=False)[0]
    text = page.read_text()
    assert "MOSS (ours)" in text and colour in text
    again = ours.with_labels({"MOSS (ours)": "B"})
    assert list(again) == ["B", "RoundRobin"] and again.original_names["B"] == "MOSS"
    with pytest.raises(InputError, match="did you mean 'MOSS'"):
        result.with_labels({"MOS": "x"})
    with pytest.raises(InputError, match="two policies would be called alike"):
        result.with_labels({"MOSS": "RoundRobin"})
    with pytest.raises(InputError, match="labels must be a dictionary"):
        result.with_labels(["x"])


def test_a_chart_of_a_script_opens_in_the_browser(result, monkeypatch) -> None:
    opened = []
    monkeypatch.setitem(sys.modules, "IPython", None)
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    result.plot().show()
    page = Path(opened[0].removeprefix("file://"))
    assert "<html" in page.read_text()[:300].lower() and "MOSS" in page.read_text()
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    with pytest.raises(InputError, match="no browser can be opened here: the chart is in /"):
        result.plot().show()
