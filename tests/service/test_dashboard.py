"""The dashboard in a real browser: it loads, follows what happens, changes agents, and needs its token."""

import json
import os
import re
from pathlib import Path

import pytest
from browser import Browser, require_chromium
from serving import served

import lowregret as lr
from lowregret.service.tokens import new_token

require_chromium()

ARMS = ["red", "green", "blue", "a button with a rather long name <b>and markup</b>"]
# What reaches beyond the window or its own frame, and text that is too small to read.
SIDEWAYS = """(() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page");
  for (const frame of document.querySelectorAll(".scroll, .panel, #figures div"))
    if (frame.scrollWidth > frame.clientWidth + 1) found.push(frame.id || frame.className);
  for (const text of document.querySelectorAll("text, td, dd, dt, li, p"))
    if (parseFloat(getComputedStyle(text).fontSize) < 11) found.push(`small: ${text.textContent}`);
  return found;
})()"""
PICTURES = os.environ.get("LOWREGRET_PICTURES")
"""A folder for screenshots, to be looked at."""


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dashboard")
    with served(folder / "a.db") as client:
        url = f"{str(client.base_url).rstrip('/')}/"
        with lr.connect(url, "EUCBV", ARMS, horizon=5_000, seed=1, name="buttons") as agent:
            rates = dict(zip(ARMS, (0.02, 0.05, 0.3, 0.1), strict=True))
            for turn in range(12):
                choices = agent.ask(100)
                some = [(c, float((c.time * 37 % 100) / 100 < rates[c.arm])) for c in choices[: 98 - turn]]
                agent.tell_many(some)
            with pytest.raises(lr.ConflictError):
                agent.tell(some[0][0], 1 - some[0][1])
        lr.connect(url, "UCB1", ["a", "b"], name="second").close()
        yield url, client


def text_of(tab, selector):
    return tab.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def rows(tab, name):
    return tab.evaluate(f"[...document.querySelectorAll('#{name} tr')].map(row => row.innerText)")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_loads(browser, service, width, dark):
    url, _ = service
    with browser.tab(url, width, 900, dark=dark, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#agent-rows tr').length >= 2")
        picture(tab, f"agents-{width}-{dark}")
        tab.click("#agent-rows a")
        tab.wait("document.querySelectorAll('#arm-rows tr').length >= 4")
        tab.wait("!!document.querySelector('#shares polygon') && !!document.querySelector('#means circle')")
        assert "markup" in rows(tab, "arm-rows")[3] and not tab.evaluate("!!document.querySelector('td b')")
        assert tab.evaluate(SIDEWAYS) == [], "it scrolls sideways"
        assert text_of(tab, "#agent-status") == "leading"
        assert text_of(tab, "#verdict").startswith("blue leads: ")
        assert "It is the best with probability" in text_of(tab, "#verdict")
        assert tab.evaluate("document.querySelectorAll('#figures div').length") == 4
        for text in ("1,200", "24.0% of the horizon of 5,000", "blue", "conversions"):
            assert text in text_of(tab, "#figures")
        assert tab.evaluate("document.querySelector('#figures .bar i').style.width") == "24%"
        assert tab.evaluate("[...document.querySelectorAll('#figures div')].every(box => box.title)")
        assert "conflicts1" in text_of(tab, "#details") and "lost against the best" in text_of(
            tab, "#details"
        )
        assert "expired" not in text_of(tab, "#details")  # there is none
        assert re.search(r"\d\.\d% \(\d+\.\d% to \d+\.\d%\)", text_of(tab, "#arm-rows td:nth-child(3)"))
        assert "5000" in text_of(tab, "#settings")
        assert text_of(tab, "#event-rows") == ""  # they are folded
        tab.evaluate("document.querySelector('#events').open = true")
        tab.wait("document.querySelectorAll('#event-rows tr').length === 20")
        assert text_of(tab, "#event-rows td:nth-child(2)") == "conflict"
        arms = "[...document.querySelectorAll('#event-rows tr')].map(row => row.cells[3].innerText)"
        assert all(tab.evaluate(arms))
        assert tab.evaluate(SIDEWAYS) == [], "it scrolls sideways"
        picture(tab, f"agent-{width}-{dark}")
        assert tab.complaints() == []


def test_an_empty_list_shows_the_command_that_creates_an_agent(browser, tmp_path):
    with (
        served(tmp_path / "a.db") as client,
        browser.tab(f"{client.base_url}/", 390, all_in_view=False) as tab,
    ):
        tab.wait("document.querySelector('#no-agents').checkVisibility()")
        command = text_of(tab, "#create")
        assert command.startswith(f"curl -X POST {str(client.base_url).rstrip('/')}/v1/agents ")
        agent = json.loads(command.partition("-d '")[2].rstrip("'"))
        assert client.post("/v1/agents", json=agent).status_code == 201
        tab.wait("document.querySelectorAll('#agent-rows tr').length === 1")
        assert not tab.evaluate("document.querySelector('#no-agents').checkVisibility()")
        assert tab.complaints() == []


def test_a_proven_arm_a_control_and_a_lift(browser, service):
    url, _ = service
    with lr.connect(url, "UCB1", ["new", "old"], seed=1, name="proven", control=("old", 0.3)) as agent:
        for _ in range(12):
            agent.tell_many((c, float(c.time % 100 < (60 if c.arm == "new" else 20))) for c in agent.ask(100))
            if "early" not in locals():
                with browser.tab(f"{url}#proven", 1280, all_in_view=False) as tab:
                    tab.wait("document.querySelectorAll('#arm-rows tr').length === 2")
                    early = text_of(tab, "#arm-rows tr:first-child .lift")
    with browser.tab(f"{url}#proven", 1280, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 2")
        assert text_of(tab, "#agent-status") == "proven"
        assert re.fullmatch(
            r"new is the best \(error at most 5%, whenever you look\): "
            r"[\d.]+% against [\d.]+% for old \(control\)\.",
            text_of(tab, "#verdict"),
        )
        arms = rows(tab, "arm-rows")
        assert arms[0].startswith("new") and "control" in arms[1] and "Retire" not in arms[1]
        assert early == "too early"
        assert tab.evaluate(SIDEWAYS) == []
        picture(tab, "proven")
        assert tab.complaints() == []


def test_an_address_that_is_malformed_shows_the_list(browser, service):
    url, _ = service
    with browser.tab(f"{url}#%E0%A4%A", 1400, 900, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#agent-rows tr').length >= 2")
        assert tab.complaints() == []


def test_a_list_that_is_the_same_stays_under_the_pointer(browser, service):
    url, _ = service
    with browser.tab(url, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#agent-rows tr').length >= 2")
        tab.evaluate("document.querySelector('#agent-rows tr').marked = true")
        before = tab.evaluate("document.querySelector('#updated').textContent")
        tab.wait(f"document.querySelector('#updated').textContent !== '{before}'")
        assert tab.evaluate("document.querySelector('#agent-rows tr').marked") is True
        tab.click("#agent-rows a")
        tab.wait("document.querySelectorAll('#arm-rows tr').length >= 4")
        tab.evaluate("location.hash = ''")
        tab.wait("document.querySelector('#agent-rows').checkVisibility()")
        tab.click("#agent-rows a")
        tab.wait("document.querySelector('#arm-rows').checkVisibility()")
        assert tab.complaints() == []


def test_the_list_has_leaders_and_warnings_and_the_page_an_export(browser, service):
    url, client = service
    with lr.connect(url, "EUCBV", ["a", "b"], horizon=10, seed=1, name="beyond") as agent:
        agent.tell_many((choice, float(choice.arm == "a")) for choice in agent.ask(12))
    with browser.tab(url, all_in_view=False) as tab:
        tab.wait("document.querySelector('#agent-rows').innerText.includes('1 ⚠')")
        mark = tab.evaluate("document.querySelector('#agent-rows td[title*=horizon]').title")
        assert mark.startswith("12 decisions are beyond the horizon of 10 of EUCBV")
        tab.evaluate("location.hash = 'beyond'")
        tab.wait("document.querySelector('#warnings').innerText.includes('beyond the horizon')")
        assert "120.0% of the horizon of 10" in text_of(tab, "#figures")
        link = tab.evaluate("document.querySelector('#export').getAttribute('href')")
        assert client.get(f"/{link}").text.count("\n") == 13
        picture(tab, "beyond")
        assert tab.complaints() == []


def test_a_mean_without_a_range_is_at_least_so_much_until_there_are_many_rewards(browser, service):
    url, _ = service
    with lr.connect(url, "RoundRobin", ["a", "b"], seed=1, reward_range=None, name="revenue") as agent:
        agent.tell_many((choice, 30.0) for choice in agent.ask(60))
    with browser.tab(f"{url}#revenue", all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 2")
        assert "at least" in rows(tab, "arm-rows")[0]
        title = tab.evaluate("document.querySelector('#arm-rows small[title^=Could]').title")
        assert title.startswith("Could be higher: the rewards so far are too few")
        assert tab.complaints() == []


def test_what_is_not_known_is_not_written_as_a_number(browser, service):
    """An arm without rewards, an interval as wide as the range, a paused agent; names that begin alike."""
    url, _ = service
    arms = [f"the headline of the spring sale, number {number}" for number in (1, 2, 3)]
    with lr.connect(url, "RoundRobin", arms[:2], name="unknown") as agent:
        for choice in agent.ask(120):
            agent.tell(choice, float(choice.arm == arms[0] and choice.time % 9 == 0))
        agent.add_arm(arms[2])
        agent.pause()
    with browser.tab(f"{url}#unknown", 1280, 900, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 3")
        texts = "row => [...row.cells].map(cell => cell.innerText)"
        first, second, added = tab.evaluate(f"[...document.querySelectorAll('#arm-rows tr')].map({texts})")
        assert added[2:5] == ["\u2013"] * 3
        assert first[3] == "leads" and re.fullmatch(r"at most \+[\d.]+ points", second[3])
        assert "more decisions" not in text_of(tab, "#verdict")
        tab.wait("!!document.querySelector('#means circle')")
        names = tab.evaluate(
            "[...document.querySelectorAll('#means text.name')].map(name => name.firstChild.data)"
        )
        assert len(set(names)) == len(names)


def test_it_follows_what_happens_elsewhere(browser, service):
    url, client = service
    with browser.tab(f"{url}#second", all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 2")
        client.post("/v1/agents/second/ask", json={"n": 77})
        tab.wait("document.querySelector('#figures').innerText.includes('77')")
        assert tab.complaints() == []


def test_it_adds_and_retires_an_arm_and_pauses(browser, service):
    url, client = service
    lr.connect(url, "UCB1", ["a", "b"], name="changed").close()
    with browser.tab(f"{url}#changed", 375, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 2")
        tab.write("#new-arm", "violet")
        tab.click("#add-arm button")
        tab.wait("document.querySelectorAll('#arm-rows tr').length === 3")
        assert "violet" in client.get("/v1/agents/changed/arms").json()["arms"]
        tab.click("#arm-rows tr:first-child button")
        tab.wait("document.querySelector('#question').open")
        tab.click("#question button[value=no]")
        assert "a" in client.get("/v1/agents/changed/arms").json()["arms"]
        tab.click("#arm-rows tr:first-child button")
        tab.wait("document.querySelector('#question').open")
        tab.click("#question button[value=yes]")
        tab.wait("document.querySelector('#arm-rows tr').innerText.includes('retired')")
        assert "a" not in client.get("/v1/agents/changed/arms").json()["arms"]
        tab.click("#pause")
        tab.wait("document.querySelector('#question').open")
        assert client.post("/v1/agents/changed/ask", json={}).status_code == 200  # it asks before
        tab.click("#question button[value=yes]")
        tab.wait("document.querySelector('#agent-status').textContent === 'paused'")
        assert client.post("/v1/agents/changed/ask", json={}).status_code == 409
        tab.click("#pause")
        tab.wait("document.querySelector('#agent-status').textContent === 'learning'")
        assert tab.complaints() == []


def test_long_lists_are_shown_in_parts(browser, tmp_path):
    for number in range(53):
        arms = [f"arm {place}" for place in range(201 if number == 0 else 2)]
        lr.open_agent(tmp_path / "a.db", "UCB1", arms, name=f"agent-{number}").close()
    with served(tmp_path / "a.db") as client:
        url = f"{str(client.base_url).rstrip('/')}/"
        client.post("/v1/agents/agent-0/ask", json={"n": 200})
        with browser.tab(url, 375, all_in_view=False) as tab:
            tab.wait("document.querySelector('#range').textContent === '4 to 53 of 53'")
            assert len(rows(tab, "agent-rows")) == 50
            tab.click("#earlier")
            tab.wait("document.querySelector('#range').textContent === '1 to 50 of 53'")
            assert rows(tab, "agent-rows")[0].startswith("agent-0")
            tab.click("#later")
            tab.wait("document.querySelector('#range').textContent === '4 to 53 of 53'")
            assert tab.complaints() == []
        with browser.tab(f"{url}#agent-0", 375, all_in_view=False) as tab:
            tab.wait("document.querySelectorAll('#arm-rows tr').length === 200")
            assert tab.evaluate("document.querySelector('#arm-note').textContent").startswith(
                "200 of 201 arms"
            )
            assert tab.complaints() == []


def test_it_refuses_without_a_token(browser, tmp_path):
    admin = new_token(tmp_path / "t.json", "admin", ["admin"])
    reader = new_token(tmp_path / "t.json", "reader", ["read"])
    with served(tmp_path / "a.db", tmp_path / "t.json", admin) as client:
        new = {"name": "x", "policy": "UCB1", "arms": ["a", "b"]}
        assert client.post("/v1/agents", json=new).status_code == 201
        url = f"{str(client.base_url).rstrip('/')}/"
        with browser.tab(f"{url}#x", 375, all_in_view=False) as tab:
            tab.wait("!document.querySelector('#sign-in').hidden")
            assert tab.evaluate("document.querySelector('#agent').hidden") and tab.complaints() == []
            picture(tab, "sign-in")
            sign_in(tab, "lrt_wrong")
            tab.wait("document.querySelector('#message').textContent.includes('unknown or was removed')")
            assert tab.evaluate("document.querySelector('#agent').hidden")
            sign_in(tab, reader)
            tab.wait("!document.querySelector('#agent').hidden")
            tab.write("#new-arm", "violet")
            tab.click("#add-arm button")
            tab.wait("document.querySelector('#message').textContent.includes(\"scope 'admin'\")")
            picture(tab, "refused")
            assert len(client.get("/v1/agents/x/arms").json()["arms"]) == 2
            tab.click("#sign-out")
            sign_in(tab, admin)
            tab.wait("!document.querySelector('#agent').hidden")
            tab.write("#new-arm", "violet")
            tab.click("#add-arm button")
            tab.wait("document.querySelectorAll('#arm-rows tr').length === 3")
            assert reader not in tab.text() and admin not in tab.text()
            tab.evaluate("URL.createObjectURL = (file) => { window.exported = file; return '#'; }; 0")
            tab.click("#export")  # a link cannot send the token
            tab.wait("window.exported?.type.startsWith('text/csv')")
            assert all("status of 40" in complaint for complaint in tab.complaints())


def sign_in(tab, token):
    tab.wait("!document.querySelector('#sign-in').hidden")
    tab.write("#token", token)
    tab.click("#sign-in button")


def picture(tab, name):
    if PICTURES:
        tab.screenshot(Path(PICTURES) / f"{name}.png")


def test_a_shadow_is_shown_on_the_first_screen(browser, tmp_path):
    """Its figures are there, and the charts under them are still on the screen of a laptop."""
    with served(tmp_path / "a.db") as client:
        url = f"{str(client.base_url).rstrip('/')}/"
        with lr.connect(url, "UCB1", ARMS, name="buttons", control=(ARMS[0], 0.1)) as agent:
            for turn in range(60):
                agent.observe(ARMS[turn % 4], turn % 3 == 0, 0.25)
        with browser.tab(f"{url}#buttons", 1366, 768, all_in_view=False) as tab:
            tab.wait("document.querySelector('#figures').innerText.includes('would have earned')")
            tab.wait("!!document.querySelector('#means circle')")
            figures = tab.evaluate("document.querySelector('#figures').innerText")
            assert "agrees with what was done" in figures and "of 60" in figures
            tab.evaluate("document.querySelector('#events').open = true")
            tab.wait("document.querySelector('#event-rows').innerText.includes('observed')")
            picture(tab, "shadow")
            assert tab.evaluate("document.querySelector('.columns').getBoundingClientRect().bottom") <= 768
            assert tab.complaints() == []
