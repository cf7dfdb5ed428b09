"""Top-two Thompson sampling against a plain implementation, and its propensities against frequencies."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.rng import STATE, Rng, stream
from lowregret.engine.kernels.second_arm import second_arm
from lowregret.special.argmax_probabilities import beta_argmax, normal_argmax, top_two_shares

BETAS = (np.array([30.0, 12.0, 14.0, 3.0]), np.array([20.0, 16.0, 14.0, 9.0]))
NORMALS = (np.array([0.6, 0.45, 0.47, 0.2]), np.array([0.05, 0.08, 0.06, 0.16]))


def plain_shares(first, share):
    """Add up the probabilities of all pairs of a first and a second arm."""
    total = share * first
    for i, leads in enumerate(first):
        for j, other in enumerate(first):
            if j != i:
                total[j] += (1 - share) * leads * other / (np.delete(first, i).sum())
    return total


@pytest.mark.parametrize(
    "first", [[0.5, 0.3, 0.2], [0.999, 0.001], [1 - 1e-9, 6e-10, 4e-10], [1.0, 3e-40, 1e-40]]
)
def test_the_shares_are_those_of_sampling_until_another_arm_is_first(first):
    first = np.array(first)
    shares = top_two_shares(first, 0.3)
    assert shares == pytest.approx(plain_shares(first.copy(), 0.3), rel=1e-9)
    assert shares.sum() == pytest.approx(1, abs=1e-12)


def test_one_arm_is_always_pulled():
    assert top_two_shares(np.array([1.0]), 0.3).tolist() == [1.0]
    assert set(lr.trace("TopTwoThompson", "bernoulli:0.5", 50).arm.tolist()) == {0}


def test_small_probabilities_to_be_the_largest_are_precise():
    """Three variables of one distribution far below a fourth: each is as likely; as SciPy, with two."""
    from scipy import integrate, stats

    chances = beta_argmax(np.array([900.0, 20, 20, 20]), np.array([100.0, 80, 80, 80]), far=True)
    assert chances[1:] == pytest.approx([chances[1]] * 3, rel=1e-9)
    leader, other = stats.beta(900, 100), stats.beta(20, 80)
    true, _ = integrate.quad(
        lambda x: np.exp(other.logpdf(x) + leader.logcdf(x)), 0.3, 0.95, epsabs=0, limit=500
    )
    both = beta_argmax(np.array([900.0, 20]), np.array([100.0, 80]), far=True)
    assert 1e-60 < true < 1e-20 and both[1] == pytest.approx(true, rel=1e-6)
    assert both[0] == pytest.approx(1, abs=1e-12)
    both = normal_argmax(np.array([1.0, 0.0]), np.array([0.1, 0.05]), far=True)
    assert both[1] == pytest.approx(stats.norm.sf(1 / np.hypot(0.1, 0.05)), rel=1e-8)


@pytest.mark.parametrize(
    ("policy", "parameters", "argmax"),
    [(lr.TopTwoThompson(), BETAS, beta_argmax), (lr.TopTwoThompsonGauss(), NORMALS, normal_argmax)],
)
@pytest.mark.parametrize("rarity", [1.0, 6.0])
def test_the_second_arm_has_its_conditional_distribution(policy, parameters, argmax, rarity):
    """3,000 draws: a difference of 4.5 standard errors has odds below 1e-5."""
    first, second = parameters
    if argmax is beta_argmax:
        first, second = rarity * first, rarity * second
    else:
        second = second / np.sqrt(rarity)
    chances = argmax(first, second, far=True)
    expected = chances[1:] / chances[1:].sum()
    assert (chances[0] < 0.97) == (rarity == 1.0) and expected.max() < 0.995
    states, weights = np.zeros(1, STATE), np.zeros(4)
    states["key"] = stream(7, 0, 1)
    rng = Rng(states[0])
    counts = np.zeros(4)
    for _ in range(3_000):
        counts[second_arm(policy, 0, first, second, weights, rng)] += 1
    assert counts[0] == 0
    error = np.sqrt(3_000 * expected * (1 - expected))
    assert (np.abs(counts[1:] - 3_000 * expected) < 4.5 * error + 1).all()


@pytest.mark.parametrize("policy", [lr.TopTwoThompson(0.4), lr.TopTwoThompsonGauss(0.25, 0.4)])
@pytest.mark.parametrize("copies", [1, 20])
def test_the_choices_of_an_agent_have_the_stated_propensities(policy, copies):
    """4,000 choices in one state: a difference of 4.5 standard errors has odds below 1e-5."""
    agent = lr.Agent(policy, ["a", "b", "c"], log_propensities=True, seed=3)
    told = {"a": [1, 1, 0, 1], "b": [1, 0, 1, 0, 0], "c": [0, 1, 0]}
    for arm, rewards in told.items():
        agent.tell_many((agent.ask(only=[arm]), reward) for reward in copies * rewards)
    agent.compile()
    choices = agent.ask(4_000)
    for arm in told:
        stated = next(choice.propensity for choice in choices if choice.arm == arm)
        count = sum(choice.arm == arm for choice in choices)
        assert abs(count - 4_000 * stated) < 4.5 * np.sqrt(4_000 * stated * (1 - stated))
    assert stated > 0.02


def plain_game(rewards, horizon, seed):
    """A second implementation with NumPy's random numbers; return how often each arm is pulled."""
    random, counts = np.random.default_rng(seed), np.ones((2, len(rewards)))  # failures and successes, plus 1
    pulls = np.zeros(len(rewards), int)
    for _ in range(horizon):
        arm = first = random.beta(counts[1], counts[0]).argmax()
        if random.random() >= 0.5:
            while arm == first:  # 500 samples at a time: that another arm comes first may be rare
                leaders = random.beta(counts[1], counts[0], (500, len(rewards))).argmax(axis=1)
                arm = leaders[(leaders != first).argmax()]
        counts[int(rewards[arm][pulls[arm]]), arm] += 1
        pulls[arm] += 1
    return pulls


def test_its_pulls_are_distributed_as_those_of_a_plain_game():
    """80 games of each: the means differ by 4.5 standard errors with odds below 1e-5."""
    random, ours, plain = np.random.default_rng(8), [], []
    for seed in range(80):
        rewards = (random.random((3, 60)) < [[0.1], [0.4], [0.6]]).astype(float)
        arms = lr.trace("TopTwoThompson", rewards, 60, seed, engine="reference").arm
        ours.append(np.bincount(arms, minlength=3))
        plain.append(plain_game(rewards, 60, seed))
    differences = np.subtract(ours, plain)  # of two games with the same rewards
    error = differences.std(axis=0) / np.sqrt(80)
    assert (np.abs(differences.mean(axis=0)) < 4.5 * error).all()
    assert 20 < np.mean(ours, axis=0)[2] < 40  # about half, where Thompson sampling has nearly all
