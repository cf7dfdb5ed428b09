"""Snapshots as stores hold them: a line with a checksum of the position and the text, and the text.

A store returns text; whether it is the text that was written, for this agent and position, is decided here.
"""

from hashlib import sha256

from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import Settings
from lowregret.online.agent_state import AgentState
from lowregret.online.snapshot import read, write
from lowregret.policies import Policy


def write_checksummed(state: AgentState, position: int) -> str:
    """Return the snapshot of a state after so many events."""
    text = write(state, for_store=True)
    return f"{_checksum(position, text)}\n{text}"


def read_checksummed(position: int, text: str, policy: Policy | None, token: str) -> AgentState:
    """Return the state of a snapshot of a store."""
    checksum, _, inner = text.partition("\n")
    if checksum != _checksum(position, inner):
        raise StoreError(
            f"the snapshot at event {position} is damaged: its checksum does not match, restore a copy"
        )
    try:
        state = read(inner, policy)
    except InputError as error:
        raise StoreError(f"the snapshot at event {position} is damaged: restore a copy ({error})") from None
    if state.token != token:
        raise StoreError(f"the snapshot at event {position} is of another agent: restore a copy")
    return state


def state_at(snapshot: tuple[int, str] | None, settings: Settings, token: str) -> tuple[AgentState, int]:
    """Return the state of a snapshot and its position; that of a new agent if there is none."""
    if snapshot is None:
        return AgentState(settings, token), 0
    return read_checksummed(*snapshot, settings.policy, token), snapshot[0]


def _checksum(position: int, text: str) -> str:
    return sha256(f"{position}\n{text}".encode()).hexdigest()
