"""Agent, AsyncAgent, RemoteAgent and AsyncRemoteAgent have the same members, signatures and results."""

import inspect

import pytest

import lowregret as lr
from lowregret.online.agent import Agent
from lowregret.online.async_agent import AsyncAgent
from lowregret.service import protocol
from lowregret.service.client import AsyncRemoteAgent, RemoteAgent

NEED_THE_STORE = {
    *("compact", "erase_request", "forget_expired", "forget_where", "verify", "notes"),  # maintain the store
    *("compile", "from_json", "to_json"),  # compile or move the state, which the service holds
}
"""Members of an agent that a remote one cannot have."""
OWN = {AsyncAgent: {"agent"}, RemoteAgent: {"asynchronous"}, AsyncRemoteAgent: set(), Agent: {"from_json"}}
"""Members of one kind alone."""
PLAIN = {"name", "close"}
"""Members that are the same without a call."""


def members(kind):
    """Return the public members of a class, and the attributes of its objects that are public."""
    return {name for name in dir(kind) if name[0] != "_"} | ({"name"} if kind is not Agent else set())


def as_seen(function):
    """Return parameters without the first, and the result of a function."""
    signature = inspect.signature(function)
    return [*signature.parameters.values()][1:], signature.return_annotation


def origin(name):
    """Return the function of a method or property of an agent."""
    member = inspect.getattr_static(Agent, name)
    return member.fget if isinstance(member, property) else member


def test_members():
    local = members(Agent) - OWN[Agent]
    assert members(AsyncAgent) - OWN[AsyncAgent] == local
    remote = members(Agent) - NEED_THE_STORE
    assert members(Agent) >= NEED_THE_STORE
    for kind in (RemoteAgent, AsyncRemoteAgent):
        assert members(kind) - OWN[kind] == remote


@pytest.mark.parametrize("kind", [AsyncAgent, RemoteAgent, AsyncRemoteAgent])
def test_signatures(kind):
    for name in members(kind) & members(Agent) - PLAIN:
        member = inspect.getattr_static(kind, name)
        if isinstance(member, property):
            assert isinstance(inspect.getattr_static(Agent, name), property)
            member = member.fget
        assert as_seen(member) == as_seen(origin(name)), name
        assert inspect.iscoroutinefunction(member) == kind.__name__.startswith("Async"), name
        assert inspect.getdoc(member).partition("\n")[0] == inspect.getdoc(origin(name)).partition("\n")[0]


@pytest.mark.parametrize("name", sorted(members(RemoteAgent) - OWN[RemoteAgent] - PLAIN))
def test_what_is_sent_takes_and_returns_the_same(name):
    """The coroutine behind a method of the clients has its parameters and its result."""
    assert as_seen(getattr(protocol, name)) == as_seen(origin(name))
    assert inspect.iscoroutinefunction(getattr(protocol, name))


def test_properties_of_the_sync_kinds_are_properties():
    for name in members(RemoteAgent) & members(Agent) - PLAIN:
        kinds = {isinstance(inspect.getattr_static(kind, name), property) for kind in (Agent, RemoteAgent)}
        assert len(kinds) == 1, name


def test_help_shows_the_settings():
    for function in (lr.Agent, lr.open_agent, lr.connect):
        assert {"outside", "control", "log_propensities"} <= set(inspect.signature(function).parameters)
