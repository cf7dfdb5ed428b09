"""The description of the interface (OpenAPI), from the table of routes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from lowregret.service.models import Model, Problem
from lowregret.service.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from fastapi import FastAPI

    from lowregret.service.app import Route

REFERENCE = "#/components/schemas/{model}"
PROBLEMS = {
    400: "Invalid input.",
    401: "No token, or an unknown one.",
    403: "The token lacks the scope, or a page of another site made the call.",
    404: "Unknown agent or decision.",
    408: "The body did not arrive in time.",
    409: "Contradicts an earlier call.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    503: "The store cannot be used at present; try again.",
}
NAME = {
    "name": "name",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"},
    "example": "buttons",
}

AFTER = {"type": "integer", "minimum": 0, "maximum": 2**53}


def operation(route: Route, needs_token: bool) -> dict[str, Any]:
    """Return how FastAPI describes a route."""
    statuses = [503] + ([403, 401] if route.scope else [])
    statuses += [400, 408, 409, 413, 415] if route.body else []
    statuses += [400] if route.pages else []
    statuses += [404, 400] if "{name}" in route.path else []
    responses: dict[int | str, dict[str, Any]] = {
        status: {
            "description": PROBLEMS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model="Problem")}}},
        }
        for status in sorted(set(statuses))
    }
    extra: dict[str, Any] = {}
    if isinstance(route.answer, str):
        answered: dict[str, Any] = {"content": {route.answer: {"schema": {"type": "string"}}}}
    elif route.answer is dict:
        answered = {"content": {"application/json": {"schema": {"type": "object"}}}}
    else:
        answered = {"model": route.answer}
    responses[200] = {"description": "Done.", **answered}
    if route.method == "POST" and route.path.endswith("agents"):
        responses[201] = {"description": "Created.", **answered}
    parameters = [NAME] if "{name}" in route.path else []
    if route.pages is not None:
        limit = {"type": "integer", "minimum": 0, "maximum": route.pages.most, "default": route.pages.default}
        parameters.append({"name": "limit", "in": "query", "schema": limit})
        parameters.append({"name": "after", "in": "query", "schema": AFTER})
    if parameters:
        extra["parameters"] = parameters
    if route.body is not None:
        schema = {"$ref": REFERENCE.format(model=route.body.__name__)}
        extra["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if route.scope:
        extra["security"] = [{"token": []}] if needs_token else [{"token": []}, {}]
        extra["x-scope"] = route.scope
    return {
        "operation_id": route.handler.__name__,
        "responses": responses,
        "openapi_extra": extra,
        "response_model": None,
        "include_in_schema": True,
    }


def described(app: FastAPI, bodies: Iterable[type[Model]]) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    document: dict[str, Any] = app.openapi()
    models: list[type[BaseModel]] = [*bodies, Problem]
    _, found = models_json_schema([(model, "validation") for model in models], ref_template=REFERENCE)
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(found["$defs"])
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document
