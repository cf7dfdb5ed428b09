"""Without the extra ``plots`` all works but charts and pages, and one sentence says what to install."""

PROGRAM = """
import sys
assert sys.argv[1] not in sys.modules  # after the package is imported
sys.modules[sys.argv[1]] = None  # as if it were not installed

import lowregret as lr
from lowregret.cli import main

result = lr.simulate(["MOSS", "UCB1"], "bernoulli:0.1,0.9", horizon=20, runs=2, engine="reference")
print(result.summary().height, result.compare().height)
agent = lr.Agent("UCB1", ["a", "b"])
for chart in (result.plot, lambda: result.report("out"), agent.plot):
    try:
        chart()
    except lr.InputError as error:
        print(error)
for command in ("league --out out", "reproduce --out out", "plan --options 2 --rate 0.1 --lift 0.5 "
                "--visitors 100 --days 1 --out out"):
    sys.argv[1:] = command.split()
    try:
        main()
    except SystemExit as error:
        print(error.code)
"""


def test_one_sentence_says_what_to_install(tmp_path, forks):
    for package in ("altair", "vl_convert"):
        (printed,) = forks.run(tmp_path, PROGRAM, package)
        sentence = f'this needs {package}: pip install "lowregret[plots]"'
        assert printed.splitlines() == ["2 1", *3 * [sentence], *3 * ["2"]]
        assert (tmp_path / "err0").read_text().splitlines() == 3 * [f"lowregret: {sentence}"]
        assert {path.name for path in tmp_path.iterdir()} == {"out0", "err0"}
