"""The service as an ASGI application: the table of its routes, the checks of every call, and the answers."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.resources import files
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pydantic import BaseModel
from pydantic_core import to_json

from lowregret._common.validation import short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.stores.locations import without_urls
from lowregret.service import MAX_CONNECTIONS, Options, handlers, models, ofrep
from lowregret.service.agents import MAX_LISTED_AGENTS, Agents, hidden_names
from lowregret.service.handlers import MAX_LISTED_EVENTS, Answer, Call
from lowregret.service.logs import write, write_seldom
from lowregret.service.openapi import MAX_POSITION, openapi_document
from lowregret.service.problems import PROBLEM_MEDIA_TYPE, RefusedError, problem_of
from lowregret.service.prometheus import Metrics
from lowregret.service.requests import PAGE_HEADERS, Receive, Scope, Send, body_of, check_local, headers_of
from lowregret.service.tokens import Scope as TokenScope
from lowregret.service.tokens import Tokens, require


class Pages(NamedTuple):
    """How many entries of a list an answer has by default, and at most."""

    default: int
    most: int


class Route(NamedTuple):
    """A route: its method and path, the scope it needs, its handler, what it reads and answers."""

    method: str
    path: str
    scope: TokenScope | None
    handler: Callable[[Call], Awaitable[Any]]
    body: type[BaseModel] | None = None
    answer: Any = None
    pages: Pages | None = None
    numbers: Mapping[str, float] = MappingProxyType({})


AGENT = "/v1/agents/{name}"
AGENTS = Pages(MAX_LISTED_AGENTS, MAX_LISTED_AGENTS)
VERDICT = MappingProxyType({"error": 0.05, "within": 0.0})
ROUTES = (
    Route("POST", "/v1/agents", "admin", handlers.create, models.NewAgent, models.Overview),
    Route("GET", "/v1/agents", "read", handlers.list_agents, None, models.Overviews, AGENTS),
    Route("GET", AGENT, "read", handlers.show, None, models.Overview),
    Route("POST", f"{AGENT}/ask", "ask", handlers.ask, models.Ask, models.Decisions),
    Route("POST", f"{AGENT}/tell", "visitor", handlers.tell, models.Tell, models.Told),
    Route("POST", f"{AGENT}/observe", "decide", handlers.observe, models.Observe, models.Told),
    Route("GET", f"{AGENT}/preview", "read", handlers.preview, None, models.Decisions),
    Route("GET", f"{AGENT}/shadow", "read", handlers.shadow, None, models.Shadow),
    Route("POST", f"{AGENT}/forget", "decide", handlers.forget, models.Forget, models.Told),
    Route("GET", f"{AGENT}/summary", "read", handlers.summary, None, models.Summary),
    Route("GET", f"{AGENT}/verdict", "read", handlers.verdict, None, models.Verdict, None, VERDICT),
    Route("GET", f"{AGENT}/pending", "read", handlers.pending, None, models.Decisions),
    Route("GET", f"{AGENT}/arms", "read", handlers.arms, None, models.ArmNames),
    Route("POST", f"{AGENT}/arms", "admin", handlers.change_arms, models.ChangeArms, models.ArmNames),
    Route("POST", f"{AGENT}/status", "admin", handlers.change_status, models.ChangeStatus, models.Changed),
    Route("GET", f"{AGENT}/events", "read", handlers.events, None, dict, Pages(100, MAX_LISTED_EVENTS)),
    Route("GET", f"{AGENT}/history", "read", handlers.history, None, dict),
    Route("GET", f"{AGENT}/export", "read", handlers.export, None, "text/csv"),
    Route("GET", "/health", None, handlers.health, None, dict),
    Route("GET", "/ready", None, handlers.ready, None, dict),
    Route("GET", "/metrics", "read", handlers.metrics, None, "text/plain", AGENTS),
)
OFREP_ROUTES = (
    Route("POST", f"{ofrep.FLAGS}/{{name}}", "ask", ofrep.evaluate_flag, ofrep.Evaluation),
    Route("POST", ofrep.FLAGS, "ask", ofrep.evaluate_flags, ofrep.Evaluation),
)
"""Routes that are described elsewhere, by the protocol."""
PAGES = {
    "/": ("index.html", "text/html"),
    "/dashboard.css": ("dashboard.css", "text/css"),
    "/dashboard.js": ("dashboard.js", "text/javascript"),
    "/charts.js": ("charts.js", "text/javascript"),
    "/words.js": ("words.js", "text/javascript"),
}
"""The dashboard, which is static: it reads the API as any client does."""


class Service:
    """The application: the agents of a store, who may use them, and how calls are answered."""

    def __init__(self, options: Options, counts: Any = None, worker: int = 0) -> None:
        self.tokens = None if options.tokens is None else Tokens(options.tokens)
        self.agents = Agents(options.store, options.max_group, self._log_stored)
        self.metrics = Metrics((route.path for route in (*ROUTES, *OFREP_ROUTES)), counts, worker)
        self._shared = self.agents, self.metrics, self.tokens is not None
        self._lost, self._access_log, self._under_way = False, options.access_log, 0
        self._hidden = hidden_names(options.store)
        self._routes: dict[str, dict[str, Route | Answer]] = {}
        for route in (*ROUTES, *OFREP_ROUTES):
            self._routes.setdefault(route.path, {})[route.method] = route
        for path, page in self._static_pages():
            self._routes[path] = {"GET": page, "HEAD": page}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or close the agents when the server ends."""
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self.agents.close()
            await send({"type": "lifespan.shutdown.complete"})
            return
        began, method, path = perf_counter(), scope["method"], scope["path"]
        template, name = _template(path)
        methods = self._routes.get(template)
        route = methods and methods.get(method)
        if isinstance(route, Route):
            answer = await self._answer(route, scope, receive, name)
        elif route:
            answer = route
        elif methods:
            allowed = {"Allow": ", ".join(methods)}
            answer = self._problem(
                RefusedError(
                    405, "method", f"{method} is not a method of this path: use {', '.join(methods)}", allowed
                )
            )
        else:
            answer = self._problem(
                RefusedError(
                    404, "not-found", f"there is no {short_repr(path)}: /openapi.json lists what there is"
                )
            )
        await _send(answer, send)
        if self._access_log:
            took = round(perf_counter() - began, 5)
            write(
                "access", method=method, path=path, status=answer.status, seconds=took, client=_client(scope)
            )

    async def _answer(self, route: Route, scope: Scope, receive: Receive, name: str) -> Answer:
        """Check a call of a route, let it be done, and return the answer."""
        began = perf_counter()
        self._under_way += 1
        try:
            if self._under_way > MAX_CONNECTIONS and route.scope is not None:
                detail = f"more than {MAX_CONNECTIONS:,} calls are under way: try again"
                raise RefusedError(503, "overloaded", detail, {"Connection": "close"})
            headers = headers_of(scope["headers"])
            token = None
            if route.scope is not None:
                if self.tokens is None:
                    check_local(headers)
                else:
                    agent = None if route.path == ofrep.FLAGS else name  # which checks the agents itself
                    token = require(self.tokens, headers.get("authorization"), route.scope, agent)
            body = None
            if route.body is not None:
                body = models.parse_body(route.body, await body_of(headers, receive))
            query: dict[str, Any] = _numbers(scope["query_string"], route.numbers) if route.numbers else {}
            if route.pages is not None:
                query = _query(scope["query_string"], route.pages)
            call = Call(*self._shared, token, name, body, query, headers)
            answer = await route.handler(call)
            if not isinstance(answer, Answer):
                answer = Answer(to_json(answer).decode())  # quicker than json.dumps
        except Exception as error:
            self._log_failure(error, route, _client(scope))
            answer = self._problem(error)
            answer = ofrep.failure(answer, error, name) if route in OFREP_ROUTES else answer
        finally:
            self._under_way -= 1
        self.metrics.observe(route.path, answer.status, perf_counter() - began)
        return answer

    def _log_stored(self) -> None:
        """Log that the store can be used again: a call that only reads does not show that."""
        if self._lost:
            self._lost = False
            write_seldom("store_regained")

    def _log_failure(self, error: Exception, route: Route, client: str) -> None:
        """Log a refused token, too many calls, and a store that cannot be used."""
        if isinstance(error, RefusedError) and error.kind == "overloaded":
            write_seldom("overloaded", route=route.path, client=client, calls=self._under_way)
        if isinstance(error, RefusedError) and error.status in (401, 403):
            write_seldom("refused", error.status, route=route.path, client=client, reason=error)
        elif isinstance(error, StoreError) and not self._lost:
            self._lost, reason = True, without_urls(str(error.__cause__ or error))
            full = "disk is full" in reason or "No space left" in reason
            write_seldom("disk_full" if full else "store_lost", reason=reason)

    def _problem(self, error: Exception) -> Answer:
        status, text, headers = problem_of(error, self._hidden)
        return Answer(text, status, PROBLEM_MEDIA_TYPE, headers)

    def _static_pages(self) -> Iterable[tuple[str, Answer]]:
        """Yield the path and the content of each page that is always the same."""
        folder = files("lowregret.service") / "dashboard"
        for path, (name, kind) in PAGES.items():
            text = (folder / name).read_text(encoding="utf-8")
            yield path, Answer(text, media_type=f"{kind}; charset=utf-8", common=PAGE_HEADERS)
        yield "/openapi.json", Answer(json.dumps(openapi_document(ROUTES, self.tokens is not None)))


def _template(path: str) -> tuple[str, str]:
    """Return the path of a route, with ``{name}`` instead of the name of an agent, and that name."""
    if path.startswith("/v1/agents/"):
        name, slash, action = path[len("/v1/agents/") :].partition("/")
        return (f"{AGENT}{slash}{action}", name) if name else (path, "")
    if path.startswith(f"{ofrep.FLAGS}/"):
        return f"{ofrep.FLAGS}/{{name}}", path.removeprefix(f"{ofrep.FLAGS}/")
    return path, ""


def _client(scope: Scope) -> str:
    return str((scope.get("client") or ["unknown"])[0])


async def _send(answer: Answer, send: Send) -> None:
    headers = [*answer.common, (b"content-type", answer.media_type.encode())]
    if answer.headers:
        headers += [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    body = b""
    if isinstance(answer.content, str):
        body = answer.content.encode()
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if not isinstance(answer.content, str):
        async for part in answer.content:
            await send({"type": "http.response.body", "body": part.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": body})


def _query(text: bytes, pages: Pages) -> dict[str, int]:
    """Return the part of a list that a query asks for: its ``limit``, and ``after`` if it has one."""
    values, query = dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True)), {"limit": pages.default}
    for key, most in (("after", MAX_POSITION), ("limit", pages.most)):
        if key in values:
            value = values[key]
            if not (value.isascii() and value.isdecimal() and len(value) < 20 and int(value) <= most):
                raise InputError(f"{key} must be an integer from 0 to {most:,}, got {short_repr(value)}")
            query[key] = int(value)
    return query


def _numbers(text: bytes, defaults: Mapping[str, float]) -> dict[str, float]:
    values, numbers = dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True)), dict(defaults)
    for key in defaults.keys() & values.keys():
        try:
            numbers[key] = float(values[key])
        except ValueError:
            raise InputError(f"{key} must be a number, got {short_repr(values[key])}") from None
    return numbers
