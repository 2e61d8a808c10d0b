"""A client of FastMCP, which speaks both revisions; it has no subscriptions of its own, but those of the SDK below it."""

import asyncio
import json
import sys
import warnings
from contextlib import asynccontextmanager

import mcp_types as types
from fastmcp import Client as FastClient
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport
from mcp.client.subscriptions import listen

from following import User, follow, say, wire

warnings.simplefilter("ignore")  # What was taken out of the new revision is called in the old one.
plan = json.loads(sys.argv[1])
user = User(plan)
updates: asyncio.Queue[str] = asyncio.Queue()


class Client:
    def __init__(self, client: FastClient) -> None:
        self._client = client

    async def resources(self, cursor):
        return wire(await self._client.list_resources_mcp(cursor=cursor))

    async def templates(self, cursor):
        return wire(await self._client.list_resource_templates_mcp(cursor=cursor))

    async def tools(self, cursor):
        return wire(await self._client.list_tools_mcp(cursor=cursor))

    async def read(self, uri):
        return wire(await self._client.read_resource_mcp(uri))

    async def call(self, name, arguments):
        return wire(await self._client.call_tool_mcp(name, arguments))

    async def prompt(self, name, arguments):
        return wire(await self._client.get_prompt_mcp(name, arguments))

    async def complete(self, prompt, argument):
        return wire(await self._client.complete_mcp(types.PromptReference(name=prompt), argument))

    @asynccontextmanager
    async def watch(self, uri):
        session = self._client.session
        if self._client.protocol_version >= "2026":
            async with listen(session, resource_subscriptions=[uri]) as stream:

                async def changed() -> str:
                    return (await anext(stream)).uri

                yield changed
            return
        await session.subscribe_resource(uri)
        yield updates.get
        await session.unsubscribe_resource(uri)


async def elicit(message, _kind, _params, _context) -> ElicitResult:
    return ElicitResult(**user.answer(message))


class Receiving(MessageHandler):
    async def on_resource_updated(self, message) -> None:
        updates.put_nowait(str(message.params.uri))


async def main() -> None:
    server = plan.get("url") or StdioTransport(plan["command"], plan["args"])
    mode = "legacy" if plan["revision"].startswith("2025") else "auto"
    async with FastClient(server, mode=mode, elicitation_handler=elicit, message_handler=Receiving()) as client:
        say("connect", revision=client.protocol_version, server=client.server_info.name)
        await follow(plan, Client(client), user)
    say("end")


asyncio.run(main())
