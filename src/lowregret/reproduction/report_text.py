"""The prose of the page."""

TITLE = "Reproduction of the EUCBV paper"

INTRODUCTION = (
    "Mukherjee, Naveen, Sudarsanam and Ravindran, Efficient-UCBV: An Almost Optimal Algorithm using Variance "
    "Estimates (AAAI 2018), compare EUCBV with other policies on four testbeds and show 30 regret curves. "
    "This page repeats all experiments and compares the results with the published ones.",
    "Each experiment is read in three ways. As printed: Algorithm 1 and every policy named in the text, on "
    "the testbed as stated in the text. Released width: the same testbed, and EUCBV with the width, the "
    "integer psi and the first deadline of the code released with the paper. As plotted: for each published "
    "curve, what its released script computes, on the testbed of that script.",
    "Regret is pseudo-regret, the sum of the gaps of the pulled arms. The released files contain realised "
    "regret, which has the same mean and a larger variance. In each run all policies see the same rewards, "
    "so comparisons are paired. Statements about the released code come from reading it (GitHub "
    "Subhojyoti/EUCBV, commit 7f693c7, folder AAAI2018/codes). That the authors released scripts and result "
    "files makes this comparison possible. Whether the figures were made with exactly this commit is not "
    "known; where our points agree with theirs, it is likely.",
)

FIGURES = (
    "Lines: our means over the runs as plotted, with 95% intervals. Circles: points of the published curves.",
)

MATCHING = (
    "Every published point of a curve is compared with our mean. The published values are means of 100 runs, "
    "rounded to 0.01, and the spread of these runs was not released. The values are those of the released "
    "files, so they contain no error of reading a figure.",
)

READINGS = (
    "As plotted, experiment 1: the testbed is the stated one. EUCBV has the released width, MOSS is the "
    "anytime version, and KLUCB+ is KL-UCB. The scripts of MOSS, UCB1, OCUCB and TS as released are set up "
    "for other testbeds; for them the testbed is that of the text. For MOSS the version and for UCB-V the "
    "formula of the variance are inferred from the published regret.",
    "As plotted, experiments 2 to 4: the script of EUCBV sets all variances to 0 before the first pull, so "
    "its runs are deterministic. All other scripts take the stated variances for standard deviations. In "
    "experiment 2 the scripts of UCB1, MOSS, OCUCB, KLUCB-G+ and BU-G exchange the sizes of the two groups "
    "of suboptimal arms: 33 of mean 0.07 and 66 of mean 0.01, where the text has 66 and 33.",
    "As plotted, UCB-V, TS-G and UCB-Improved: the scripts of UCB-V add the squared rewards of all arms to "
    "those of the last one, those of TS-G sample with standard deviation 1/n in place of 1/sqrt(n), and that "
    "of UCB-Improved makes n_m more pulls of each arm in round m in place of n_m in total.",
    "The paper draws the variances of most arms of experiments 3 and 4 at random and does not print them, "
    "and the files with the drawn values were not released; here they are drawn once, with a fixed seed.",
)

NOTES = {
    1: (
        "The script of the published EUCBV curve has the released width: log(psi M eps) with M = 7 and psi = "
        "150 in place of the printed log(psi T eps). This makes its confidence intervals much shorter."
    ),
    2: (
        "The published EUCBV curve has the released width and no noise; simulated in this way, it agrees "
        "with every published point to 0.01. With the released width and the stated noise many runs "
        "eliminate the optimal arm; they form the long tail of the final regrets below."
    ),
    3: (
        "As in experiment 2, the published EUCBV curve has the released width and no noise, and our curve "
        "agrees with it to 0.01 under these conditions."
    ),
    4: (
        "As in experiments 2 and 3, the published EUCBV curve has the released width and no noise, and our "
        "curve agrees with it to 0.01 under these conditions."
    ),
}

THEORY = (
    "The bounds of the paper contain unstated constants (C_0, C_3), which are printed beside the values. A "
    "bound is vacuous if it exceeds T times the largest gap, which the regret of no policy exceeds. All "
    "bounds are vacuous in all four experiments, so the figures above show none of them. As printed, Theorem "
    "1 does not hold: two arms without noise refute it for large T. docs/theory.md derives both.",
)
