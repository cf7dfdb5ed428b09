"""Pictures of the pages for README and docs, of real runs: ``python tools/pictures.py [NAME ...]``.

Writes report.png, plan.png and dashboard.png to docs/images. The dashboard is served from a store in which an
agent has played twelve days of visits, ending now.
"""

import random
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time

import lowregret as lr

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests"))

from browser import Browser, Tab  # noqa: E402
from serving import served  # noqa: E402

WIDTH, DENSITY = 1280, 1.5
RATES = {"Buy now": 0.12, "Get yours": 0.21, "Add to cart": 0.15}
DAYS, VISITORS, HORIZON, BATCH = 12, 400, 10_000, 10


def report(browser: Browser, folder: Path) -> None:
    """Run the experiment of the tutorial, and take the first screen of its report."""
    experiment = lr.Experiment.from_toml(ROOT / "examples" / "variance.toml")
    page = experiment.run(folder / "results").report(folder, "MOSS", figures="none")[0]
    with browser.tab(page, WIDTH, 900) as tab:
        tab.wait_for_charts()
        take(tab, "report", 1150)


def plan(browser: Browser, folder: Path) -> None:
    """Plan four options of 2,000 visitors a day, and take the first screen of the page."""
    page = lr.plan(options=4, rate=0.05, lift=0.2, visitors=2_000, days=14, delay_days=1).report(folder)[0]
    with browser.tab(page, WIDTH, 900) as tab:
        tab.wait_for_charts()
        take(tab, "plan", 1120)


def dashboard(browser: Browser, folder: Path) -> None:
    """Play twelve days of visits, serve the agent, and take its page."""
    play(folder / "buttons.db")
    with (
        served(folder / "buttons.db") as client,
        browser.tab(f"{client.base_url}/#buttons", WIDTH, 900, all_in_view=False) as tab,
    ):
        tab.wait("!!document.querySelector('#shares polygon') && !!document.querySelector('#means circle')")
        take(tab, "dashboard", 836)


def play(store: Path, days: int = DAYS, horizon: int = HORIZON) -> None:
    """Let an agent serve visitors for some days, with a clock that ends now."""
    chance, now = random.Random(3), time() - 86_400 * days
    agent = lr.open_agent(
        str(store),
        "MOSSV",
        list(RATES),
        name="buttons",
        horizon=horizon,
        seed=1,
        control=("Buy now", 0.1),
        clock=lambda: now,
    )
    with agent:
        for _ in range(days * VISITORS // BATCH):
            now += 86_400 * BATCH / VISITORS
            agent.tell_many((choice, chance.random() < RATES[choice.arm]) for choice in agent.ask(BATCH))


def take(tab: Tab, name: str, height: int) -> None:
    """Write the upper part of a page."""
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": DENSITY}
    data = tab.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / f"{name}.png").write_bytes(b64decode(data))


PICTURES: dict[str, Callable[[Browser, Path], None]] = {
    "report": report,
    "plan": plan,
    "dashboard": dashboard,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        with Browser() as browser, TemporaryDirectory() as folder:
            PICTURES[name](browser, Path(folder))
