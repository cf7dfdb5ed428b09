"""What a sheet can say of runs."""

import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.reproductions.quantities import run_values


def test_wrong_is_the_share_of_runs_with_a_wrong_recommendation() -> None:
    settings = {"runs": 20, "grid": [50, 200], "engine": "reference", "seed": 1}
    result = lr.simulate("RoundRobin", "bernoulli:0.4,0.5", 200, record_recommendations=True, **settings)
    wrong = [run_values(result["RoundRobin"], result.arms, "wrong", str, t) for t in (50, 200, None)]
    errors = result.identification(by_time=True)["error"].to_list()
    assert [values.mean() for values in wrong] == [*errors, errors[-1]]
    assert 0 < errors[1] < errors[0] and set(wrong[0]) == {0.0, 1.0}
    plain = lr.simulate("RoundRobin", "bernoulli:0.4,0.5", 200, **settings)
    with pytest.raises(InputError, match="record_recommendations = true"):
        run_values(plain["RoundRobin"], plain.arms, "wrong", str)
