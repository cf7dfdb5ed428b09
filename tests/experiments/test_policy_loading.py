"""Finding a policy's class again: ours, a file's, and what is refused."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import lowregret as lr
from lowregret.experiments.policy_loading import NotHere, find_class, load_class, refer_to

OWN = """
import lowregret as lr

class Mine(lr.Policy):
    def score(self, arm, clock):
        return arm.mean
"""


def test_ours() -> None:
    assert load_class(refer_to(lr.EUCBV)) is lr.EUCBV
    assert find_class("EUCBV", Path()) == refer_to(lr.EUCBV)


def test_a_file_that_changed_after_the_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine_a.py").write_text(OWN)
    reference = find_class("mine_a:Mine", tmp_path)
    assert load_class(reference) is load_class(reference)
    (tmp_path / "mine_a.py").write_text(OWN + "\n")
    with pytest.raises(NotHere, match="is not what it was when the run was planned"):
        load_class(reference)


def test_an_object_whose_file_changed_since_is_refused(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine_b.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    kind = import_module("mine_b").Mine
    assert load_class(refer_to(kind)).__name__ == "Mine"
    (tmp_path / "mine_b.py").write_text(OWN.replace("arm.mean", "-arm.mean"))
    with pytest.raises(lr.InputError, match="has changed since it was imported"):
        refer_to(kind)


def test_a_module_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_c.py").write_text("WIDTH = 1.0\n")
    (tmp_path / "mine_c.py").write_text("from neighbour_c import WIDTH\n" + OWN)
    before = list(sys.path)
    assert load_class(find_class("mine_c:Mine", tmp_path)).__name__ == "Mine"
    assert sys.path == before


def test_a_module_that_raises_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine_d.py").write_text("1 / 0\n")
    with pytest.raises(lr.InputError, match="mine_d:Mine: cannot import the module: ZeroDivisionError"):
        load_class(find_class("mine_d:Mine", tmp_path))


def test_a_class_inside_a_function_is_refused() -> None:
    class Inner(lr.Policy):
        def score(self, arm, clock):
            return arm.mean

    with pytest.raises(lr.InputError, match="Inner: define the class at the top level of a module"):
        refer_to(Inner)


@pytest.mark.parametrize("text", ["a b:Mine", "x:", ":Mine", "x:y z", "../x:Mine"])
def test_what_cannot_be_read(text: str, tmp_path: Path) -> None:
    with pytest.raises(lr.InputError, match="write module:Class"):
        find_class(text, tmp_path)
