"""The example on the Open Bandit Dataset, without the download: a made-up log of the same format."""

import runpy
from pathlib import Path
from zipfile import ZipFile

import pytest

import lowregret as lr

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "open_bandit.py"))
HEADER = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0\n"
ROWS = [
    "0,2019-11-24 00:00:01+00:00,7,3,0,0.25,ab12,0.0\n",
    "1,2019-11-24 00:00:02+00:00,12,1,1,0.5,cd34,1.0\n",
    "2,2019-11-24 00:00:03+00:00,7,2,1,0.125,ef56,0.0\n",
]


def test_the_columns_are_those_of_a_replay():
    table = EXAMPLE["convert"]((HEADER + "".join(ROWS)).encode())
    assert table.to_dict(as_series=False) == {
        "arm": [7, 12, 7],
        "reward": [0, 1, 1],
        "propensity": [0.25, 0.5, 0.125],
    }
    assert lr.replay(table, "FixedArm(arm=0)", resamples=0).log.arms == ("7", "12")


def test_a_log_is_read_out_of_the_wheel(tmp_path):
    with ZipFile(tmp_path / "obp.whl", "w") as archive:
        archive.writestr("obp/dataset/obd/bts/men/men.csv", HEADER + "".join(ROWS))
    assert EXAMPLE["read"](tmp_path / "obp.whl", "bts", "men").height == 3
    with pytest.raises(KeyError):
        EXAMPLE["read"](tmp_path / "obp.whl", "random", "men")
