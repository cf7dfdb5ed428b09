"""What the page on the EUCBV paper says in words."""

from __future__ import annotations

TITLE = "The EUCBV paper, accounted for"

INTRODUCTION = (
    "Mukherjee, Naveen, Sudarsanam and Ravindran, Efficient-UCBV: An Almost Optimal Algorithm using Variance "
    "Estimates (AAAI 2018), compare EUCBV with other policies on four testbeds and show 30 curves of regret. "
    "This page plays all of it again and sets what it finds beside what was published. It speaks of numbers "
    "alone.",
    "Each experiment is read in three ways. As printed: Algorithm 1 and every policy the text names, on the "
    "testbed as the text states it. Released width: the same testbed, and EUCBV with the width, the integer "
    "psi and the first deadline of the code released with the paper. As plotted: for each published curve "
    "the policy and the testbed that its released script sets up, as far as these are plain parameters.",
    "Regret is pseudo-regret, the sum of the gaps of the arms pulled; the released files hold realised "
    "regret, which has the same mean and a larger spread. In each run all policies see the same rewards, so "
    "they are compared run by run. What is said of the released code comes from reading it (GitHub "
    "Subhojyoti/EUCBV, commit 7f693c7).",
)

FIGURES = (
    "Lines: our means over the runs as plotted, with 95% intervals. Circles: points of the published curves. "
    "A curve with circles and no line is one we do not reproduce; the reasons stand under Every published "
    "curve.",
)

READINGS = (
    "As plotted, experiment 1: the testbed is the stated one. EUCBV has the released width; MOSS is the form "
    "without the horizon; KLUCB+ is KL-UCB.",
    "As plotted, experiments 2 to 4: the script of EUCBV sets all variances to 0 before the first pull, so "
    "that nothing is left to chance. All other scripts take the stated variances for standard deviations. In "
    "experiment 2 the scripts of UCB1, MOSS, OCUCB, KLUCB-G+ and BU-G exchange the sizes of the two groups "
    "of worse arms: 33 of mean 0.07 and 66 of mean 0.01, where the text has 66 and 33.",
    "The paper draws the variances of most arms of experiments 3 and 4 at random and does not print them; "
    "here they are drawn once, with a fixed seed.",
)

NOTES = {
    1: (
        "The published EUCBV curve has the released width: log(psi M eps) with M = 7 and psi = 150 in place "
        "of the printed log(psi T eps). That makes its intervals much shorter."
    ),
    2: (
        "The published EUCBV curve has the released width and no noise; played so, it agrees with every "
        "published point to 0.01. With the released width and the stated noise many runs lose the optimal "
        "arm for good; they are the long tail of its final regrets below."
    ),
    3: (
        "As in experiment 2, the published EUCBV curve has the released width and no noise, and agrees to "
        "0.01 when played so."
    ),
    4: (
        "As in experiments 2 and 3, the published EUCBV curve has the released width and no noise, and "
        "agrees to 0.01 when played so."
    ),
}

THEORY = (
    "The bounds of the paper leave constants open (C_0, C_3), which stand beside the values. A bound is "
    "vacuous where it is above T times the largest gap, which no policy can exceed; that is so in all four "
    "experiments, so the figures above show none of them. docs/theory.md has the algebra.",
)
