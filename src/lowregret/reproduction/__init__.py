"""Reproduction of the EUCBV paper: its experiments, published curves, claims and proof.

The paper is Mukherjee, Naveen, Sudarsanam and Ravindran, "Efficient-UCBV: An Almost Optimal Algorithm using
Variance Estimates", AAAI 2018. ``lowregret reproduce`` calls, in this order,

1. ``reproduce.run_experiments``: simulate every configuration that ``interpretations`` lists;
2. ``evaluation.evaluate``: compare the results with what the paper publishes, claims and proves;
3. ``reproduce.write_files``: the page, its figures, and the tables as CSV and JSON;
4. ``report_tables``: the tables that are printed.

Data
    ``stated``: the experiments as stated in the text. ``plotted``: testbed and policy of every published
    curve, after the released scripts. ``script_policies``: what eight of these scripts compute in place of
    the policy. ``published``: points of the published curves. ``claims``: the claims of the text about its
    experiments.
Evaluation
    ``interpretations``: the three readings of the paper and their configurations. ``evaluation``: simulated
    beside published regret, and uniform play. ``matching``: tests of equivalence with the published curves.
    ``verdicts``: comparisons and the verdicts on every claim, in two readings. ``estimates``: bounds on two
    probabilities in the proof, and their Monte Carlo estimates. ``counterexample``: two arms that refute
    Theorem 1.
Report
    ``report_tables``: the layout of every table, for page and terminal. ``report_sections``: figures and
    sections of the page, and its prose.
"""
