"""The command line as a user meets it: output, errors and exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forked import LIMIT_SECONDS
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.policies import POLICIES
from lowregret.policies.recommended import RECOMMENDED

SMALL = ["--environment", "bernoulli:0.1,0.5", "--horizon", "60", "--runs", "4"]


def call(*arguments: str):
    """Call the command line inside this process."""
    return CliRunner().invoke(app, list(arguments), prog_name="lowregret")


def command(*arguments: str, **more):
    """Call the command line as a program of its own."""
    call = [sys.executable, "-m", "lowregret", *arguments]
    return subprocess.run(call, capture_output=True, text=True, timeout=300, check=False, **more)


def refused(result, value: str) -> None:
    """Check that bad input was told in one line that holds the value, with exit code 2."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("lowregret: ")
    assert result.stderr.count("\n") == 1
    assert value in result.stderr


def test_simulate_prints_a_table_of_what_the_library_gives() -> None:
    result = call("simulate", *SMALL, "--seed", "3", "--policy", "MOSS", "--policy", "UCB1(alpha=1)")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    known = lr.simulate(["MOSS", "UCB1(alpha=1)"], "bernoulli:0.1,0.5", horizon=60, runs=4, seed=3)
    for policy in ("MOSS", "UCB1(alpha=1)"):
        row = next(line for line in lines if line[:1] == [policy])
        assert float(row[1]) == pytest.approx(known.regret(policy).mean(), rel=0.006)
        assert len(row) == 7  # neither "at most" nor eliminated arms, which say nothing here
    assert "bernoulli:0.1,0.5, horizon 60, 4 runs, seed 3" in result.stdout
    assert result.stderr == ""


def test_simulate_takes_some_policies_if_none_is_named() -> None:
    result = json.loads(call("simulate", *SMALL, "--json").stdout)
    names = [entry["policy"] for entry in result["policies"]]
    assert names == ["EUCBV", "MOSSV", "MOSS", "UCB1", "RoundRobin"]


def test_simulate_counts_the_runs_that_lost_the_optimal_arm() -> None:
    arguments = ["-e", "gaussian:mean=0.5,0.6;variance=4", "--horizon", "100", "-p", "EUCBV", "--runs", "50"]
    lost = json.loads(call("simulate", *arguments, "--json").stdout)["policies"][0]["optimal_arm_eliminated"]
    row = next(line.split() for line in call("simulate", *arguments).stdout.splitlines() if "EUCBV" in line)
    assert lost > 0
    assert row[-4] == str(lost)


def test_json_is_one_valid_object_and_nothing_else() -> None:
    def no_constant(name: str):
        raise AssertionError(f"{name} is not JSON")

    result = call("simulate", *SMALL[:-1], "1", "--policy", "MOSS", "--json")
    data = json.loads(result.stdout, parse_constant=no_constant)
    assert result.stdout.count("\n") == 1
    assert data["policies"][0]["regret"]["se"] is None
    known = lr.simulate("MOSS", "bernoulli:0.1,0.5", horizon=60, runs=1).to_dict()
    for entry in (*data["policies"], *known["policies"]):
        entry.pop("seconds")
    assert data == known


def test_simulate_with_delayed_rewards() -> None:
    late = ["--policy", "UCB1", "--delay", "geometric(mean=5)", "--batch", "4"]
    data = json.loads(call("simulate", *SMALL, *late, "--json").stdout)
    known = lr.simulate("UCB1", "bernoulli:0.1,0.5", 60, 4, delay="geometric(5)", batch=4).to_dict()
    assert (data["delay"], data["batch"]) == ("geometric(mean=5)", 4)
    assert data["policies"][0]["curve"] == known["policies"][0]["curve"]
    words = " ".join(call("simulate", *SMALL, *late).stdout.split())
    assert "4 runs, seed 0, delay geometric(mean=5), batches of 4" in words
    refused(
        call("simulate", *SMALL, "--delay=-3"), "delay: constant must be an integer of at least 0, got -3"
    )
    refused(call("simulate", *SMALL, "--batch=0"), "batch must be an integer of at least 1, got 0")


def test_simulate_with_an_engine() -> None:
    compiled, plain = (
        json.loads(call("simulate", *SMALL, "--policy", "MOSS", "--engine", engine, "--json").stdout)
        for engine in ("compiled", "reference")
    )
    assert compiled["policies"][0]["curve"] == plain["policies"][0]["curve"]
    refused(
        call("simulate", *SMALL, "--engine", "cpu"),
        "engine must be 'compiled', 'reference' or 'cuda', got 'cpu'",
    )


def test_the_seed_and_not_the_threads_decide() -> None:
    def means(*more: str) -> list[float]:
        data = json.loads(call("simulate", *SMALL, "--policy", "MOSS", "--json", *more).stdout)
        return data["policies"][0]["curve"]["mean"]

    assert means("--threads", "1") == means("--threads", "3")
    assert means("--seed", "5") != means("--seed", "6")


BAD = {
    "no arms": ("bernoulli:", "got ''"),
    "a mean that is not a number": ("gaussian:mean=0.1,nan;variance=1", "got nan"),
    "a probability above 1": ("bernoulli:0.1,1.5", "got 1.5"),
    "a negative probability": ("bernoulli:-0.2,0.5", "got -0.2"),
    "a negative variance": ("gaussian:mean=0.1,0.2;variance=-1", "got -1"),
    "an unknown environment": ("paper-9", "paper-9"),
    "a malformed environment": ("bernoulli:0.1,x", "'x'"),
    "a missing file": ("nowhere/mine.toml", "nowhere/mine.toml"),
}


@pytest.mark.parametrize(("environment", "value"), BAD.values(), ids=BAD)
def test_a_bad_environment_is_refused(environment: str, value: str) -> None:
    refused(call("simulate", "--environment", environment, "--horizon", "10"), value)


def test_no_horizon_is_refused_where_the_environment_has_none() -> None:
    refused(call("simulate", "--environment", "bernoulli:0.1,0.2"), "horizon")


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--horizon", "0", "got 0"),
        ("--horizon", "-5", "got -5"),
        ("--runs", "0", "got 0"),
        ("--seed", "-1", "got -1"),
        ("--threads", "0", "got 0"),
        ("--policy", "Foo", "'Foo'"),
        ("--policy", "UCB1(alpha=-1)", "got -1"),
        ("--policy", "UCB1(alpha", "'UCB1(alpha'"),
        ("--policy", "UCB1(beta=2)", "'beta'"),
        ("--policy", "FixedArm(arm=7)", "got 7"),
    ],
)
def test_a_bad_option_is_refused(option: str, value: str, told: str) -> None:
    refused(call("simulate", *SMALL, option, value), told)


def test_an_error_is_one_line_whatever_the_text() -> None:
    refused(call("simulate", *SMALL, "--environment", "a\nb\n[red]c"), "[red]c")


@pytest.mark.parametrize("arguments", [["simulate"], ["simulate", *SMALL, "--runs", "many"], ["frobnicate"]])
def test_a_usage_error_exits_2(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("columns", ["80", "120"])
def test_policies_lists_the_recommended_ones_and_every_other_in_one_line(monkeypatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    result = call("policies")
    assert result.exit_code == 0
    recommended, others = result.stdout.split("\nothers")
    table = [line.partition("  ") for line in recommended.splitlines()[2:]]
    assert [name for name, _, _ in table if name] == list(RECOMMENDED)
    assert " ".join(words.strip() for _, _, words in table) == " ".join(RECOMMENDED.values())
    names = {name.partition("(")[0] for name in RECOMMENDED}
    lines = [line for line in others.splitlines() if line.startswith("  ") and not line.lstrip()[0].islower()]
    assert sorted(line.split()[0] for line in lines) == sorted(set(POLICIES) - names)
    assert all(POLICIES[line.split()[0]].source in line for line in lines)
    assert ("rewards in [0, 1]" in others) == (columns == "120")  # what a policy needs
    assert max(map(len, result.stdout.splitlines())) <= int(columns)


def test_policies_shows_one_in_full(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = call("policies", "EUCBV")
    assert result.exit_code == 0
    assert result.stdout.startswith("EUCBV(rho=0.5, psi=None, width='paper')\n")
    assert (
        "\n\nParameters:\n\nrho : float, default 0.5\n    Arm elimination parameter, positive.\npsi"
        in result.stdout
    )
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "Algorithm 1" in result.stdout


def test_an_unknown_policy_to_show_is_refused() -> None:
    refused(call("policies", "Foo"), "'Foo'")


def test_reproduce_refuses_a_place_it_cannot_write_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(call("reproduce", "--out", str(tmp_path / "file")), str(tmp_path / "file"))


def test_version_as_a_program() -> None:
    result = command("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"lowregret {lr.__version__}\n", "")


def test_bad_input_as_a_program() -> None:
    result = command("simulate", "--environment", "bernoulli:2", "--horizon", "10")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == "lowregret: bernoulli: a probability must lie in [0, 1], got 2.0 for arm 0\n"


def test_a_warning_is_one_plain_line_and_leaves_the_json_alone() -> None:
    arguments = ["--environment", "bernoulli:0.1*9,0.5", "--horizon", "100", "--runs", "2", "--json"]
    result = command("simulate", *arguments, "--policy", "EUCBV")
    assert result.returncode == 0
    assert json.loads(result.stdout)["horizon"] == 100
    assert result.stderr.startswith("lowregret: warning: EUCBV: the paper's guarantee")
    assert result.stderr.count("\n") == 1
    assert ".py" not in result.stderr


@pytest.mark.parametrize("group", [[], ["agent"], ["token"]])
def test_lists_of_commands_have_whole_sentences_at_80_columns(group: list[str], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(*group, "--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(lines) > 2
    assert [line for line in lines if not line.endswith(".") or line.endswith("...")] == []


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nsys.argv = ['lowregret', '--help']\nfrom lowregret.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('LOADED', *(m for m in sys.modules if '.' not in m))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told, _, loaded = result.stdout.partition("LOADED")
    assert "simulate" in told
    assert "typer" in loaded.split()
    assert not set(loaded.split()) & {"numpy", "numba", "polars", "altair", "scipy"}


@pytest.mark.skipif(os.name != "posix", reason="signals and terminals as POSIX has them")
class TestTerminal:
    """What happens on a real terminal."""

    def start(self, *arguments: str, **streams) -> tuple[subprocess.Popen, int]:
        """Start the command line with standard error on a terminal; give the other end of that."""
        import pty

        ours, theirs = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
        call = [sys.executable, "-m", "lowregret", *arguments]
        process = subprocess.Popen(call, stderr=theirs, stdout=subprocess.PIPE, env=environment, text=True)
        os.close(theirs)
        return process, ours

    def read(self, ours: int, until: str | None = None) -> str:
        """Read from a terminal to the end, or until some words were seen."""
        seen = ""
        while until is None or until not in seen:
            try:
                data = os.read(ours, 65536)
            except OSError:  # how Linux tells that the other end is closed
                break
            if not data:
                break
            seen += data.decode(errors="replace")
        return seen

    def test_progress_goes_to_the_terminal_and_not_to_standard_output(self) -> None:
        process, ours = self.start("simulate", *SMALL, "--policy", "MOSS", "--json")
        seen = self.read(ours)
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
        os.close(ours)
        assert process.returncode == 0
        assert "MOSS" in seen
        assert json.loads(output)["runs"] == 4

    def test_an_interrupt_is_one_line_and_exit_code_130(self) -> None:
        large = [
            "--environment",
            "paper-1",
            "--horizon",
            "100000",
            "--runs",
            "1000000",
            "--policy",
            "RoundRobin",
        ]
        process, ours = self.start("simulate", *large)
        assert " of 1,000,000 runs" in self.read(ours, until=" of 1,000,000 runs")
        process.send_signal(signal.SIGINT)
        seen = self.read(ours)
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
        os.close(ours)
        assert process.returncode == 130
        assert output == ""
        assert "lowregret: interrupted: nothing is kept; `lowregret run` keeps" in seen
        assert "Traceback" not in seen


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    lr.Experiment(
        environments="bernoulli:0.1,0.9", policies=["MOSS", "RoundRobin"], horizon=60, runs=8, seed=3
    ).run(folder)
    return folder


def test_compare_prints_one_line_per_verdict(results: Path) -> None:
    result = call("compare", str(results), "--baseline", "MOSS")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "bernoulli:0.1,0.9"
    assert lines[1].startswith("  RoundRobin has higher regret than MOSS in these runs; rare failures are")
    assert result.stderr == ""


def test_compare_as_json(results: Path) -> None:
    (row,) = json.loads(call("compare", str(results), "--json").stdout)["comparisons"]
    assert (row["policy"], row["baseline"], row["verdict"]) == ("RoundRobin", "MOSS", "higher in these runs")


def test_compare_refuses_what_is_not_there(results: Path, tmp_path: Path) -> None:
    refused(call("compare", str(results), "--baseline", "UCB1"), "'UCB1'")
    refused(call("compare", str(tmp_path / "nowhere")), "nowhere")


def test_report_writes_a_page_and_figures(results: Path, tmp_path: Path) -> None:
    result = call("report", str(results), "--baseline", "MOSS", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0
    assert f"wrote {tmp_path / 'out' / 'report.html'}" in result.stdout
    assert (tmp_path / "out/report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    figures = {path.name for path in (tmp_path / "out/figures").iterdir()}
    assert "bernoulli-0-1-0-9-regret.svg" in figures
    assert {path.rpartition(".")[2] for path in figures} == {"svg"}
    call("report", str(results), "--figures", "all", "--out", str(tmp_path / "all"))
    assert (tmp_path / "all/figures/bernoulli-0-1-0-9-regret.pdf").exists()
    assert call("report", str(results), "--figures", "none", "--out", str(tmp_path / "none")).exit_code == 0
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["report.html"]
    assert call("report", str(results), "--figures", "gif").exit_code == 2
    refused(call("report", str(results), "--band", "wide"), "interval, spread or none")
    refused(call("report", str(results), "--baseline", "UCB1"), "'UCB1'")


def test_a_class_of_ones_own_and_numbers_such_as_1e3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_here.py").write_text(
        "import lowregret as lr\n\n\nclass Mine(lr.Policy):\n    c: float = 1.0\n\n"
        "    def score(self, arm, clock):\n        return arm.mean + self.c / arm.pulls\n"
    )
    monkeypatch.chdir(tmp_path)
    options = ["-e", "bernoulli:0.1,0.9", "--horizon", "1e3", "--runs", "1e1", "--json", "--record-rewards"]
    done = call("simulate", *options, "-p", "mine_here:Mine", "-p", "mine_here:Mine(c=2)", "-p", "MOSS")
    told = json.loads(done.stdout)
    assert (told["horizon"], told["runs"]) == (1_000, 10)
    assert [each["policy"] for each in told["policies"]] == ["Mine", "Mine(c=2)", "MOSS"]
    assert "no module 'nowhere'" in call("simulate", *options, "-p", "nowhere:Mine").stderr
    assert "'1.5' is not an integer" in call("simulate", "-e", "paper-1", "--horizon", "1.5").stderr


def test_bounds_of_no_runs() -> None:
    told = call("bounds", "-e", "paper-1", "--runs", "0").stderr
    assert told == "lowregret: bounds: runs must be an integer of at least 1, got 0\n"
