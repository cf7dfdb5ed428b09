"""Which readings of a clock are believed: one that is far ahead ends no window until a second one agrees.

A clock may jump: at a correction, after a suspension, on one host of several, for one reading or for good. A
reading is far ahead if it is more than ten minutes later than the reading before and what has passed since on
``time.monotonic``, which never jumps. Until the reading of another call is as late, windows end by the
latter time. So an agent that nobody asks for a day ends its windows at the next ask, since that day has
passed on both; and a clock of one's own that goes on by days, as in a test, ends them one call later.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from math import inf
from time import monotonic

TOLERANCE_SECONDS = 600.0
MAX_BEHIND = 60.0
"""By how many seconds a reading may be earlier than an event before that is noted."""
LOG_SECONDS = 60.0
"""How long no second line is logged."""
log = logging.getLogger("lowregret.online")


class Readings:
    """The readings of a clock by one process; ``is_timed`` is whether windows of the agent are times.

    ``note`` says that a reading was earlier than an event, "" if none was.
    """

    __slots__ = ("_ahead", "_base", "_logged", "is_timed", "latest_time", "note")

    def __init__(self, is_timed: bool) -> None:
        self.is_timed = is_timed
        self.latest_time = -inf  # of the readings and events so far
        self._base = inf, 0.0  # the last reading that was believed, and when it was; the first one is
        self._ahead: tuple[float, float] | None = None  # the same of one that is far ahead
        self._logged = 0.0
        self.note = ""

    def note_event(self, timestamp: float | None) -> None:
        """Take in the time of an event of another process."""
        if timestamp is not None and timestamp > self.latest_time:
            self.latest_time = timestamp

    def believed_time(self, now: float, name: str | None) -> float:
        """Return the time by which windows may end, of an agent with this name."""
        if now > self.latest_time:
            self.latest_time = now
        elif now < self.latest_time - MAX_BEHIND:
            self._note(now, name)
        if self.is_timed and not self._base[0] <= now <= self._base[0] + TOLERANCE_SECONDS:
            return self._compared_with_ticks(now, monotonic())
        self._ahead = None
        return now

    def _compared_with_ticks(self, now: float, ticks: float) -> float:
        """Return the time by which windows may end, where much time may have passed."""
        base, since = self._base
        expected = base + ticks - since
        if now > expected + TOLERANCE_SECONDS and self._ahead is not None and now >= self._ahead[0]:
            base, since = self._ahead  # two readings agree on the earlier one
            self._base, expected = (base, since), base + ticks - since
        if now > expected + TOLERANCE_SECONDS:
            self._ahead = now, ticks
            return expected
        self._base, self._ahead = (now, ticks), None
        return now

    def _note(self, now: float, name: str | None) -> None:
        behind = timedelta(seconds=round(self.latest_time - now))
        latest = datetime.fromtimestamp(self.latest_time, UTC).strftime("%Y-%m-%d %H:%M:%S")
        self.note = (
            f"the clock was {behind} behind the latest event or reading, of {latest} UTC: that one was by a "
            "clock that is ahead, or this clock is behind, so check the clocks of all hosts"
        )
        if not self._logged or monotonic() - self._logged > LOG_SECONDS:
            self._logged = monotonic()
            log.warning("%s: %s", "an agent" if name is None else f"agent {name}", self.note)
