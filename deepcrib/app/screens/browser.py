"""The same screens in a browser of this machine, by textual-serve: every page that is opened is its own process."""

from __future__ import annotations

import logging
import shlex
import socket
from collections.abc import Sequence
from typing import Any

from aiohttp import web
from textual_serve.server import Server

from deepcrib.errors import OptionError

HOST = "127.0.0.1"
_FOCUS = """<script>const drawn = setInterval(() => { if (document.body.classList.contains("-first-byte")) {
clearInterval(drawn); document.querySelector(".xterm-helper-textarea").focus(); } }, 100)</script></body>"""
"""Lets keys reach the table without a click."""


class PageServer(Server):
    """Runs a command for every page, whose app is drawn there."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, HOST, port, "deepcrib play")
        self.open: list[web.Request] = []

    def initialize_logging(self) -> None:
        """Requests, and processes that outlive the loop for a moment, are no news."""
        for name in ("aiohttp.access", "asyncio"):
            logging.getLogger(name).setLevel(logging.ERROR)

    async def on_startup(self, app: web.Application) -> None:
        """Say where the page is."""
        print(f"the table is at {self.public_url} on this machine; every page is a game; Ctrl-C ends all", flush=True)

    async def on_shutdown(self, app: web.Application) -> None:
        """Leave the pages, whose games are saved, and do not wait for what browsers answer."""
        for page in self.open:
            if page.transport is not None:
                page.transport.abort()

    async def handle_index(self, request: web.Request) -> Any:
        """The page, without a style sheet from elsewhere that it would wait for where there is no network."""
        page: Any = await super().handle_index(request)
        page.text = str(page.text).replace("</body>", _FOCUS)
        page.headers["Content-Security-Policy"] = "style-src 'self' 'unsafe-inline'"
        return page

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Let a page of ours play; browsers let those of other sites connect here, too."""
        if request.headers.get("Origin") != self.public_url:
            raise web.HTTPForbidden
        self.open.append(request)
        return await super().handle_websocket(request)


def serve(command: Sequence[str], port: int) -> None:
    """Let this machine's browsers play, until Ctrl-C. Raises OptionError for a port that is taken."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        raise OptionError(f"port={port}: {error.strerror}, expected another one") from error
    PageServer(shlex.join(command), port).serve()
