"""Generated calls over the whole interface: none is answered with 500, and answers are as described."""

import os
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import AGENT, served

COUNT = int(os.environ.get("LOWREGRET_CASES", "12"))
"""How many calls of each route are generated, valid ones and invalid ones; try 250 after a change."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    with served(tmp_path_factory.mktemp("store") / "a.db") as client:
        assert client.post("/v1/agents", json=AGENT).status_code == 201
        loaded = openapi.from_url(f"{client.base_url}/openapi.json")
        loaded.config.update(base_url=str(client.base_url))
        yield loaded
        assert client.get("/v1/agents/buttons/summary").json()["pulls"] > 10  # some found the agent


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_call_fails(schema, mode):
    seen = set()
    for found in schema.get_all_operations():
        generated(found.ok(), mode, seen)
    statuses = {status for _, status in seen}
    assert not any(status >= 500 for status in statuses)
    if mode is GenerationMode.POSITIVE:
        assert len({label for label, status in seen if status == 200}) >= 12, seen
    else:
        assert {400, 404} <= statuses and len(seen) > 10, seen


def generated(operation, mode, seen):
    """Make calls of a route; note their statuses."""

    @settings(max_examples=COUNT, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        if mode is GenerationMode.POSITIVE and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = "buttons"  # else no call would find an agent
        answer = case.call()
        case.validate_response(answer, checks=CHECKS)
        seen.add((operation.label, answer.status_code))

    with suppress(Unsatisfiable):  # a route without parameters has no invalid ones
        check()
