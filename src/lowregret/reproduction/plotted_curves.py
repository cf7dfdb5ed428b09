"""What each published curve of the EUCBV paper was made with, as far as our policies can say it.

Each configuration follows a reading of the paper or of the released scripts (GitHub Subhojyoti/EUCBV, commit
7f693c7). None was chosen for the regret it gives. A curve that stems from a slip in its script has none,
unless the slip is a plain parameter of a policy or of the testbed.
"""

from __future__ import annotations

from typing import NamedTuple

from lowregret.reproduction.plotted_testbeds import MIRROR, NOISELESS, QUIET, STATED

RELEASED = "EUCBV(width='released')"
"""EUCBV as the released code computes it."""


class Curve(NamedTuple):
    """A published curve.

    Attributes
    ----------
    experiment : int
        The number in the paper.
    policy : str
        The name in the figure's legend.
    plays : str, optional
        The policy of ours that computes what the script does; None where there is none.
    testbed : str
        The kind of testbed the script plays on.
    script : str
        What the released script computes.
    differs : str
        What is known to differ between the script and the policy that plays; empty where nothing is.
    """

    experiment: int
    policy: str
    plays: str | None
    testbed: str
    script: str
    differs: str = ""


_WIDTH = "log(psi M eps) in the width, psi an integer, first deadline K + K n_0"
_SILENT = f"{_WIDTH}; all variances are set to 0"
_HORIZON = "the form with the horizon, sqrt(log+(T / (K n)) / n)"
_STUDENT = "the quantile 1 - 1/t of Student's law with n degrees, empirical variance"
_DEGREES = "ours has n - 1 degrees, the unbiased variance, and two pulls of every arm first"
_WRONG_ARM = "sqrt(2 v log(t) / n) + log(t) / n, where v is taken from the second moment of another arm"
_NO_SLIP = "the slip is not a parameter of UCB-V; with each arm's own moment a re-run of the script gave"


def _thompson(count: str) -> tuple[str, str]:
    slip = "the script's standard deviation falls as the count, that of Thompson sampling as its square root"
    return f"a normal sample with standard deviation 1 / {count}", f"{slip}; no variance makes them equal"


CURVES = (
    Curve(1, "EUCBV", RELEASED, STATED, _WIDTH),
    Curve(1, "UCB-V", None, STATED, _WRONG_ARM, f"{_NO_SLIP} 821"),
    Curve(1, "KLUCB+", "KLUCB", STATED, "KL-UCB with log(t) and c = 0, not KL-UCB+"),
    Curve(1, "MOSS", "MOSSAnytime(alpha=1)", STATED, "the form without the horizon, log+((t + 1) / (K n))"),
    Curve(1, "DMED", "DMED", STATED, "log(t / n)", "each count starts one too high in the script"),
    Curve(1, "UCB1", "UCB1", STATED, "sqrt(2 log(t + 1) / n)"),
    Curve(1, "TS", "ThompsonBeta", STATED, "a sample of Beta(1 + S, 1 + F)"),
    Curve(1, "OCUCB", "OCUCB(alpha=2)", STATED, "alpha = 2, psi = 2"),
    Curve(1, "BU", "BayesUCBBeta", STATED, "the quantile 1 - 1/t of the Beta law"),
    Curve(2, "EUCBV", RELEASED, NOISELESS, _SILENT),
    Curve(2, "UCB-V", None, QUIET, _WRONG_ARM, f"{_NO_SLIP} 2083"),
    Curve(2, "KLUCB-G+", "KLUCBGauss(variance=0.0001)", MIRROR, "the Gaussian divergence with variance 1e-4"),
    Curve(2, "MOSS", "MOSS", MIRROR, _HORIZON),
    Curve(
        2,
        "UCB-Improved",
        None,
        QUIET,
        "n_m more pulls of every arm in round m, where the source has up to n_m in all",
        "more pulls is not a parameter of UCB-Improved; the published regret is above uniform play's 11,880, "
        "so the order of the arms within a round shows too, and ours take turns",
    ),
    Curve(
        2,
        "UCB1",
        "UCB1",
        MIRROR,
        "sqrt(2 log(t + 1) / n)",
        "the points before the last agree; the last point of the released file rises much less than those "
        "before it, as if it were not at the horizon",
    ),
    Curve(2, "TS-G", None, QUIET, *_thompson("n")),
    Curve(2, "OCUCB", "OCUCB(alpha=2.1)", MIRROR, "alpha = 2.1, psi = 2"),
    Curve(2, "BU-G", "BayesUCBStudent", MIRROR, _STUDENT, _DEGREES),
    Curve(3, "EUCBV", RELEASED, NOISELESS, _SILENT),
    Curve(3, "UCB-V", None, QUIET, _WRONG_ARM, f"{_NO_SLIP} 3775"),
    Curve(3, "MOSS", "MOSS", QUIET, _HORIZON),
    Curve(3, "TS-G", None, QUIET, *_thompson("n")),
    Curve(3, "OCUCB", "OCUCB(alpha=2)", QUIET, "alpha = 2, psi = 2"),
    Curve(3, "BU-G", "BayesUCBStudent", QUIET, _STUDENT, _DEGREES),
    Curve(4, "EUCBV", RELEASED, NOISELESS, _SILENT),
    Curve(4, "UCB-V", None, QUIET, _WRONG_ARM, f"{_NO_SLIP} 3458"),
    Curve(4, "MOSS", "MOSS", QUIET, _HORIZON),
    Curve(4, "TS-G", None, QUIET, *_thompson("(n + 1)")),
    Curve(4, "OCUCB", "OCUCB(alpha=2.1)", QUIET, "alpha = 2.1, psi = 2"),
    Curve(4, "BU-G", "BayesUCBStudent", QUIET, _STUDENT, _DEGREES),
)
"""The 30 curves, in the order of the figures' legends."""
