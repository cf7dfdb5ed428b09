"""A headless Chromium that opens pages, driven through a pipe by the DevTools protocol."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def require_chromium() -> None:
    """Skip a test, or all of a file, where there is no browser; pytest reports all of them in one line."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium", allow_module_level=True)


FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
START = "import os, sys; [os.dup2(int(end), 3 + place) for place, end in enumerate(sys.argv[1:3])]; "
START += "os.execv(sys.argv[3], sys.argv[3:])"
PATIENCE = 180.0
"""Seconds until a test stops waiting."""
AFTER_TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))"
# The page draws figures that come into view; tests look at all of them, so all are in view unless folded.
ALL_IN_VIEW = """
window.IntersectionObserver = class {
  constructor(notify) {
    this.targets = [];
    this.notify = () => notify(this.targets.filter((target) => target.checkVisibility())
      .map((target) => ({ isIntersecting: true, target })));
    addEventListener("toggle", this.notify, true);
  }
  observe(target) { this.targets.push(target); queueMicrotask(this.notify); }
};
"""


class Browser:
    """A running Chromium; use it in a ``with`` statement."""

    def __enter__(self) -> Self:
        self._profile = TemporaryDirectory(ignore_cleanup_errors=True)
        first_in, self._out = os.pipe()
        self._in, first_out = os.pipe()
        # Above 4, since Chromium reads from 3 and writes to 4.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (first_in, first_out)]
        flags = [*FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        call = [sys.executable, "-c", START, *map(str, theirs), str(CHROMIUM), *flags]
        self._process = subprocess.Popen(
            call, pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (first_in, first_out, *theirs):
            os.close(end)
        self._buffer, self._number = b"", 0
        self.events: list[dict[str, Any]] = []
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError, RuntimeError):
            self.send("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    @contextmanager
    def tab(
        self,
        path: Path | str,
        width: int = 1400,
        height: int = 1000,
        *,
        dark: bool = False,
        scripts: bool = True,
        all_in_view: bool = True,
    ) -> Iterator["Tab"]:
        """Open a file or an address in a window of a size, and wait until its charts are drawn."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.send(f"{domain}.enable")
        tab.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.send("Emulation.setEmulatedMedia", features=[scheme])
        tab.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        if all_in_view:
            tab.send("Page.addScriptToEvaluateOnNewDocument", source=ALL_IN_VIEW)
        try:
            tab.go(path, scripts)
            yield tab
        finally:
            self.send("Target.closeTarget", targetId=target)


class Tab:
    """A page in the browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self._first = len(browser.events)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol for this page."""
        return self._browser.send(method, self._session, **parameters)

    def go(self, path: Path | str, scripts: bool = True) -> None:
        """Load a file or an address."""
        url = path if isinstance(path, str) else path.as_uri()
        self._own = ("file:", "data:", "blob:", *([url.partition("#")[0]] if isinstance(path, str) else []))
        self.send("Page.navigate", url=url)
        ready = "document.readyState === 'complete'"
        if scripts:
            ready += " && !document.querySelector('html.still:has(#packed)')"
        self.wait(f"location.href !== 'about:blank' && {ready}")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, after it is awaited."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"].get("exception", {}).get("description", found))
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = monotonic() + PATIENCE
        while not self._is_true(condition):
            if monotonic() > end:
                raise AssertionError(f"never true: {condition}; {self.complaints()}")
            sleep(0.005)

    def _is_true(self, condition: str) -> bool:
        try:
            return bool(self.evaluate(condition))
        except RuntimeError as error:
            if "context" in str(error) or "navigated" in str(error):  # another page takes its place
                return False
            raise

    def wait_for_charts(self) -> None:
        """Wait until every chart outside folded parts is drawn by the script."""
        self.wait(
            "[...document.querySelectorAll('.chart')].every(chart => chart.matches('.live')"
            " || !chart.checkVisibility())"
        )
        self.evaluate(f"new Promise(done => {AFTER_TWO_FRAMES})")

    def place(self, element: str) -> tuple[float, float]:
        """Scroll to an element, given as an expression, and return the middle of its left end."""
        self.evaluate(f"({element}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        # A scroll hides the tooltip; the page learns of it before it draws the next frame.
        self.evaluate(f"new Promise(done => {AFTER_TWO_FRAMES})")
        x, y = self.evaluate(
            f"(box => [box.x + Math.min(5, box.width / 2), box.y + box.height / 2])"
            f"(({element}).getBoundingClientRect())"
        )
        return x, y

    def click(self, selector: str) -> None:
        """Click an element, given by a CSS selector, with the mouse."""
        self.click_at(*self.place(f"document.querySelector({json.dumps(selector)})"))

    def click_at(self, x: float, y: float) -> None:
        """Click a place in the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Send an event of the mouse at a place in the window."""
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def write(self, selector: str, text: str) -> None:
        """Replace the text of an input field."""
        self.evaluate(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
            "field.focus(); field.select(); })()"
        )
        self.send("Input.insertText", text=text)

    def resize(self, width: int, height: int = 1000) -> None:
        """Set the size of the window."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def text(self) -> str:
        """Return the page as it is now."""
        return str(self.evaluate("document.documentElement.outerHTML"))

    def screenshot(self, path: Path, whole: bool = True) -> None:
        """Write a picture of the window, or of the whole page."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(b64decode(data))

    def complaints(self) -> list[str]:
        """Return the errors and warnings of the page, and its requests to anything but its own place."""
        self.evaluate("1")
        found = []
        for event in self._browser.events[self._first :]:
            if event.get("sessionId") != self._session:
                continue
            match event["method"], event["params"]:
                case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                    found.append(details.get("exception", {}).get("description") or details["text"])
                case "Runtime.consoleAPICalled", {"type": "error" | "warning" as kind, "args": words}:
                    found.append(f"{kind} {' '.join(str(word.get('value')) for word in words)}")
                case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": text}}:
                    found.append(text)
                case "Network.requestWillBeSent", {"request": {"url": url}}:
                    if not url.startswith(self._own):
                        found.append(f"request {url}")
        return found


def opened(page: str, folder: Path, width: int = 1400) -> tuple[str, str]:
    """Open a page with all its folded parts; give what it became and what it complained of."""
    path = folder / "opened.html"
    path.write_text(page, encoding="utf-8")
    with Browser() as browser, browser.tab(path, width) as tab:
        tab.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        tab.wait_for_charts()
        return tab.text(), "; ".join(tab.complaints())
