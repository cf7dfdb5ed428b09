"""Published regrets: points of the 30 curves in figures 1 to 4 of the EUCBV paper.

Source: the result files behind the figures, released by the authors (GitHub Subhojyoti/EUCBV, commit
7f693c7). Each value is the mean of 100 runs; the variance between runs was not released.
"""

PUBLISHED_RUNS = 100

TIMES = {
    1: (6_000, 12_000, 30_000, 60_000),
    2: (30_000, 150_000, 300_000),
    3: (40_000, 80_000, 200_000, 400_000),
    4: (40_000, 80_000, 200_000, 400_000),
}
"""Times of the points, by experiment; the last is the horizon."""

REGRETS: dict[int, dict[str, tuple[float, ...]]] = {
    1: {
        "EUCBV": (146.98, 229.31, 259.33, 273.56),
        "UCB-V": (167.77, 295.93, 502.86, 652.71),
        "KLUCB+": (160.26, 293.35, 538.74, 716.64),
        "MOSS": (146.90, 246.83, 435.76, 624.16),
        "DMED": (166.40, 304.12, 458.43, 489.89),
        "UCB1": (168.17, 340.66, 824.30, 1613.49),
        "TS": (150.68, 248.96, 372.55, 441.54),
        "OCUCB": (161.79, 312.99, 657.57, 738.64),
        "BU": (156.24, 276.38, 479.23, 615.58),
    },
    2: {
        "EUCBV": (668.32, 894.96, 894.96),
        "UCB-V": (800.59, 2150.72, 2560.26),
        "KLUCB-G+": (538.82, 2569.64, 5095.15),
        "MOSS": (1344.42, 3096.21, 3101.44),
        "UCB-Improved": (914.47, 5729.17, 15868.91),
        "UCB1": (1578.25, 6721.31, 11307.83),
        "TS-G": (487.30, 971.45, 1395.90),
        "OCUCB": (1399.91, 3937.88, 4226.59),
        "BU-G": (679.23, 900.89, 991.17),
    },
    3: {
        "EUCBV": (365.53, 696.67, 894.61, 894.61),
        "UCB-V": (368.97, 726.96, 1760.28, 2929.50),
        "MOSS": (370.84, 742.16, 1838.81, 3146.30),
        "TS-G": (349.87, 580.30, 983.32, 1535.20),
        "OCUCB": (370.85, 744.93, 1833.85, 3493.10),
        "BU-G": (396.18, 784.41, 1933.27, 3667.12),
    },
    4: {
        "EUCBV": (391.62, 757.19, 971.86, 971.86),
        "UCB-V": (399.04, 796.71, 1935.27, 3574.28),
        "MOSS": (400.43, 795.92, 1965.18, 3338.36),
        "TS-G": (366.56, 610.34, 1099.43, 1689.83),
        "OCUCB": (385.67, 770.05, 1950.56, 3845.32),
        "BU-G": (408.04, 716.40, 1715.54, 2689.52),
    },
}
"""Published regrets at these times, by experiment and policy, in the order of the figures' legends."""


def published_regret(experiment: int, policy: str) -> float | None:
    """Return the published regret at the horizon; None if the paper shows no such curve."""
    regrets = REGRETS[experiment].get(policy)
    return None if regrets is None else regrets[-1]
