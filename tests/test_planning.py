"""Plans: power against SciPy, losses against a simulation by hand, input, pages and the command."""

import json
import shlex
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import lowregret as lr
from lowregret.analysis.confidence_sequences import Totals
from lowregret.cli import app
from lowregret.planning import scenario as numbers
from lowregret.planning.fixed_split import REPETITIONS, FixedSplit
from lowregret.planning.plan_page import introduction
from lowregret.planning.policy_runs import PolicyRuns, first_verdict
from lowregret.planning.recommendation import recommend, snippets
from lowregret.policies.inputs import policy_of
from lowregret.service.models import NewAgent, parse_body

SMALL = {"options": 3, "rate": 0.2, "lift": 0.3, "visitors": 200, "days": 10, "delay_days": 1}
FEW = {"policies": ["ThompsonBeta", "UCB1"], "runs": 60}


@pytest.fixture(scope="module")
def small():
    return lr.plan(**SMALL, **FEW)


@pytest.mark.parametrize(
    ("options", "rate", "lift", "visitors", "days", "delay"),
    [
        (2, 0.05, 0.1, 5_000, 12, 0),
        (5, 0.05, 0.1, 20_000, 14, 1),
        (2, 0.3, 0.2, 300, 7, 0.5),
        (3, 0.5, 0.02, 900, 9, 2),
    ],
)
def test_the_power_of_the_split_is_that_of_the_formula(options, rate, lift, visitors, days, delay):
    """Two-sided z test of two rates with pooled variance, at 5% divided by the number of comparisons."""
    case = {"options": options, "rate": rate, "lift": lift, "visitors": visitors, "delay_days": delay}
    found = lr.plan(**case, days=days, policies="EpsilonGreedy", runs=2)
    each, better = int(visitors * (days - delay) / options), rate * (1 + lift)
    pooled = (rate + better) / 2
    null = sqrt(2 * pooled * (1 - pooled) / each)
    other = sqrt((rate * (1 - rate) + better * (1 - better)) / each)
    limit = norm.isf(0.025 / (options - 1)) * null
    exact = norm.sf((limit - (better - rate)) / other) + norm.cdf((-limit - (better - rate)) / other)
    error = sqrt(exact * (1 - exact) / REPETITIONS)
    assert abs(found.power - exact) < 4 * error
    more = lr.plan(**case, days=round(found.days_needed), policies="EpsilonGreedy", runs=2)
    assert abs(more.power - 0.8) < 0.05


def test_the_power_for_means():
    found = lr.plan(
        options=2, mean=12.5, sd=30, lift=0.1, visitors=1_000, days=9, policies="EpsilonGreedy", runs=2
    )
    error = 30 * sqrt(2 / 4_500)
    exact = norm.sf(norm.isf(0.025) - 1.25 / error) + norm.cdf(-norm.isf(0.025) - 1.25 / error)
    assert abs(found.power - exact) < 4 * sqrt(exact * (1 - exact) / REPETITIONS)


def test_losses_are_those_of_a_simulation_by_hand(small):
    """Run r of the plan is run r of the simulator on the options that were drawn for it."""
    given, what = small.scenario, small.simulated
    assert (what.decisions, what.delay, what.scale) == (2_000, 200, 1.0)
    losses, shares = [], []
    for run in range(5):
        bandit = given.draw(run, what)
        path = lr.trace("ThompsonBeta", bandit, 2_000, 0, run=run, delay=200)
        gaps = bandit.means.max() - bandit.means
        losses.append(gaps[path.arm].sum())
        shares.append((path.arm[-200:] == bandit.means.argmax()).mean())
    played = small.played["ThompsonBeta"]
    np.testing.assert_allclose(played.loss[:5, -1], losses)
    np.testing.assert_allclose(played.share[:5, -1], shares)


def test_the_options_are_drawn_from_the_prior():
    given = lr.plan(**{**SMALL, "options": 50}, policies="EpsilonGreedy", runs=100).scenario
    what = given.simulated(1)
    rates = np.array([given.draw(run, what).means for run in range(400)])
    assert abs(rates.mean() - 0.2) < 4 * 0.06 / sqrt(rates.size)
    assert abs(rates.std() - 0.06) < 0.002
    assert len(np.unique(rates)) == rates.size


def test_the_table_and_the_recommendation(small):
    table = small.table
    assert set(table["policy"]) == {"ThompsonBeta", "UCB1", "fixed split", "present option"}
    assert table["loss"].is_sorted()
    split = table.row(by_predicate=pl.col("policy") == "fixed split", named=True)
    gaps = [
        means.max() - means.mean()
        for means in (small.scenario.draw(r, small.simulated).means for r in range(60))
    ]
    assert split["loss"] == pytest.approx(np.mean(gaps) * 2_000)
    assert small.recommended == "ThompsonBeta"
    assert "less than a fixed split" in small.reason
    assert small.code == (
        "from datetime import timedelta\nimport lowregret as lr\n"
        'agent = lr.open_agent(\n    "experiment.db",\n    lr.ThompsonBeta(),\n    ["A", "B", "C"],\n'
        "    matures_after=timedelta(days=1),\n    default_reward=0,\n)"
    )
    shown = str(small)
    assert "Use ThompsonBeta" in shown and "fixed split" in shown
    assert "`assumptions` has what was assumed" in shown


@pytest.fixture(scope="module")
def revenue():
    case = {"mean": 5, "sd": 9, "options": 2, "lift": 0.5, "visitors": 90, "days": 9, "delay_days": 2}
    return lr.plan(**case, policies=["KLUCBGauss(variance=81)", "ThompsonNormal"], runs=40)


def test_the_code_of_a_plan_runs(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made: dict = {}
    exec(small.code, made)
    assert made["agent"].ask().arm in ("A", "B", "C")
    many = lr.plan(
        rate=0.2, lift=0.5, visitors=400, days=2, options=12, policies=["ThompsonBeta"], runs=9, threads=1
    )
    (tmp_path / "experiment.db").unlink()
    exec(many.code, made)
    assert len(made["agent"].arms) == 12


def test_which_policy_is_recommended(small, revenue):
    """The smallest loss; of those within the error, one that is given the variance, then the best tail."""
    steady, spread = np.full(40, 50.0), np.tile([41.0, 59.0], 20)
    losses = {
        "KLUCBGauss": steady + 0.1,
        "ThompsonNormal": spread,
        "EpsilonGreedy": steady,
        "UCB1": steady + 2.0,
    }
    policies = {name: getattr(lr, name)() for name in losses}

    def advice(*names, split=90.0, given=revenue.scenario):
        known = {name: losses[name] for name in names} | {"fixed split": steady * 0 + split}
        never = np.zeros(40, np.int64)
        played = {
            name: PolicyRuns(loss[:, None], loss[:, None], never, never, never, never)
            for name, loss in {**known, "present option": steady * 0 + split}.items()
        }
        chosen = {name: policies[name] for name in names}
        return recommend(given, FixedSplit(100, 0.5, 9.0), chosen, played)

    assert advice("KLUCBGauss", "ThompsonNormal").policy == "KLUCBGauss"
    assert "ThompsonNormal estimates the variance" in advice("KLUCBGauss", "ThompsonNormal").reason
    assert advice("KLUCBGauss", "ThompsonNormal", given=small.scenario).policy == "KLUCBGauss"
    assert advice("ThompsonNormal", "EpsilonGreedy").policy == "EpsilonGreedy"
    assert advice("KLUCBGauss", "EpsilonGreedy").policy == "EpsilonGreedy"  # which is clearly better
    assert advice("EpsilonGreedy", "UCB1").policy == "EpsilonGreedy"
    assert advice("KLUCBGauss", "UCB1").policy == "KLUCBGauss"
    none = advice("ThompsonNormal", split=50.5)
    assert none.policy == "fixed split" and "no policy loses clearly less" in none.reason
    assert "RoundRobin" in none.code
    assert advice("EpsilonGreedy", split=50.2).policy == "fixed split"  # clear, and less than 1%


SALES = {"options": 3, "rate": 0.1, "sale": 80, "sale_sd": 70, "lift": 0.3, "visitors": 300, "days": 8}


@pytest.fixture(scope="module")
def sales():
    return lr.plan(**SALES, policies="MOSSV", runs=40)


def test_a_plan_for_revenue_caps_sales_for_policies_without_the_variance(sales):
    """What a fixed split loses is what options are worse by, in money, caps or none."""
    assert sales.recommended == "MOSSV" and sales.scenario.unit == "revenue"
    assert 'reward_range=(0, 220),\n    outside="clip",' in sales.code
    assert sales.request["reward_range"] == [0, 220.0] and sales.request["outside"] == "clip"
    gaps = [
        (means.max() - means).mean()
        for means in (sales.scenario.draw(r, sales.simulated).means for r in range(40))
    ]
    loss = sales.table.filter(policy="fixed split")["loss"].item()
    assert loss == pytest.approx(np.mean(gaps) * 2_400)
    told = lr.plan(**SALES, policies="ThompsonGauss(variance=1000)", runs=40)
    assert "reward_range=None" in told.code
    assert 0.0 < sales.power < 1.0 and sales.days_needed > 8


def test_what_a_split_of_sales_observes(sales):
    """Sums and squares of capped sales, against draws of the family."""
    visitors, means = np.full((1, 3), 200_000), np.array([4.0, 8.0, 12.0])
    seen = sales.scenario.rewards.observe(np.random.default_rng(1), visitors, means)
    for option, mean in enumerate(means):
        drawn = np.minimum(lr.revenue(mean / 80, 80, 70).sample(0, 200_000) / 220, 1.0)
        error = 5 * (2 * 200_000) ** 0.5
        assert seen.sums[0, option] == pytest.approx(drawn.sum(), abs=error * drawn.std())
        assert seen.squares[0, option] == pytest.approx((drawn**2).sum(), abs=error * (drawn**2).std())


def test_the_sd_of_a_visitor_is_that_of_the_options(sales, revenue):
    for given in (sales.scenario, revenue.scenario):
        bandit = given.rewards.options(np.random.default_rng(1), 4, 1e-9)
        assert given.rewards.sd() == pytest.approx(bandit.variances[0] ** 0.5, rel=1e-6)
        assert given.rewards.value == pytest.approx(bandit.means[0], rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sale_sd": None}, "give sale_sd too"),
        ({"sale": None}, "give sale too"),
        ({"rate": None, "mean": 8, "sd": 9}, "give the rate of visitors who buy"),
        ({"sale": 0}, "sale"),
        ({"rhythm": "weekend=1.3"}, "leave one of them out"),
    ],
)
def test_sales_that_are_not_allowed(change, message):
    with pytest.raises(lr.InputError, match=message):
        lr.plan(**{**SALES, **change}, runs=2)


def test_the_code_runs(small, revenue, sales, tmp_path, monkeypatch):
    from datetime import timedelta

    monkeypatch.chdir(tmp_path)
    for number, plan in enumerate((small, revenue, sales)):
        scope = {"lr": lr, "timedelta": timedelta}
        exec(plan.code.replace("experiment.db", f"{number}.db"), scope)
        with scope["agent"] as agent:
            assert len(agent.arms) == plan.scenario.options
            agent.tell(agent.ask(), 1)


def test_the_json_and_the_command_create_the_agent_of_the_code(small, revenue, sales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for plan in (small, revenue, sales):
        new = parse_body(NewAgent, json.dumps(plan.request).encode())
        program, *arguments = shlex.split(plan.command)
        assert program == "lowregret" and json.loads(arguments[-1]) == plan.request
        for _ in range(2):
            created = CliRunner().invoke(app, arguments)
            count = plan.scenario.options
            assert created.stdout == f"default: {plan.recommended}, {count} arms\n", created.stderr
        scope: dict = {}
        exec(plan.code, scope)  # it opens the agent of the command: other settings would be refused
        with scope["agent"] as agent:
            assert agent.policy == new.settings().policy and list(agent.arms) == new.arms
        (tmp_path / "experiment.db").unlink()
    piped = CliRunner().invoke(app, ["agent", "create", "piped.db", "-"], input=json.dumps(small.request))
    assert piped.exit_code == 0 and Path("piped.db").exists()
    refused = CliRunner().invoke(app, ["agent", "create", "x.db", '{"name": "a", "polcy": "UCB1"}'])
    assert refused.exit_code == 2 and "did you mean 'policy'?" in refused.stderr


def test_the_code_of_a_policy_of_ones_own_imports_it(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    source = "import lowregret as lr\n\nclass Planned(lr.ThompsonBeta):\n    pass\n"
    (tmp_path / "planned_policies.py").write_text(source)
    code, request = snippets(small.scenario, policy_of("planned_policies:Planned"))
    scope: dict = {}
    exec(code, scope)
    assert type(scope["agent"].policy).__name__ == "Planned" and request is None


def test_the_present_option_loses_what_it_is_worse_by(small):
    loss = [
        (means.max() - means[0]) * 2_000
        for means in (small.scenario.draw(run, small.simulated).means for run in range(60))
    ]
    np.testing.assert_allclose(small.played["present option"].loss[:, -1], loss)
    row = small.table.row(by_predicate=pl.col("policy") == "present option", named=True)
    assert row["best_leads"] == np.mean(np.equal(loss, 0)) == row["reach_80"]


def test_too_few_visitors_to_learn_from():
    few = lr.plan(options=5, rate=0.05, lift=0.1, visitors=50, days=14, policies="UCB1")
    assert few.recommended == "present option" and few.code == few.command == "" and few.request is None
    assert few.reason.startswith("700 visitors are too few to learn anything that matters: UCB1 loses 4.3 ")
    assert "a guess finds it in 20%." in few.reason
    assert "open_agent" not in str(few)
    money = lr.plan(options=4, mean=5, sd=90, lift=0.1, visitors=50, days=14, policies="ThompsonNormal")
    assert money.recommended == "present option"


def test_how_a_large_lift_is_read():
    found = lr.plan(**{**SMALL, "rate": 0.01, "lift": 10, "spread": 1}, policies="UCB1", runs=4)
    note = "a lift of 10 is 1,000% (write 0.1 for 10%), from 0.01 to 0.11"
    assert f"Note: {note}" in " ".join(str(found).split()) and "lift 1,000%" in repr(found)
    assert any(f"Note: {note}" in str(part) for part in introduction(found))
    assert "Note" not in str(lr.plan(**SMALL, policies="UCB1", runs=4))


def test_where_no_reward_is_known_in_time_a_fixed_split_is_recommended():
    found = lr.plan(**{**SMALL, "delay_days": 10}, policies="UCB1", runs=4)
    assert found.recommended == "fixed split"
    assert "no reward is known before the last day" in found.reason
    assert found.power == 0


def test_large_traffic_is_scaled_and_says_so(monkeypatch):
    case = {"options": 3, "rate": 0.2, "lift": 0.05, "visitors": 2_000, "days": 10, "delay_days": 1}
    options = {"policies": ["ThompsonBeta", "MOSS"], "runs": 400}
    whole = lr.plan(**case, **options)
    monkeypatch.setattr(numbers, "MAX_WORK", 400 * 20_000 * 3 // 4)
    less = lr.plan(**case, **options)
    assert whole.simulated.scale == 1.0 and less.simulated.scale == pytest.approx(4.0)
    assert less.simulated.decisions == 5_000 and less.simulated.delay == 500
    assert any("factor of 4.00" in sentence for sentence in less.assumptions)
    assert not any("factor" in sentence for sentence in whole.assumptions)
    for name in ("ThompsonBeta", "MOSS", "fixed split"):
        one, other = (each.played[name].loss[:, -1] for each in (whole, less))
        error = np.hypot(one.std(), other.std()) / sqrt(400)
        assert abs(one.mean() - other.mean()) < 3 * error + 0.1 * one.mean()


def test_traffic_too_large_for_a_large_lift_is_refused():
    with pytest.raises(lr.InputError, match="300,000,000 visitors are too many .* use at most 700,000 "):
        lr.plan(options=5, rate=0.05, lift=0.5, visitors=10_000_000, days=30)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.5}, "plan: rate must lie between 0 and 1, got 1.5"),
        ({"rate": 0}, "plan: rate must lie between 0 and 1, got 0"),
        ({"lift": 6}, "plan: a lift of 6 is 600% (write 0.06 for 6%), from 0.2 to 1.4: use a lift below 4"),
        ({"lift": -0.1}, "plan: lift must be positive and finite, got -0.1"),
        ({"rate": None}, "plan: give either a rate, or a mean and an sd"),
        ({"mean": 3, "sd": 2}, "plan: give either a rate, or a mean and an sd"),
        ({"rate": None, "mean": 3}, "plan: give sd too: a mean reward needs both"),
        ({"options": 1}, "plan: options must be an integer of at least 2, got 1"),
        ({"visitors": 0}, "plan: visitors must be an integer of at least 1, got 0"),
        ({"days": 0}, "plan: days must be an integer of at least 1, got 0"),
        ({"delay_days": -1}, "plan: a number of days of the delay must be finite and at least 0, got -1"),
        ({"alpha": 2}, "plan: alpha must lie between 0 and 1, got 2"),
        ({"spread": 3}, "plan: rates around 0.2 cannot spread by 3 times that: use a spread below 1.41"),
        (
            {"rate": 0.05, "lift": 10},
            "plan: a lift of 10 is 1,000% (write 0.1 for 10%), from 0.05 to 0.55, and rates around 0.05 "
            "cannot spread by 10 times that: use a spread below 3.08",
        ),
        ({"visitors": 1, "days": 2}, "plan: 2 visitors cannot see 3 options: use more"),
        (
            {"policies": "Thompson"},
            "unknown policy 'Thompson': use lr.ThompsonBeta for rewards 0 and 1, "
            "lr.ThompsonNormal for others",
        ),
    ],
)
def test_bad_input_gets_one_sentence(change, message):
    with pytest.raises(lr.InputError) as error:
        lr.plan(**{**SMALL, **change})
    assert str(error.value) == message


def test_the_page(small, tmp_path):
    files = small.report(tmp_path / "out")
    assert {file.name for file in files} >= {"plan.html", "plan.csv", "traffic.svg", "loss.svg", "losses.svg"}
    text = files[0].read_text()
    for words in ("Use ThompsonBeta", "What was assumed", "power of", "open_agent"):
        assert words in text
    assert pl.read_csv(tmp_path / "out" / "plan.csv").height == 4


def test_the_command(small, tmp_path):
    arguments = [
        "plan",
        "--options",
        "3",
        "--rate",
        "0.2",
        "--lift",
        "0.3",
        "--visitors",
        "200",
        "--days",
        "10",
    ]
    arguments += ["--delay-days", "1", "--runs", "60", "-p", "ThompsonBeta", "-p", "UCB1"]
    call = lambda *more: CliRunner().invoke(app, [*arguments, *more], prog_name="lowregret")  # noqa: E731
    data = json.loads(call("--json").stdout)
    assert data == json.loads(json.dumps(small.to_dict()))
    printed = call("--out", str(tmp_path)).stdout
    assert "Use ThompsonBeta" in printed and "days to 80%" in printed and "wrote the page" in printed
    assert ("Days to 80%: the median" in printed, "Days to 80%: the median" in call("--explain").stdout) == (
        0,
        1,
    )
    refused = call("--rate", "1.5")
    assert refused.exit_code == 2
    assert refused.stderr == "lowregret: plan: rate must lie between 0 and 1, got 1.5\n"


def test_a_right_prior_saves_and_a_wrong_one_costs(tmp_path):
    """What it saves is the paired difference to the same runs without it."""
    options = {
        "options": 3,
        "rate": 0.05,
        "lift": 0.2,
        "visitors": 500,
        "days": 10,
        "policies": "ThompsonBeta",
    }
    plan = lr.plan(**options, runs=60, prior=500, progress=False)
    right, one, three = plan.prior.to_dicts()
    assert [row["prior"] for row in (right, one, three)] == ["right", "wrong by 1 se", "wrong by 3 se"]
    loss = plan.table.filter(policy="ThompsonBeta")["loss"].item()
    assert all(row["saves"] == pytest.approx(loss - row["loss"]) for row in (right, one, three))
    assert right["saves"] > 3 * right["se"] and right["saves"] > one["saves"] > three["saves"]
    assert three["saves"] < -3 * three["se"]  # 60 runs
    assert "A prior that is right saves ThompsonBeta" in str(plan) and plan.to_dict()["prior"][0] == right
    page = plan.report(tmp_path)[0].read_text()
    assert "wrong by 3 se costs" in page and "is worth 500 pulls of each option" in page
    with pytest.raises(lr.InputError, match="can use a prior"):
        lr.plan(**{**options, "policies": "TsallisINF"}, runs=2, prior=4, progress=False)


def test_a_verdict_comes_on_the_first_day_on_which_every_rival_is_beaten():
    arms = Totals(np.full((3, 2), 1.0), np.zeros((3, 2)), np.zeros((3, 2)))
    assert first_verdict(arms, 0.05, True) == 0
    sums = np.array([[50.0, 50.0, 45.0], [180.0, 100.0, 80.0], [330.0, 150.0, 120.0]])
    arms = Totals(np.repeat([[200.0], [400.0], [600.0]], 3, axis=1), sums, sums)
    assert first_verdict(arms, 0.05, True) == 2
    assert first_verdict(arms, 1e-9, True) == 3
    assert first_verdict(arms.at(slice(0, 1)), 0.05, True) == 0


def test_a_plan_tells_how_often_there_is_a_verdict_and_delays_count():
    common = {"options": 2, "rate": 0.3, "lift": 0.6, "visitors": 100, "days": 6, "runs": 20}
    table = lr.plan(**common, policies="RoundRobin", progress=False).table
    verdicts = dict(table.select("policy", "verdict").iter_rows())
    assert verdicts["present option"] == 0 < verdicts["RoundRobin"] < 1
    assert abs(verdicts["RoundRobin"] - verdicts["fixed split"]) < 0.35
    late = lr.plan(**common, delay_days=5.9, policies="RoundRobin", progress=False)
    assert late.table["verdict"].to_list() == [0, 0, 0]
    shares = late.played["RoundRobin"].proved(6)
    assert shares.tolist() == [0] * 6


def test_days_on_which_all_options_do_better():
    options = {"options": 2, "rate": 0.2, "lift": 0.3, "visitors": 50, "days": 7, "policies": "UCB1"}
    plain = lr.plan(**options, runs=4)
    weekend = lr.plan(**options, runs=4, rhythm="weekend=1.75; 1=0.5")
    assert weekend.scenario.factors == pytest.approx([0.35, 0.7, 0.7, 0.7, 0.7, 1.75, 1.75])
    split, other = (plan.played["fixed split"].loss for plan in (plain, weekend))
    assert np.diff(other, prepend=0.0) == pytest.approx(
        np.diff(split, prepend=0.0) * np.array(weekend.scenario.factors)
    )
    assert "a factor of the day, from 0.35 to 1.75" in weekend.assumptions[1]
    with pytest.raises(lr.InputError, match="rhythm must be a string such as 'weekend=1.3'"):
        lr.plan(**options, rhythm=1.3)
