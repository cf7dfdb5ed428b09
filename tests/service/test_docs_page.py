"""The calls on docs/live/service.md answer what the page shows, in curl and in Python."""

import io
import json
import re
import shlex
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
from serving import PATIENCE, served

PAGE = Path(__file__).parents[2] / "docs" / "live" / "service.md"
BLOCK = re.compile(r"^```(bash|json|python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLACE = "http://127.0.0.1:8000"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_page(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    names, key, printed, checked = {}, "", None, 0
    with served(tmp_path / "a.db") as client:
        url = str(client.base_url).rstrip("/")
        for language, text in blocks:
            text = text.replace(PLACE, url)
            if language == "bash":
                words = shlex.split(text.replace("\\\n", "").replace("ID-1", key))
                printed = subprocess.run(
                    words, capture_output=True, text=True, timeout=PATIENCE, check=True
                ).stdout
                key = key or _first_id(printed)
                checked += 1
            elif language == "python":
                output = io.StringIO()  # of this code alone: other threads of the process may print as well
                names["print"] = partial(print, file=output)
                exec(compile(text, str(PAGE), "exec", dont_inherit=True), names)
                printed = output.getvalue()
                checked += 1
            elif printed is not None:
                assert _normalised(printed) == _normalised(text)
                printed = None
    assert checked == 6


def _first_id(text):
    found = json.loads(text).get("decisions")
    return found[0]["id"] if found else ""


def _normalised(text):
    text = re.sub(r"[0-9a-f]{32}-", "ID-", text.strip())
    return re.sub(r'"timestamp":[0-9.]+', '"timestamp":0', text)
