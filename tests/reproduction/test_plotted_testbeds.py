"""The paper's testbeds, as stated and as the released scripts set them up."""

import numpy as np
import pytest

from lowregret.environments import paper
from lowregret.errors import InputError
from lowregret.reproduction.plotted_testbeds import WORDS, paper_testbed


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_stated_one_is_the_papers(number):
    assert paper_testbed(number) == paper(number)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_only_the_noise_is_changed(number):
    stated = paper(number)
    for kind, variances in (("noiseless", 0.0 * stated.variances), ("quiet", stated.variances**2)):
        bandit = paper_testbed(number, kind)
        assert (bandit.name, bandit.horizon) == (f"paper-{number}-{kind}", stated.horizon)
        assert np.array_equal(bandit.means, stated.means)
        assert np.array_equal(bandit.variances, variances)


def test_the_mirror_exchanges_the_sizes_of_the_groups():
    groups = {}
    for arm in paper_testbed(2, "mirror").arms:
        groups[arm.mean, round(arm.variance, 12)] = groups.get((arm.mean, round(arm.variance, 12)), 0) + 1
    assert groups == {(0.07, 1e-4): 33, (0.01, 0.0625): 66, (0.09, 0.0625): 1}


@pytest.mark.parametrize(("number", "kind"), [(1, "quiet"), (3, "mirror"), (2, "loud")])
def test_one_that_does_not_exist_is_refused(number, kind):
    with pytest.raises(InputError, match=rf"^testbed: experiment {number} has no testbed '{kind}'$"):
        paper_testbed(number, kind)


def test_every_kind_is_put_into_words():
    assert list(WORDS) == ["stated", "noiseless", "quiet", "mirror"]
