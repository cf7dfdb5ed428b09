"""pymab: its UCB1 and both kinds of Thompson sampling, in its own compiled experiment loop."""

from time import perf_counter

import numpy as np
from playing import ARMS, MEANS, RUNS, STEPS, say
from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig
from pymab.policies.thompson_sampling import BernoulliThompsonSamplingPolicy, GaussianThompsonSamplingPolicy
from pymab.policies.ucb import UCBPolicy


def experiment(policy, runs, steps, environment):
    config = ExperimentConfig(horizon=steps, n_replicates=runs, seed=1, backend="rust")
    return Experiment(environment=environment, policies={"policy": policy}, config=config)


def play(name, kind):
    environment = BanditEnvironment(means=np.array(MEANS), reward_model=BernoulliReward())
    experiment(kind(n_arms=len(ARMS)), 1, 100, environment).run()
    plan = experiment(kind(n_arms=len(ARMS)), RUNS, STEPS, environment)
    began = perf_counter()
    result = plan.run()
    seconds = perf_counter() - began
    say(name, RUNS * STEPS, seconds, result.cumulative_regret[-1].mean())


play("UCB1", UCBPolicy)
play("ThompsonBeta", BernoulliThompsonSamplingPolicy)
play("ThompsonGauss", GaussianThompsonSamplingPolicy)
