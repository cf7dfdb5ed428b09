"""Without a horizon: epochs double, statistics are kept, arms come back."""

import lowregret as lr


def played(agent, steps):
    for _ in range(steps):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "good"))


def states(agent):
    return agent.summary()["state"].to_list()


def test_each_epoch_opens_the_arms_again_and_keeps_what_is_known():
    agent = lr.Agent(lr.EUCBV(rho=0.02), ["good", "bad"], seed=1)
    played(agent, 999)
    assert states(agent) == ["active", "eliminated"]
    before = agent.summary()["pulls"].sum()
    played(agent, 1)
    assert states(agent) == ["active", "active"]
    assert agent.summary()["pulls"].sum() == before + 1
    state = agent.transactions.state
    assert (state.epoch, state.models[0]["horizon"]) == (1, 2_000)
    assert state.round.number == 0
    assert state.round.until > 1_000
    played(agent, 999)
    assert states(agent) == ["active", "eliminated"]
    played(agent, 1)
    assert (state.epoch, state.models[0]["horizon"]) == (2, 4_000)


def test_within_the_first_epoch_it_is_the_policy_with_that_horizon():
    one, other = lr.Agent(lr.EUCBV(), ["a", "b"], seed=1), lr.Agent(lr.EUCBV(), ["a", "b"], 1_000, seed=1)
    for step in range(1_000):
        choices = one.ask(), other.ask()
        assert choices[0].arm == choices[1].arm
        for agent, choice in zip((one, other), choices, strict=True):
            agent.tell(choice, (step * 7 % 10) / 10 if choice.arm == "a" else 0.5)


def test_a_policy_that_needs_no_horizon_has_no_epochs():
    agent = lr.Agent(lr.MedianElimination(0.9, 0.9), ["good", "bad"])
    played(agent, 1_500)
    assert states(agent) == ["active", "eliminated"]


def test_after_a_horizon_that_was_given_it_goes_on_as_it_is():
    for policy in (lr.EUCBV(rho=0.02), lr.OCUCB(psi=1.0), lr.MOSS()):
        agent = lr.Agent(policy, ["good", "bad"], horizon=300, seed=1)
        played(agent, 1_000)
        assert agent.time == 1_000
        assert agent.transactions.state.epoch == 0


def test_rounds_go_by_rewards_told_not_by_pulls_that_wait():
    agent = lr.Agent(lr.EUCBV(), ["a", "b"], horizon=1_000, seed=1)
    choices, until = agent.ask(500), agent.transactions.state.round.until
    assert until < 500
    for told, choice in enumerate(choices, 1):
        agent.tell(choice, 0.5)
        assert (agent.transactions.state.round.number > 0) == (told >= until)
