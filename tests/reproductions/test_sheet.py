"""Reading a folder that is a paper."""

from pathlib import Path

import pytest

from lowregret.errors import InputError
from lowregret.reproductions.sheet import read_sheet, sheet_names

PAPERS = [
    *("audibert2009", "audibert2010", "auer2002", "baudry2020", "besson2019", "chapelle2011"),
    *("eucbv", "fan_glynn2021", "garivier2011", "honda2019", "wolf2025"),
]


def changed(folder: Path, file: str, old: str, new: str) -> Path:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    return folder


def test_a_row_of_a_curve_is_as_many_numbers(small: Path) -> None:
    points = read_sheet(small).published
    assert [point.t for point in points] == [20, 40, 60, None, None, None, 60]
    assert [point.value for point in points[:3]] == [8.0, 16.0, 24.0]
    assert [point.reading_error for point in points] == [0.05, 0.05, 0.05, 0.5, 0.05, 0.05, 0.05]
    assert (points[0].quantity, points[3].quantity, points[0].runs) == ("mean", "pulls:0", 100)


def test_names_stand_for_the_policy_that_plays(small: Path) -> None:
    sheet = read_sheet(small)
    assert sheet.ours("Ours", "two arms") == ("Ours", "RoundRobin")
    assert sheet.ours("Index", "two arms") == ("Index", "UCB1")  # the first of its list that plays
    assert sheet.ours("Index", "two arms", {"Index": "RoundRobin"}) == ("Index", "RoundRobin")
    assert sheet.members("two *") == ["two arms"] and sheet.members("one *") == []


def test_runs_are_scaled_and_two_have_a_standard_error(small: Path) -> None:
    sheet = read_sheet(small)
    scaled = {runs: sheet.planned(runs)["runs"].runs for runs in (None, 1, 2, 100, 1000)}
    assert scaled == {None: 4, 1: 1, 2: 2, 100: 4, 1000: 40}
    assert sheet.planned(seed=7)["runs"].seed == 7
    fewer = read_sheet(changed(small, "reproduction.toml", "runs = 100", "runs = 100\nour_runs = 50"))
    assert [fewer.planned(runs)["runs"].runs for runs in (None, 50, 100)] == [4, 4, 8]


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("published.csv", "20 40 60", "20 40 61", r"Figure 1: t = 61 is not recorded, and 60 is: change"),
        ("published.csv", "20 40 60", "20 40", r"line 2: give a number that is not 0 for each time$"),
        ("published.csv", "arms,Index,,q99", "arm,Index,,q99", r"Table 1: unknown environment 'two arm'"),
        ("published.csv", "Index,60", "Nobody,60", r"Table 1: unknown policy 'Nobody': use one of"),
        ("published.csv", "pulls:0", "pull:0x!", r"unknown quantity 'pull:0x!': use mean, sd"),
        ("published.csv", "pulls:0", "pull:0", r"unknown quantity 'pull:0': use mean, sd"),
        ("published.csv", "pulls:0", "pulls:7", r"'pulls:7' is of an arm that is not there: .* 0 to 1$"),
        ("published.csv", "pulls:0", "helper:f", r"no module 'helper': put helper.py into"),
        ("published.csv", "q99", "q100", r"unknown quantity 'q100'"),
        ("published.csv", "20 40 60", "20 40.5 60", r"line 2: t must be an integer of at least 1, got"),
        ("published.csv", "mean,9.0,90", "mean,nan,90", r"line \d: value must be a number, got 'nan'"),
        ("published.csv", ",sd,", ",spread,", r"column 'spread' is missing or unknown"),
        ("reproduction.toml", '["Index"]', '["Inbex"]', r"no experiment file has a policy 'Inbex'$"),
        ("reproduction.toml", '"ranks"', '"rank"', r"line \d+: claims\[2\].kind must be 'lower'"),
        ("reproduction.toml", "runs = 100", "run = 100", r"unknown key 'run', did you mean 'runs'"),
        ("reproduction.toml", "title", "tile", r"reproduction.toml: unknown key 'tile'"),
        ("runs.toml", "runs = 4", "runs = 0", r"runs.toml, line 4: runs must be at least 1, got 0$"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_before_anything_runs(
    small: Path, file: str, old: str, new: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        read_sheet(changed(small, file, old, new))


def test_a_pair_is_in_one_file_alone(small: Path) -> None:
    (small / "more.toml").write_text((small / "runs.toml").read_text())
    with pytest.raises(InputError, match="runs.toml: another file has RoundRobin on 'two arms' too"):
        read_sheet(small)


def test_an_unknown_paper_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        InputError, match=r"unknown paper 'nothing': use one of audibert2009, .*; or give a folder"
    ):
        read_sheet("nothing")


def test_the_papers_of_the_package() -> None:
    assert set(PAPERS) <= set(sheet_names())


@pytest.mark.parametrize("name", sheet_names())
def test_every_paper_is_valid_and_has_its_verdicts(name: str) -> None:
    sheet = read_sheet(name)
    assert sheet.published or sheet.claims
    assert (sheet.folder / "expected.csv").exists()
    assert len((sheet.folder / "README.md").read_text().splitlines()) > 5


def test_the_claims_of_the_eucbv_paper() -> None:
    claims = read_sheet().claims
    assert len({(c.place, c.quote, *c.than, *c.environments) for c in claims}) == len(claims) == 25
    groups = [claim.group for claim in claims]
    assert groups == [group for group in dict.fromkeys(groups) for _ in range(groups.count(group))]
    strong = [claim for claim in claims if "much" in claim.quote or "extremely" in claim.quote]
    assert strong and all(claim.criterion.endswith("less than the words say") for claim in strong)


def test_the_published_curves_of_the_eucbv_paper() -> None:
    points = read_sheet().published
    curves = {point.curve: [p.value for p in points if p.curve == point.curve] for point in points}
    places = [place for place, *_ in curves]
    assert [places.count(f"Figure {number}") for number in (1, 2, 3, 4)] == [9, 9, 6, 6]
    assert all(values == sorted(values) for values in curves.values())
    chosen = {point.curve[::2] for point in points if point.chosen}
    assert chosen == {("Figure 1", "UCB-V"), ("Figure 1", "MOSS")}
    assert all(point.source.partition(":")[0].endswith(".py") for point in points)
    assert {p.policy for p in points if "chosen because it gives" in p.inferred} == {"UCB-V", "MOSS"}
