"""Enter the league with a policy of your own.

The policy plays on named testbeds beside others. ``found.report("folder")`` writes a page with all tables.
The command is ``lowregret league --policy my_policies:Mine``.
"""

import sys
from math import sqrt
from tempfile import TemporaryDirectory

import altair as alt

import lowregret as lr


class Mine(lr.Policy):
    """m + width / sqrt(n)."""

    width: float = 0.5
    index_trend = "constant"
    needs = ("bounded rewards",)

    def score(self, arm, clock):
        return arm.mean + self.width / sqrt(arm.pulls)


if __name__ == "__main__":
    testbeds, rivals = ["100-arms", "short", "two-arms"], ["MOSSV", "MOSS", "UCB1"]
    with TemporaryDirectory() as folder:
        found = lr.league(policy=Mine(), policies=rivals, testbeds=testbeds, out=folder)
    scores = found.scores.select("testbed", "policy", "mean", "se", "worst05")
    print(scores)
    if len(sys.argv) > 1:
        bars = (
            alt.Chart(scores)
            .mark_bar()
            .encode(alt.X("mean", title="mean regret"), alt.Y("policy", title=None))
        )
        bars.properties(width=180).facet(alt.Facet("testbed", title=None)).resolve_scale(
            x="independent"
        ).save(sys.argv[1])
