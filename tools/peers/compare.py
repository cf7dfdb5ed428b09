"""Play the policies of lowregret and of other packages on the same rewards, and say where they differ.

Fails if the outcome is not what ``tests/data/peers.json`` records. With ``--write``, writes that file and the
tables of ``docs/evidence/peers.md``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import document
import frequencies
import numpy as np
import rewards
from cases import Case, cases
from players import play

import lowregret as lr

ROOT = Path(__file__).parents[2]
RECORDS, PAGE = ROOT / "tests" / "data" / "peers.json", ROOT / "docs" / "evidence" / "peers.md"
PACKAGES = ("SMPyBandits", "mabwiser", "river", "pymab")


def digest(arms: Any) -> str:
    """Return a hash of the arms of all steps."""
    return hashlib.sha256(bytes(arms.astype(np.uint8))).hexdigest()[:16]


def compare(case: Case) -> dict[str, Any]:
    """Return the record of one comparison."""
    table = getattr(rewards, case.rewards)()
    ours = lr.trace(case.policy, table, horizon=rewards.STEPS, engine="reference").arm
    theirs = play(case.make, table, case.warmup)
    differ = np.flatnonzero(ours != theirs)
    changed = None if case.changed is None else play(case.changed, table, case.warmup)
    return {
        "policy": case.policy,
        "peer": case.peer,
        "rewards": case.rewards,
        "arms": digest(ours),
        "arms_of_peer": digest(theirs),
        "differing_steps": len(differ),
        "first_difference": int(differ[0]) + 1 if len(differ) else None,
        "equal_pulls": bool(np.array_equal(np.sort(ours), np.sort(theirs))),
        "why": case.why,
        "differing_steps_changed": None if changed is None else int((ours != changed).sum()),
        "source": case.source,
        "follows": case.follows,
    }


def main() -> int:
    """Compare all policies; return 1 if something is not as recorded or not explained."""
    found = {
        "versions": {name: version(name) for name in PACKAGES},
        "steps": [compare(case) for case in cases()],
        "shares": [frequencies.compare(draw) for draw in frequencies.draws()],
    }
    for name in ("steps", "shares"):
        print(document.table(found, name))
    if wrong := document.unproven(found, frequencies.LEVEL):
        print("Not explained, or explained without a difference:", *wrong, sep="\n  ")
        return 1
    if "--write" in sys.argv:
        RECORDS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(document.with_tables(page, found), encoding="utf-8")
    elif json.loads(RECORDS.read_text(encoding="utf-8")) != found:
        print(f"This is not what {RECORDS.relative_to(ROOT)} records; --write writes it anew.")
        return 1
    print("Every difference is explained: the changed class chooses as lowregret does.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
