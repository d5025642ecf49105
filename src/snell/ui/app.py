"""The application: one route for each page, the stream of changes, and the files of the page."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from snell.model.errors import SnellError
from snell.system.crash_report import write_report
from snell.ui.gate import Gate, Keys
from snell.ui.lifetime import Lifetime
from snell.ui.pages import PAGES
from snell.ui.render import FOLDER, Renderer
from snell.ui.site import MissingError, Page, Site
from snell.ui.store import Changes

LOOK_SECONDS = 0.15  # between two looks for a change
DAEMON_LOOKS = 10  # looks between two checks of the daemon
ALIVE_SECONDS = 10.0  # a comment that keeps the connection open, and notices that it was closed
LONGEST_FORM = 10_000


def make_app(site: Site, keys: Keys, lifetime: Lifetime) -> ASGIApp:
    renderer = Renderer()
    renderer.add_globals(pages=[page for page in PAGES if page.title])

    def missing_page(request: Request, _error: Exception) -> Response:
        return renderer.message(404, "There is no such page", "The pages are listed above.")

    app = Starlette(
        routes=[
            *(_route(page, site, lifetime, renderer) for page in PAGES),
            Route("/live", _live(site, lifetime)),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ],
        exception_handlers={404: missing_page, 405: missing_page},
    )
    return Gate(app, keys, renderer)


def _route(page: Page, site: Site, lifetime: Lifetime, renderer: Renderer) -> Route:
    async def answer(request: Request) -> Response:
        lifetime.note_request()
        query = {**request.query_params, **await _form(request), **request.path_params}
        return await run_in_threadpool(_render, page, site, query, renderer)

    return Route(page.path, answer, methods=["GET", "POST"] if page.accepts_form else ["GET"])


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; `is_sent` says that there is one."""
    if request.method != "POST":
        return {"is_sent": ""}
    from urllib.parse import parse_qsl

    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            break
    return {**dict(parse_qsl(body[:LONGEST_FORM].decode("utf-8", "replace"))), "is_sent": "yes"}


def _render(page: Page, site: Site, query: dict[str, str], renderer: Renderer) -> Response:
    """Answer one request; an error becomes a page that says what is wrong."""
    shared: dict[str, Any] = {"here": page, "query": query, "has_daemon": site.has_daemon}
    try:
        if not site.store.exists:
            return renderer.answer("empty.html", shared)
        values = page.show(site, query)
        if page.media_type:
            return Response(values["body"], media_type=page.media_type)
        return renderer.answer(page.template, {**shared, **values})
    except MissingError as error:
        return renderer.answer("error.html", {**shared, "error": error}, 404)
    except SnellError as error:
        return renderer.answer("error.html", {**shared, "error": error}, 500)
    except Exception as error:  # noqa: BLE001 - a bug becomes a report and a page that names it
        path = write_report(error, ["ui", page.path])
        advice = f"the report is in `{path}`"
        bug = SnellError(f"internal error (a bug in Snell): {type(error).__name__}", advice=advice)
        return renderer.answer("error.html", {**shared, "error": bug}, 500)


def _live(site: Site, lifetime: Lifetime) -> Callable[[Request], Awaitable[Response]]:
    changes = Changes(site.store.path)

    async def states() -> AsyncIterator[tuple[int, bool, int]]:
        looks, has_daemon = 0, site.has_daemon
        while not lifetime.is_ended:
            if looks % DAEMON_LOOKS == 0:
                has_daemon = await run_in_threadpool(lambda: site.has_daemon)
            looks += 1
            yield changes.look(), has_daemon, site.daemon_mark
            await asyncio.sleep(LOOK_SECONDS)

    async def events() -> AsyncIterator[str]:
        last, silent = None, 0.0
        with lifetime.page():
            yield "retry: 1000\n\n"
            async for state in states():
                if state != last or silent >= ALIVE_SECONDS:
                    yield f"data: {state[0]} {int(state[1])} {state[2]}\n\n" if state != last else ": still here\n\n"
                    last, silent = state, 0.0
                silent += LOOK_SECONDS

    async def answer(_request: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    return answer
