"""The dashboard in a real browser: it loads, follows what happens, changes agents, and needs its token."""

import os
from pathlib import Path

import pytest
from browser import Browser, require_chromium
from serving import served

import lowregret as lr
from lowregret.service.tokens import new_token

require_chromium()

ARMS = ["red", "green", "blue", "a button with a rather long name <b>and markup</b>"]
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


def rows(tab, name):
    return tab.evaluate(f"[...document.querySelectorAll('#{name} tr')].map(row => row.innerText)")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [375, 1400])
def test_it_loads(browser, service, width, dark):
    url, _ = service
    with browser.tab(url, width, 900, dark=dark, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#agent-rows tr').length === 2")
        picture(tab, f"agents-{width}-{dark}")
        tab.click("#agent-rows a")
        tab.wait("document.querySelectorAll('#arm-rows tr').length >= 4")
        tab.wait("!!document.querySelector('#shares polygon') && !!document.querySelector('#means circle')")
        assert "markup" in rows(tab, "arm-rows")[3] and not tab.evaluate("!!document.querySelector('td b')")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        assert tab.evaluate("document.querySelector('#event-rows td:nth-child(3)').textContent") == "conflict"
        for text in ("1,200", "24% of 5,000", "lost against the best arm", "expired or discarded"):
            assert text in tab.evaluate("document.querySelector('#figures').innerText")
        assert tab.evaluate("[...document.querySelectorAll('#figures div')].every(box => box.title)")
        assert "%" in tab.evaluate("document.querySelector('#arm-rows td:nth-child(4)').textContent")
        assert "5000" in tab.evaluate("document.querySelector('#settings').textContent")
        picture(tab, f"agent-{width}-{dark}")
        assert tab.complaints() == []


def test_an_address_that_is_malformed_shows_the_list(browser, service):
    url, _ = service
    with browser.tab(f"{url}#%E0%A4%A", 1400, 900, all_in_view=False) as tab:
        tab.wait("document.querySelectorAll('#agent-rows tr').length === 2")
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
        assert tab.evaluate("document.querySelector('#figures').innerText.includes('120% of 10')")
        link = tab.evaluate("document.querySelector('#export').getAttribute('href')")
        assert client.get(f"/{link}").text.count("\n") == 13
        picture(tab, "beyond")
        assert tab.complaints() == []


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
        tab.wait("document.querySelector('#agent-status').textContent === 'active'")
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
            assert tab.evaluate("document.querySelector('#event-rows').innerText.includes('observed')")
            picture(tab, "shadow")
            assert tab.evaluate("document.querySelector('.columns').getBoundingClientRect().bottom") <= 768
            assert tab.complaints() == []
