"""The description of the interface (OpenAPI), from the table of routes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from lowregret import __version__
from lowregret.service.models import Name, Problem
from lowregret.service.problems import PROBLEM_MEDIA_TYPE

if TYPE_CHECKING:
    from lowregret.service.app import Route

SCHEMA_REFERENCE = "#/components/schemas/{model}"
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
NAME = {"name": "name", "in": "path", "required": True, "schema": TypeAdapter(Name).json_schema()}
MAX_POSITION = 2**53


def openapi_document(routes: Iterable[Route], needs_token: bool) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [(Problem, "serialization")]
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, needs_token)
        if route.body is not None:
            models.append((route.body, "validation"))
        if isinstance(route.answer, type) and issubclass(route.answer, BaseModel):
            models.append((route.answer, "serialization"))
    _, schemas = models_json_schema(list(dict.fromkeys(models)), ref_template=SCHEMA_REFERENCE)
    return {
        "openapi": "3.1.0",
        "info": {"title": "lowregret", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, needs_token: bool) -> dict[str, Any]:
    name = route.handler.__name__
    operation: dict[str, Any] = {
        "summary": name.replace("_", " ").title(),
        "description": route.handler.__doc__,
        "operationId": name,
        "responses": _responses(route),
    }
    parameters = [NAME] if "{name}" in route.path else []
    if route.pages is not None:
        limit = {"minimum": 0, "maximum": route.pages.most, "default": route.pages.default}
        after = {"minimum": 0, "maximum": MAX_POSITION}
        for key, range_ in (("limit", limit), ("after", after)):
            parameters.append({"name": key, "in": "query", "schema": {"type": "integer", **range_}})
    for key, default in route.numbers.items():
        parameters.append({"name": key, "in": "query", "schema": {"type": "number", "default": default}})
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {"required": True, **_content("application/json", route.body)}
    if route.scope:
        operation["security"] = [{"token": []}] if needs_token else [{"token": []}, {}]
        operation["x-scope"] = route.scope
    return operation


def _responses(route: Route) -> dict[str, Any]:
    statuses = {503}
    statuses |= {401, 403} if route.scope else set()
    statuses |= {400, 408, 409, 413, 415} if route.body else set()
    statuses |= {400} if route.pages else set()
    statuses |= {400, 404} if "{name}" in route.path else set()
    done = _content(route.answer if isinstance(route.answer, str) else "application/json", route.answer)
    responses: dict[str, Any] = {"200": {"description": "Done.", **done}}
    if route.method == "POST" and route.path.endswith("agents"):
        responses["201"] = {"description": "Created.", **done}
    for status in sorted(statuses):
        responses[str(status)] = {"description": PROBLEMS[status], **_content(PROBLEM_MEDIA_TYPE, Problem)}
    return responses


def _content(media_type: str, model: Any) -> dict[str, Any]:
    if isinstance(model, str):
        schema = {"type": "string"}
    elif model is dict:
        schema = {"type": "object"}
    else:
        schema = {"$ref": SCHEMA_REFERENCE.format(model=model.__name__)}
    return {"content": {media_type: {"schema": schema}}}
