"""Starting a service: what is refused at once, in one sentence."""

import socket
import sys

import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.service import Options
from lowregret.service.serve import serve


def refused(*arguments):
    """Run ``lowregret serve``; return its one sentence."""
    done = CliRunner().invoke(app, ["serve", *map(str, arguments)])
    assert done.exit_code == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    for name in ("httpx", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    assert 'this needs uvicorn: pip install "lowregret[service]"' in refused(tmp_path / "a.db")
    with pytest.raises(lr.InputError, match="pip install"):
        lr.connect("http://127.0.0.1:8000")


def test_what_cannot_be_served(tmp_path):
    (tmp_path / "text.db").write_text("no database " * 100)
    assert "not an SQLite file" in refused(tmp_path / "text.db")
    assert "cannot write to" in refused(tmp_path / "nowhere" / "a.db")
    assert "cannot be read" in refused(tmp_path / "a.db", "--tokens", tmp_path / "none.json")
    assert "no host" in refused(tmp_path / "a.db", "--host", "no such host")
    assert "pass --tokens" in refused(tmp_path / "a.db", "--host", "0.0.0.0")
    assert "workers" in refused(tmp_path / "a.db", "--workers", 0)
    assert "port" in refused(tmp_path / "a.db", "--port", 70_000)


def test_a_port_in_use(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(lr.InputError, match=f"cannot listen on 127.0.0.1 port {port}"):
            serve(Options(str(tmp_path / "a.db")), port=port)
