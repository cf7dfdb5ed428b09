"""Environments from text and from TOML files."""

from pathlib import Path

import pytest

from lowregret.environments import (
    Bandit,
    Bernoulli,
    Empirical,
    Exponential,
    Gaussian,
    bernoulli,
    beta,
    empirical,
    environment,
    exponential,
    gaussian,
    paper,
    poisson,
    uniform,
)
from lowregret.errors import InputError


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    """Write a TOML file and return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_paper_testbeds(number: int) -> None:
    assert environment(f"paper-{number}") == paper(number)


def test_a_bandit_comes_back_unchanged() -> None:
    bandit = bernoulli([0.1, 0.2])
    assert environment(bandit) is bandit


LINES = [
    ("bernoulli:0.1,0.2", bernoulli([0.1, 0.2])),
    ("bernoulli: 0.07 * 19 , 1e-1", bernoulli([0.07] * 19 + [0.1])),
    ("bernoulli:probability=0.5", bernoulli(0.5)),
    ("bernoulli:probabilities=0.5*2", bernoulli([0.5, 0.5])),
    ("gaussian:mean=0.1,0.2;variance=0.01,0.25", gaussian([0.1, 0.2], [0.01, 0.25])),
    ("gaussian:variance=1 ; mean=-0.1,0.2", gaussian([-0.1, 0.2], 1)),
    ("gaussian:mean=0.5;variance=1,2", gaussian(0.5, [1, 2])),
    ("beta:a=1,2;b=3", beta([1, 2], 3)),
    ("exponential:0.1,0.2", exponential([0.1, 0.2])),
    ("exponential:mean=0.1,0.2", exponential([0.1, 0.2])),
    ("poisson:0,3", poisson([0, 3])),
    ("uniform:low=0;high=0.5*2,1", uniform(0, [0.5, 0.5, 1])),
]


@pytest.mark.parametrize(("text", "expected"), LINES, ids=[text for text, _ in LINES])
def test_lines(text: str, expected: Bandit) -> None:
    bandit = environment(text)
    assert bandit.arms == expected.arms
    assert bandit.name == text
    assert bandit.horizon is None


FILES = [
    ('family = "bernoulli"\nprobabilities = [0.1, 0.2]', bernoulli([0.1, 0.2])),
    ('family = "gaussian"\nmeans = [1, 2]\nvariances = 0.5', gaussian([1, 2], 0.5)),
    ('family = "beta"\na = [1, 2]\nb = [3, 4]', beta([1, 2], [3, 4])),
    ('family = "exponential"\nmeans = [1, 2]', exponential([1, 2])),
    ('family = "poisson"\nmeans = [1, 2]', poisson([1, 2])),
    ('family = "uniform"\nlows = [0, 1]\nhighs = [2, 3]', uniform([0, 1], [2, 3])),
    ('family = "empirical"\ndata = [[1, 2], [3]]', empirical([[1, 2], [3]])),
    ('family = "bernoulli"\nprobabilities = 0.5\nscale = [-1, 1]', bernoulli(0.5, scale=(-1, 1))),
]


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[text for text, _ in FILES])
def test_files(tmp_path: Path, text: str, expected: Bandit) -> None:
    path = write(tmp_path, text)
    bandit = environment(path)
    assert bandit.arms == expected.arms
    assert (bandit.name, bandit.horizon) == ("mine", None)
    assert environment(str(path)) == bandit


def test_file_with_name_and_horizon(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "ads"\nhorizon = 60_000\nfamily = "bernoulli"\nprobabilities = [0.1]')
    assert environment(path) == Bandit((Bernoulli(0.1),), "ads", 60_000)


def test_file_with_mixed_arms(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        horizon = 100
        scale = [0, 2]
        [[arms]]
        family = "bernoulli"
        probability = 0.5
        count = 2
        [[arms]]
        family = "gaussian"
        means = 1
        variance = 4
        [[arms]]
        family = "exponential"
        mean = 3
        [[arms]]
        family = "empirical"
        data = [2, 4]
        """,
    )
    coin = Bernoulli(0.5, 0, 0.5)
    arms = (coin, coin, Gaussian(0.5, 1), Exponential(1.5), Empirical([1, 2]))
    assert environment(path) == Bandit(arms, "mine", 100)


def test_every_bandit_of_one_family_survives_a_round_trip(tmp_path: Path) -> None:
    bandit = paper(4)
    text = (
        f'name = "paper-4"\nhorizon = {bandit.horizon}\nfamily = "gaussian"\n'
        f"means = {bandit.means.tolist()}\nvariances = {bandit.variances.tolist()}\n"
    )
    assert environment(write(tmp_path, text)) == bandit


UNKNOWN = "use paper-1 to paper-4, a family such as bernoulli:0.1,0.2, or a TOML file"
BAD_LINES: list[tuple[object, str]] = [
    ("foo", f"unknown environment 'foo': {UNKNOWN}"),
    ("", f"unknown environment '': {UNKNOWN}"),
    ("paper-5", "unknown environment 'paper-5': did you mean 'paper-4'?"),
    ("bernoulli", "bernoulli: give its parameters, as in bernoulli:..."),
    ("normal:0.1", "unknown environment 'normal:': did you mean 'gaussian:'?"),
    (3, f"unknown environment 3: {UNKNOWN}"),
    (None, f"unknown environment None: {UNKNOWN}"),
    (b"paper-1", f"unknown environment b'paper-1': {UNKNOWN}"),
    (Path("arms.txt"), f"unknown environment 'arms.txt': {UNKNOWN}"),
    ("bernoulli:", "bernoulli: probability must be numbers, got ''"),
    ("bernoulli:0.1,,0.2", "bernoulli: probability must be numbers, got ''"),
    ("bernoulli:0.1,x", "bernoulli: probability must be numbers, got 'x'"),
    ("bernoulli:0.1,1.2", "bernoulli: a probability must lie in [0, 1], got 1.2 for arm 1"),
    ("bernoulli:nan", "bernoulli: a probability must lie in [0, 1], got nan for arm 0"),
    ("poisson:1,inf", "poisson: mean must be a finite number up to 1e150, got inf for arm 1"),
    ("bernoulli:0.1*0", "bernoulli: count must be an integer of at least 1, got 0"),
    ("bernoulli:0.1*-2", "bernoulli: count must be an integer of at least 1, got '-2'"),
    ("bernoulli:0.1*2.5", "bernoulli: count must be an integer of at least 1, got '2.5'"),
    ("bernoulli:0.1*2*3", "bernoulli: count must be an integer of at least 1, got '2*3'"),
    ("bernoulli:0.1*", "bernoulli: count must be an integer of at least 1, got ''"),
    ("bernoulli:0.1*99999999999", "bernoulli: count must be at most 1000000, got 99999999999"),
    ("bernoulli:0.1*900000,0.2*900000", "bernoulli: at most 1000000 arms are allowed, got more"),
    ("gaussian:0.1", "gaussian: parameters must be written mean=...;variance=..., got '0.1'"),
    ("gaussian:mean=0.1", "gaussian: variance is missing, give mean and variance"),
    ("gaussian:mean=1;sigma=2", "gaussian: unknown key 'sigma', use mean and variance"),
    ("gaussian:mean=1;mean=2", "gaussian: mean must be given once, got it twice"),
    ("gaussian:mean=1;means=2", "gaussian: mean must be given once, got it twice"),
    ("gaussian:mean=1;variance==2", "gaussian: variance must be numbers, got '=2'"),
    (
        "gaussian:mean=1,2;variance=1,2,3",
        "gaussian: means and variances must have the same length, got 2 and 3",
    ),
    ("uniform:low=1,2;high=1.5", "uniform: low must not exceed high, got 2 and 1.5 for arm 1"),
    ("empirical:1,2", "empirical: data belongs in a TOML file, got '1,2'"),
    (
        "absent.toml",
        "cannot read environment file 'absent.toml': No such file or directory",
    ),
    (
        "bad\0name.toml",
        "environment file 'bad\\x00name.toml' is not valid TOML: embedded null byte",
    ),
]


@pytest.mark.parametrize(("source", "message"), BAD_LINES, ids=[repr(s) for s, _ in BAD_LINES])
def test_bad_lines(source: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        environment(source)  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize("digits", [50, 5000])
def test_absurd_counts(digits: int) -> None:
    with pytest.raises(InputError, match=r"^bernoulli: count must be "):
        environment("bernoulli:0.1*" + "9" * digits)


KNOWN = (
    "use one of bernoulli, gaussian, beta, exponential, poisson, uniform, lognormal, pareto, "
    "revenue, truncnormal, empirical"
)
BAD_FILES = [
    ("", "a file must hold either family or [[arms]], and not both"),
    (
        'family = "beta"\n[[arms]]\nfamily = "beta"',
        "a file must hold either family or [[arms]], and not both",
    ),
    ('family = "foo"', f"unknown family 'foo': {KNOWN}"),
    ("family = [1]", f"family must be {KNOWN.removeprefix('use ')}, got [1]"),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\ncolour = 1',
        "bernoulli: unknown key 'colour', use probability",
    ),
    ('family = "bernoulli"', "bernoulli: probability is missing, give probability"),
    ('famly = "bernoulli"', "unknown key 'famly', did you mean 'family'?"),
    ('[[arm]]\nfamily = "bernoulli"', "unknown key 'arm', did you mean 'arms'?"),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\nhorizont = 9',
        "unknown key 'horizont', did you mean 'horizon'?",
    ),
    (
        '[[arms]]\nfamilly = "bernoulli"\nprobability = 0.1',
        "unknown key 'familly', did you mean 'family'? in [[arms]] table 0",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\n[drift]\nknd = "linear"',
        "unknown key 'knd', did you mean 'kind'?",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1, "x"]',
        "bernoulli: a probability must lie in [0, 1], got 'x' for arm 1",
    ),
    (
        'family = "bernoulli"\nprobabilities = [true]',
        "bernoulli: a probability must lie in [0, 1], got True for arm 0",
    ),
    (
        'family = "bernoulli"\nprobabilities = []',
        "bernoulli: probabilities must give at least one arm, got an empty sequence",
    ),
    (
        'family = "gaussian"\nmeans = [1, 2]\nvariances = [1]',
        "gaussian: means and variances must have the same length, got 2 and 1",
    ),
    (
        'family = "empirical"\ndata = [[1], []]',
        "empirical: values must be a non-empty sequence of numbers, got [] for arm 1",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\nhorizon = "long"',
        "Bandit: horizon must be an integer of at least 1, got 'long'",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\nname = 3',
        "Bandit: name must be a string, got 3",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\nscale = [1, 0]',
        "scale: low must lie below high, got 1 and 0",
    ),
    (
        'family = "bernoulli"\nprobabilities = [0.1]\nscale = [1]',
        "scale: must be a pair of numbers, low and high, got [1]",
    ),
    ("arms = []", "Bandit: arms must be a non-empty sequence, got []"),
    ("arms = [0.1]", "arms must be [[arms]] tables, got 0.1"),
    ('arms = "x"', "arms must be [[arms]] tables, got 'x'"),
    (
        'colour = 1\n[[arms]]\nfamily = "bernoulli"\nprobability = 0.1',
        "unknown key 'colour', use arms, name, horizon, scale and drift",
    ),
    ("[[arms]]\nprobability = 0.1", f"family is missing, {KNOWN} in [[arms]] table 0"),
    (
        '[[arms]]\nfamily = "poisson"\nmean = 1\n[[arms]]\nfamily = "poisson"\nmean = -1',
        "poisson: mean must be at least 0, got -1 in [[arms]] table 1",
    ),
    (
        '[[arms]]\nfamily = "poisson"\nmean = 1\ncount = 0',
        "arms: count must be an integer of at least 1, got 0 in [[arms]] table 0",
    ),
    (
        '[[arms]]\nfamily = "poisson"\nmean = 1\ncount = 99999999999',
        "arms: count must be at most 1000000, got 99999999999 in [[arms]] table 0",
    ),
    (
        '[[arms]]\nfamily = "poisson"\nmean = 1\ncount = 900000\n' * 2,
        "at most 1000000 arms are allowed, got more",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES, ids=[text for text, _ in BAD_FILES])
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        environment(write(tmp_path, text))
    assert str(caught.value) == f"mine.toml: {message}"


@pytest.mark.parametrize(
    "content",
    [b"family = ", b"\xff\xfe", b"x = " + b"[" * 5000, b"x = " + b"9" * 5000],
    ids=["no value", "not text", "too deep", "too long"],
)
def test_broken_toml(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.toml' is not valid TOML: "):
        environment(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(InputError, match=r"^cannot read environment file '.*folder\.toml': "):
        environment(folder)
