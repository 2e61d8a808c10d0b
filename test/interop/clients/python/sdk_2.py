"""A client on the second version of the Python SDK, which speaks both revisions."""

import asyncio
import json
import sys
import warnings
from contextlib import asynccontextmanager

import mcp_types as types
from mcp import Client as SdkClient
from mcp import StdioServerParameters

from following import User, follow, say, wire

warnings.simplefilter("ignore")  # What was taken out of the new revision is called in the old one.
plan = json.loads(sys.argv[1])
user = User(plan)
updates: asyncio.Queue[str] = asyncio.Queue()


class Client:
    def __init__(self, client: SdkClient) -> None:
        self._client = client

    async def resources(self, cursor):
        return wire(await self._client.list_resources(cursor=cursor))

    async def templates(self, cursor):
        return wire(await self._client.list_resource_templates(cursor=cursor))

    async def tools(self, cursor):
        return wire(await self._client.list_tools(cursor=cursor))

    async def read(self, uri):
        return wire(await self._client.read_resource(uri))

    async def call(self, name, arguments):
        return wire(await self._client.call_tool(name, arguments))

    async def prompt(self, name, arguments):
        return wire(await self._client.get_prompt(name, arguments))

    async def complete(self, prompt, argument):
        return wire(await self._client.complete(types.PromptReference(name=prompt), argument))

    @asynccontextmanager
    async def watch(self, uri):
        if self._client.protocol_version >= "2026":
            async with self._client.listen(resource_subscriptions=[uri]) as stream:

                async def changed() -> str:
                    return (await anext(stream)).uri

                yield changed
            return
        await self._client.subscribe_resource(uri)
        yield updates.get
        await self._client.unsubscribe_resource(uri)


async def elicit(_context, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(**user.answer(params.message))


async def receive(message) -> None:
    if isinstance(message, types.ResourceUpdatedNotification):
        updates.put_nowait(str(message.params.uri))


async def main() -> None:
    server = plan.get("url") or StdioServerParameters(command=plan["command"], args=plan["args"])
    mode = "legacy" if plan["revision"].startswith("2025") else "auto"
    async with SdkClient(server, mode=mode, elicitation_callback=elicit, message_handler=receive) as client:
        say("connect", revision=client.protocol_version, server=client.server_info.name)
        await follow(plan, Client(client), user)
    say("end")


asyncio.run(main())
