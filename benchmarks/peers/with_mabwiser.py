"""MABWiser: its UCB1 (alpha = 1 weighs sqrt(2 log t / n) by 1) and Thompson sampling with beta posteriors."""

from mabwiser.mab import MAB, LearningPolicy
from playing import ARMS, play


def start(learning, seed):
    policy = MAB(ARMS, learning, seed=seed)
    waiting, first = ARMS[::-1], []

    def choose():
        return waiting.pop() if waiting else policy.predict()

    def learn(arm, reward):
        if len(first) < len(ARMS):
            first.append(reward)
            if len(first) == len(ARMS):  # it predicts only after a first fit
                policy.fit(ARMS, first)
        else:
            policy.partial_fit([arm], [reward])

    return choose, learn


play("UCB1", lambda seed: start(LearningPolicy.UCB1(alpha=1), seed))
play("ThompsonBeta", lambda seed: start(LearningPolicy.ThompsonSampling(), seed))
