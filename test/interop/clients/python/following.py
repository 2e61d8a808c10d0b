"""Follows a plan (../index.ts) with one of the clients, and prints a line of JSON for each step."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol


class Client(Protocol):
    """What a client does, each in its own way; results come as they are on the wire."""

    async def resources(self, cursor: str | None) -> dict[str, Any]: ...
    async def templates(self, cursor: str | None) -> dict[str, Any]: ...
    async def tools(self, cursor: str | None) -> dict[str, Any]: ...
    async def read(self, uri: str) -> dict[str, Any]: ...
    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]: ...
    async def prompt(self, name: str, arguments: dict[str, str]) -> dict[str, Any]: ...
    async def complete(self, prompt: str, argument: dict[str, str]) -> dict[str, Any]: ...
    def watch(self, uri: str) -> AbstractAsyncContextManager[Any]:
        """Gives, once it is subscribed, a function that waits for the next change and gives its URI."""


class User:
    """Answers what the server asks: yes to the one question of the plan, no to all others."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._guarded = plan["guarded"]
        self._questions: list[str] = []

    def answer(self, question: str) -> dict[str, Any]:
        self._questions.append(question)
        if self._guarded in question:
            return {"action": "accept", "content": {"confirm": True}}
        return {"action": "decline"}

    def asked(self) -> list[str]:
        """What was asked since the last time."""
        asked, self._questions = self._questions, []
        return asked


def wire(result: Any) -> dict[str, Any]:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def say(step: str, **what: Any) -> None:
    print(json.dumps({"step": step, **what}), flush=True)


def text_of(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(block.get("text") or block.get("resource", {}).get("text", "") for block in blocks)


async def drain(ask: Any, field: str) -> tuple[list[dict[str, Any]], int]:
    entries, cursor, pages = [], None, 0
    while pages == 0 or cursor is not None:
        page = await ask(cursor)
        entries += page[field]
        pages += 1
        cursor = page.get("nextCursor")
    return entries, pages


async def names_of(client: Client) -> list[str]:
    return [each["name"] for each in (await drain(client.tools, "tools"))[0]]


async def follow(plan: dict[str, Any], client: Client, user: User) -> None:
    resources, pages = await drain(client.resources, "resources")
    say("list", uris=[each["uri"] for each in resources], pages=pages)
    # A client checks results by what the tools said of them: it has to know them all.
    say("tools", names=await names_of(client))
    say("text", text=(await client.read(plan["text"]))["contents"][0]["text"])
    say("binary", base64=(await client.read(plan["binary"]))["contents"][0]["blob"])
    templates, _ = await drain(client.templates, "resourceTemplates")
    [template] = [each["uriTemplate"] for each in templates if each["uriTemplate"] == plan["template"]]
    say("template", text=(await client.read(template.replace("{resourceId}", "7")))["contents"][0]["text"])

    async with client.watch(plan["watched"]) as changed:
        say("subscribed")
        say("updated", uri=await changed())

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return text_of((await client.call(name, arguments))["content"])

    say("read", text=await call("read", {"uri": plan["text"], "as": "plain"}))
    say("search", text=await call("search", plan["search"]))
    say("asked", text=await call("read", {"uri": plan["guarded"], "as": "plain"}), questions=user.asked())
    for _ in range(plan["tries"]):
        if plan["asking"] in await names_of(client):
            break
        await asyncio.sleep(0.1)
    say("stranger asked", text=await call(plan["asking"], {}), questions=user.asked())

    prompt = plan["prompt"]
    messages = (await client.prompt(prompt["name"], prompt["arguments"]))["messages"]
    say("prompt", text=text_of([message["content"] for message in messages]))
    completed = await client.complete(prompt["name"], plan["argument"])
    say("complete", values=completed["completion"]["values"])
