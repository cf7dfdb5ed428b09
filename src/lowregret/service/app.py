"""The web application: its routes, the checks of every call, and the answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from time import perf_counter
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lowregret import __version__
from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.service import handlers, models
from lowregret.service.agents import MOST_OPEN, Agents, hidden_names
from lowregret.service.app_options import Options
from lowregret.service.handlers import MOST_EVENTS, Answer, Call
from lowregret.service.metrics import Metrics
from lowregret.service.openapi import described, operation
from lowregret.service.problems import MEDIA_TYPE, RefusedError, problem_of
from lowregret.service.requests import API_HEADERS, PAGE_HEADERS, body_of, check_local, headers_of
from lowregret.service.tokens import Scope as TokenScope
from lowregret.service.tokens import Tokens, require

Handler = Callable[[Call], Awaitable[Any]]
_API_HEADERS = [(key.lower().encode(), value.encode()) for key, value in API_HEADERS.items()]


class Pages(NamedTuple):
    """How many entries of a list are returned if nothing else is said, and at most."""

    default: int
    most: int


class Route(NamedTuple):
    """A route: its method and path, the scope it needs, what it does, reads and answers."""

    method: str
    path: str
    scope: TokenScope | None
    handler: Handler
    body: type[models.Model] | None = None
    answer: Any = None
    pages: Pages | None = None


AGENT = "/v1/agents/{name}"
AGENTS = Pages(MOST_OPEN, MOST_OPEN)
ROUTES = (
    Route("POST", "/v1/agents", "admin", handlers.create, models.NewAgent, models.Overview),
    Route("GET", "/v1/agents", "read", handlers.list_agents, None, models.Overviews, AGENTS),
    Route("GET", AGENT, "read", handlers.show, None, models.Overview),
    Route("POST", f"{AGENT}/ask", "decide", handlers.ask, models.Ask, models.Decisions),
    Route("POST", f"{AGENT}/tell", "decide", handlers.tell, models.Tell, models.Told),
    Route("POST", f"{AGENT}/forget", "decide", handlers.forget, models.Forget, models.Forgotten),
    Route("GET", f"{AGENT}/summary", "read", handlers.summary, None, models.Summary),
    Route("GET", f"{AGENT}/arms", "read", handlers.arms, None, models.ArmNames),
    Route("POST", f"{AGENT}/arms", "admin", handlers.change_arms, models.ChangeArms, models.ArmNames),
    Route("POST", f"{AGENT}/status", "admin", handlers.change_status, models.ChangeStatus, models.Overview),
    Route("GET", f"{AGENT}/events", "read", handlers.events, None, dict, Pages(100, MOST_EVENTS)),
    Route("GET", f"{AGENT}/history", "read", handlers.history, None, dict),
    Route("GET", f"{AGENT}/export", "read", handlers.export, None, "text/csv"),
    Route("GET", "/health", None, handlers.health, None, dict),
    Route("GET", "/ready", None, handlers.ready, None, dict),
    Route("GET", "/metrics", "read", handlers.metrics, None, "text/plain", AGENTS),
)
MOST_AFTER = 2**53
"""The largest position in a query."""
PAGES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
    "/dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8"),
    "/charts.js": ("charts.js", "text/javascript; charset=utf-8"),
}


def create_app(options: Options) -> ASGIApp:
    """Create the application, which opens agents when they are first used."""
    service = Service(options)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.agents.close()

    app = FastAPI(
        title="lowregret",
        version=__version__,
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    for route in ROUTES:
        app.add_api_route(
            route.path,
            _endpoint(route, service),
            methods=[route.method],
            **operation(route, service.tokens is not None),
        )
    _add_pages(app)
    app.add_exception_handler(HTTPException, partial(_refused, service))
    schema = json.dumps(described(app, [route.body for route in ROUTES if route.body])).encode()

    async def openapi(_: Request) -> Response:
        return Response(schema, media_type="application/json", headers=API_HEADERS)

    app.add_route("/openapi.json", openapi)
    return ShortCut(service, app)


class Service:
    """The agents of a store, who may use them, and how their calls are answered."""

    def __init__(self, options: Options) -> None:
        self.tokens = None if options.tokens is None else Tokens(options.tokens)
        self.agents, self.metrics = Agents(options.store, options.most_together), Metrics()
        self._hidden = hidden_names(options.store)

    async def answer(self, route: Route, scope: Scope, receive: Receive, name: str) -> Answer:
        """Check a call of a route, let it be done, and return the answer."""
        began = perf_counter()
        try:
            headers = headers_of(scope)
            if route.scope is not None:
                if self.tokens is None:
                    check_local(headers)
                else:
                    require(self.tokens, headers.get("authorization"), route.scope)
            body = None
            if route.body is not None:
                body = models.parsed(route.body, await body_of(headers, receive))
            query = {} if route.pages is None else _query(scope, route.pages)
            call = Call(self.agents, self.metrics, name, body, query, self.tokens is not None)
            answer = await route.handler(call)
            if not isinstance(answer, Answer):
                answer = Answer(json.dumps(answer))
        except Exception as error:
            answer = self.problem(error)
        self.metrics.observe(route.path, answer.status, perf_counter() - began)
        return answer

    def problem(self, error: Exception) -> Answer:
        """Return the answer to a call that failed."""
        status, text, headers = problem_of(error, self._hidden)
        return Answer(text, status, MEDIA_TYPE, headers)


class ShortCut:
    """Answer the calls that decide without the layers of a framework, which cost more than the decision."""

    def __init__(self, service: Service, app: ASGIApp) -> None:
        self._service, self._app = service, app
        self._routes = {
            route.path.rpartition("/")[2]: route for route in ROUTES if route.scope == "decide" and route.body
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            parts = scope["path"].split("/")
            if len(parts) == 5 and parts[1] == "v1" and parts[2] == "agents" and parts[4] in self._routes:
                answer = await self._service.answer(self._routes[parts[4]], scope, receive, parts[3])
                await _send(answer, send)
                return
        await self._app(scope, receive, send)


async def _send(answer: Answer, send: Send) -> None:
    body = answer.content.encode()
    headers = [
        *_API_HEADERS,
        (b"content-type", answer.media_type.encode()),
        (b"content-length", str(len(body)).encode()),
    ]
    headers += [(key.encode(), value.encode()) for key, value in (answer.headers or {}).items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _endpoint(route: Route, service: Service) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that answers a route, as FastAPI calls it."""

    async def endpoint(request: Request) -> Response:
        name = request.path_params.get("name", "")
        return _response(await service.answer(route, request.scope, request.receive, name))

    endpoint.__name__ = route.handler.__name__
    endpoint.__doc__ = route.handler.__doc__
    return endpoint


def _response(answer: Answer) -> Response:
    return Response(
        answer.content, answer.status, {**API_HEADERS, **(answer.headers or {})}, answer.media_type
    )


def _query(scope: Scope, pages: Pages) -> dict[str, int]:
    """Return the part of a list that the query of a request means: its ``limit``, and ``after`` if given."""
    given, found = QueryParams(scope["query_string"]), {"limit": pages.default}
    for key, most in (("after", MOST_AFTER), ("limit", pages.most)):
        text = given.get(key)
        if text is None:
            continue
        if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= most):
            raise InputError(f"{key} must be an integer from 0 to {most:,}, got {short_repr(text)}")
        found[key] = int(text)
    return found


async def _refused(service: Service, request: Request, error: Exception) -> Response:
    """Answer a path or a method that does not exist."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        found = RefusedError(
            405, "method", f"{request.method} is not a method of this path", dict(error.headers or {})
        )
    else:
        found = RefusedError(error.status_code, "not-found", f"there is no {short_repr(request.url.path)}")
    return _response(service.problem(found))


def _add_pages(app: FastAPI) -> None:
    """Add the dashboard, which is static: it reads the API as any client does."""
    folder = files("lowregret.service") / "dashboard"

    def page(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(_: Request) -> Response:
            return Response(content, media_type=media_type, headers=PAGE_HEADERS)

        return endpoint

    for path, (name, media_type) in PAGES.items():
        app.add_route(path, page((folder / name).read_bytes(), media_type))
