"""What other libraries call things, and what to use here."""

_THOMPSON = "lr.ThompsonBeta for rewards 0 and 1, lr.ThompsonNormal for others"
OTHER_NAMES = {
    **dict.fromkeys(("ucb", "ucbi", "ucbalpha", "ucb1policy"), "lr.UCB1"),
    **dict.fromkeys(("thompsonsampling", "thompson", "ts", "betats"), _THOMPSON),
    **dict.fromkeys(("epsgreedy", "egreedy", "greedy", "epsilongreedypolicy"), "lr.EpsilonGreedy"),
    **dict.fromkeys(("bernoullibandit", "bernoulliarm", "bernoullimab"), "lr.bernoulli([0.1, 0.2])"),
    **dict.fromkeys(("gaussianbandit", "gaussianarm", "normal"), "lr.gaussian(means, variances)"),
    **dict.fromkeys(("mab", "multiarmedbandit"), "lr.Agent to choose, lr.Bandit to simulate"),
    **dict.fromkeys(("uniformrandom", "uniformpolicy"), "lr.RoundRobin"),
    **dict.fromkeys(("ucb1tuned",), "lr.UCBTuned"),
    **dict.fromkeys(("evaluator", "environmentmab", "simulator", "simulation", "run"), "lr.simulate"),
    **dict.fromkeys(("load", "loadresults", "readresults"), "lr.open_results"),
    **dict.fromkeys(("plot", "compare", "summary", "report"), "the method of a result, as in result.plot()"),
    **dict.fromkeys(
        ("exp3", "exp4", "linucb", "lints"),
        "another package: adversarial and contextual bandits are not here",
    ),
}
"""Names of other libraries, in lower case without underscores, and what to use here."""

AGENT_CALLS = {
    **dict.fromkeys(("choose", "choice", "select_arm", "select", "pull", "predict", "act"), "ask()"),
    **dict.fromkeys(("update", "partial_fit", "fit", "learn", "reward", "record"), "tell(decision, reward)"),
    **dict.fromkeys(("best_arm", "winner", "best"), "verdict()"),
    **dict.fromkeys(("remove_arm", "delete_arm"), "retire_arm(arm)"),
}
"""Calls of an agent as other libraries name them, and ours."""


def our_call(name: str) -> str:
    """Return the message for a call that agents do not have."""
    ours = AGENT_CALLS.get(name, "")
    return f"an agent has no attribute {name!r}{ours and ': use agent.' + ours}"


def our_name(name: str) -> str:
    """Return what to use for a name of another library, "" for a name that none has."""
    return OTHER_NAMES.get(name.lower().replace("_", ""), "")
