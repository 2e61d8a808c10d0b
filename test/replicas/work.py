"""A client on the Python SDK that works while the replicas behind its URL come and go.

Takes a plan as JSON: `url`, `revision` and `uri`. Each line of standard input is the text that the resource has by then. For each
line, the client waits for a change, reads until it has that text, pages through the default list, and prints a line of JSON.
"""

import asyncio
import json
import re
import sys
import warnings

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

warnings.simplefilter("ignore")  # The old revision has calls that the new one has no more.
plan = json.loads(sys.argv[1])
told = asyncio.Event()
PATIENCE_S = 100
LOST = re.compile("session not found|session has ended|session terminated", re.IGNORECASE)


class Ending(httpx2.AsyncByteStream):
    """Ends a stream that breaks: the SDK opens a stream that has ended as often as needed, but a broken one only twice."""

    def __init__(self, stream) -> None:
        self._stream = stream

    async def __aiter__(self):
        try:
            async for chunk in self._stream:
                yield chunk
        except httpx2.TransportError:
            return

    async def aclose(self) -> None:
        await self._stream.aclose()


class Outliving(httpx2.AsyncBaseTransport):
    """Answers a request whose connection breaks: the SDK ends after the first request without an answer."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request):
        try:
            response = await self._inner.handle_async_request(request)
            response.stream = Ending(response.stream)
            return response
        except httpx2.TransportError:
            return httpx2.Response(503)


async def persistently(ask):
    """Repeats a request if its replica ended during the request. A lost session is an error."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while True:
        try:
            return await ask()
        except Exception as error:
            if LOST.search(str(error)) or asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.05)


async def receive(message) -> None:
    if isinstance(message, types.ResourceUpdatedNotification) and str(message.params.uri) == plan["uri"]:
        told.set()


async def listen(client: Client) -> None:
    """Opens the stream again whenever it has ended. Each time, a change may have been missed, so it counts as one."""
    while True:
        try:
            async with client.listen(resource_subscriptions=[plan["uri"]]) as stream:
                told.set()
                async for _ in stream:
                    told.set()
        except Exception:
            await asyncio.sleep(0.05)


async def entries(client: Client) -> int:
    count, cursor, first = 0, None, True
    while first or cursor is not None:
        page = await persistently(lambda: client.list_resources(cursor=cursor))
        count += len(page.resources)
        cursor, first = page.next_cursor, False
    return count


async def text(client: Client) -> str:
    return (await persistently(lambda: client.read_resource(plan["uri"]))).contents[0].text


async def work(client: Client) -> None:
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        while True:
            await asyncio.wait_for(told.wait(), PATIENCE_S)
            told.clear()
            if await text(client) == line.rstrip("\n"):
                break
        print(json.dumps({"text": line.rstrip("\n"), "entries": await entries(client)}), flush=True)


async def main() -> None:
    mode = "legacy" if plan["revision"].startswith("2025") else "auto"
    http = httpx2.AsyncClient(transport=Outliving(), timeout=httpx2.Timeout(30, read=300))
    server = streamable_http_client(plan["url"], http_client=http)
    async with Client(server, mode=mode, message_handler=receive) as client:
        listening = None
        if client.protocol_version >= "2026":
            listening = asyncio.create_task(listen(client))
        else:
            await persistently(lambda: client.subscribe_resource(plan["uri"]))
        print(json.dumps({"revision": client.protocol_version}), flush=True)
        await work(client)
        if listening is not None:
            listening.cancel()


asyncio.run(main())
