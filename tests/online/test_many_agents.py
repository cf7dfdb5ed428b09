"""Several agents in one file, each with a name; opened by path or URL, to use or to read."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from agent_workers import contents

import lowregret as lr
from lowregret.online.stores.locations import agent_names

DATA = Path(__file__).parents[1] / "data"
ARMS = ["red", "green", "blue"]


def test_agents_in_one_file_do_not_know_one_another(tmp_path):
    path = tmp_path / "all.db"
    with (
        lr.open_agent(path, lr.UCB1(), ARMS, name="one", seed=1) as one,
        lr.open_agent(path, lr.EUCBV(), ["x", "y"], name="two", seed=2) as two,
    ):
        alone = [lr.Agent(lr.UCB1(), ARMS, seed=1), lr.Agent(lr.EUCBV(), ["x", "y"], seed=2)]
        for step in range(600):
            for stored, plain in zip((one, two), alone, strict=True):
                choice, same = (
                    stored.ask(request=f"visit {step % 590}"),
                    plain.ask(request=f"visit {step % 590}"),
                )
                assert choice.arm == same.arm
                for agent, each in ((stored, choice), (plain, same)):
                    agent.tell(each, step % 590 % 3 / 2)
        with pytest.raises(lr.UnknownDecisionError):
            two.tell(one.ask(), 1)
        assert [contents(agent)["told"] for agent in (one, two, *alone)] == [590] * 4
    assert agent_names(path) == ["one", "two"]
    for name, plain in zip(("one", "two"), alone, strict=True):
        with lr.open_agent(path, name=name) as again:
            assert again.summary()["pulls"].to_list() == plain.summary()["pulls"].to_list()


def test_an_agent_that_exists_opens_by_its_name_alone(tmp_path):
    path = tmp_path / "agent.db"
    with lr.open_agent(
        path, "EUCBV(rho=0.1)", ARMS, 900, 7, (-1, 3), name="buttons", outside="clip", matures_after=20
    ) as agent:
        agent.ask(3)
        settings = agent.transactions.state.settings
    for given in ({}, {"name": "buttons"}, {"policy": lr.EUCBV(rho=0.1)}):
        with lr.open_agent(path, **given) as agent:
            assert agent.transactions.state.settings == settings
            assert agent.time == 3
    with pytest.raises(lr.InputError, match="uses EUCBV.*, not UCB1"):
        lr.open_agent(path, lr.UCB1())
    with pytest.raises(lr.InputError, match="pass the policy and the arms as well, or nothing but the name"):
        lr.open_agent(path, seed=7)
    with pytest.raises(lr.InputError, match="pass the policy and the arms as well"):
        lr.open_agent(path, arms=ARMS)


def test_what_does_not_exist_is_not_created_by_a_look(tmp_path):
    with pytest.raises(lr.StoreError, match="there is no such file"):
        lr.open_agent(tmp_path / "agent.db", name="buttons")
    assert not list(tmp_path.iterdir())
    lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS, name="a").close()
    with pytest.raises(lr.InputError, match="agent 'b' in .* does not exist: pass a policy and arms"):
        lr.open_agent(tmp_path / "agent.db", name="b")
    lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS, name="b").close()
    with pytest.raises(lr.InputError, match="has several agents, pass one of the names: a, b"):
        lr.open_agent(tmp_path / "agent.db")
    lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS).close()
    assert agent_names(tmp_path / "agent.db") == ["a", "b", "default"]


@pytest.mark.parametrize("name", ["", " ", "a b", "../a", ".a", "a" * 65, "é", 7, "a\n"])
def test_names_are_plain(tmp_path, name):
    with pytest.raises(lr.InputError, match="the name of an agent must be 1 to 64 letters, digits"):
        lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS, name=name)
    assert not list(tmp_path.iterdir())


def test_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lr.open_agent("sqlite:///choices.db", lr.UCB1(), ARMS).close()
    assert agent_names("choices.db") == ["default"]
    lr.open_agent(f"sqlite:///{tmp_path}/other.db", lr.UCB1(), ARMS).close()
    assert (tmp_path / "other.db").exists()
    for url in ("mysql://x", "sqlite://x.db", "sqlite:///", "ftp://a/b"):
        with pytest.raises(lr.InputError, match="must be a path or a URL such as 'sqlite:///choices.db'"):
            lr.open_agent(url, lr.UCB1(), ARMS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["choices.db", "other.db"]


def test_files_are_for_their_owner(tmp_path):
    mask = os.umask(0o022)
    try:
        with lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS) as agent:
            agent.ask()
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(mask)
    assert "agent.db" in modes and len(modes) > 1
    assert set(modes.values()) == {0o600}


def test_the_header_names_the_format(tmp_path):
    lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS).close()
    with sqlite3.connect(tmp_path / "agent.db") as link:
        assert link.execute("PRAGMA user_version").fetchone() == (2,)
    link.close()
    for version, number, remedy in ((3, 3, "a newer one wrote it"), (0, 1, "use the version that wrote it")):
        with sqlite3.connect(tmp_path / "agent.db") as link:
            link.execute(f"PRAGMA user_version = {version}")
        link.close()
        message = f"has format {number}, and this lowregret reads 2: {remedy}"
        for read_only in (False, True):
            with pytest.raises(lr.StoreError, match=message):
                lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS, read_only=read_only)


@pytest.mark.parametrize("name", ["agent.db", "agent-2.db"])
def test_reading_changes_nothing(tmp_path, name):
    """Also of a file whose latest events are in the file beside it."""
    path = tmp_path / name
    if name == "agent-2.db":
        shutil.copy(DATA / name, path)
        writer = None
    else:
        writer = lr.open_agent(path, lr.UCB1(), ARMS)
        writer.ask(3)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with lr.open_agent(path, read_only=True) as agent:
        assert agent.time == (29 if writer is None else 3)
        assert agent.summary().height >= 3
        for call in (agent.ask, lambda: agent.tell(agent.pending[0], 1), lambda: agent.add_arm("x")):
            with pytest.raises(lr.StoreError, match="was opened read-only: open it without read_only"):
                call()
        if name == "agent.db":
            writer.ask()
            assert agent.time == 4
            before = None
    if before is not None:
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
    if writer is not None:
        writer.close()


def test_a_file_that_sqlite_cannot_read_in_its_place_is_read_from_a_copy(tmp_path, monkeypatch):
    """As on a file system that is read-only, where SQLite cannot create its shared memory."""
    folder = tmp_path / "left"
    folder.mkdir()
    with lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS) as agent:
        agent.ask(3)
        for end in ("", "-wal"):  # what a killed process leaves
            shutil.copy(tmp_path / f"agent.db{end}", folder / f"agent.db{end}")
    real = sqlite3.connect

    def connect(place, **options):
        if str(folder) in str(place):
            raise sqlite3.OperationalError("unable to open database file")
        return real(place, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    with lr.open_agent(folder / "agent.db", read_only=True) as agent:
        assert agent.time == 3
    assert sorted(path.name for path in folder.iterdir()) == ["agent.db", "agent.db-wal"]


def test_a_file_that_another_process_closes_while_it_is_opened_is_not_copied(tmp_path, monkeypatch):
    """A copy of a file that others write to may be torn."""
    lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS).close()
    calls, real = [], sqlite3.connect

    def connect(place, **options):
        calls.append(place)
        if len(calls) == 1:  # the files beside it were deleted after we saw them
            raise sqlite3.OperationalError("unable to open database file")
        return real(place, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    with lr.open_agent(tmp_path / "agent.db", name="default", read_only=True) as agent:
        assert agent.transactions.store._copy is None
        assert agent.time == 0


def test_an_agent_knows_its_name(tmp_path):
    for name in ("buttons", "default"):
        with lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ARMS, name=name) as agent:
            assert agent.name == name
    assert lr.Agent(lr.UCB1(), ARMS).name is None
