"""Other packages: pandas and Gymnasium, where they are installed."""

import sys

import pytest

import lowregret as lr
from lowregret.errors import InputError


def test_pandas() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    result = lr.simulate("MOSS", "bernoulli:0.1,0.9", 50, 4)
    assert result.finals.to_pandas()["regret"].tolist() == result.finals["regret"].to_list()


def test_gymnasium() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    env = lr.to_gymnasium("bernoulli:0.1,1.0", horizon=3)
    assert isinstance(env, gymnasium.Env)
    check_env(env, skip_render_check=True)
    assert env.reset(seed=1) == (0, {})
    assert [env.step(1)[1:] for _ in range(3)] == [
        (1.0, False, False, {"regret": 0.0}),
        (1.0, False, False, {"regret": 0.0}),
        (1.0, False, True, {"regret": 0.0}),
    ]
    assert env.step(0)[4]["regret"] == pytest.approx(0.9)
    with pytest.raises(InputError, match="arm must be an integer from 0 to 1, got 2"):
        env.step(2)


def test_without_gymnasium(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(InputError, match=r'pip install "lowregret\[gymnasium\]"'):
        lr.to_gymnasium("bernoulli:0.1,0.9")
