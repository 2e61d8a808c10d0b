"""A client on the first version of the Python SDK."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from following import User, follow, say, wire

plan = json.loads(sys.argv[1])
user = User(plan)
updates: asyncio.Queue[str] = asyncio.Queue()


class Client:
    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def resources(self, cursor):
        return wire(await self._session.list_resources(params=types.PaginatedRequestParams(cursor=cursor)))

    async def templates(self, cursor):
        return wire(await self._session.list_resource_templates(params=types.PaginatedRequestParams(cursor=cursor)))

    async def tools(self, cursor):
        return wire(await self._session.list_tools(params=types.PaginatedRequestParams(cursor=cursor)))

    async def read(self, uri):
        return wire(await self._session.read_resource(AnyUrl(uri)))

    async def call(self, name, arguments):
        return wire(await self._session.call_tool(name, arguments))

    async def prompt(self, name, arguments):
        return wire(await self._session.get_prompt(name, arguments))

    async def complete(self, prompt, argument):
        return wire(await self._session.complete(types.PromptReference(type="ref/prompt", name=prompt), argument))

    @asynccontextmanager
    async def watch(self, uri):
        await self._session.subscribe_resource(AnyUrl(uri))
        yield updates.get
        await self._session.unsubscribe_resource(AnyUrl(uri))


async def elicit(_context, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(**user.answer(params.message))


async def receive(message) -> None:
    if isinstance(message, types.ServerNotification) and isinstance(message.root, types.ResourceUpdatedNotification):
        updates.put_nowait(str(message.root.params.uri))


def transport():
    if "url" in plan:
        return streamable_http_client(plan["url"])
    return stdio_client(StdioServerParameters(command=plan["command"], args=plan["args"]))


async def main() -> None:
    async with transport() as (read, write, *_):
        async with ClientSession(read, write, elicitation_callback=elicit, message_handler=receive) as session:
            began = await session.initialize()
            say("connect", revision=began.protocolVersion, server=began.serverInfo.name)
            await follow(plan, Client(session), user)
    say("end")


asyncio.run(main())
