"""The wheel works alone in a clean environment; `make dist` also tries the newest Python."""

import sys
from zipfile import ZipFile

import pytest

from lowregret import __version__

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    from verify_wheel import build

    return build(tmp_path_factory.mktemp("dist"))


def test_the_wheel_has_what_it_needs_and_no_more(wheel):
    assert wheel.name == f"lowregret-{__version__}-py3-none-any.whl"
    names = ZipFile(wheel).namelist()
    assert "lowregret/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {"lowregret", f"lowregret-{__version__}.dist-info"}


def test_the_wheel_works_alone(wheel, tmp_path):
    from verify_wheel import verify

    verify(wheel, sys.executable, tmp_path)
