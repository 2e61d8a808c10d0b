"""The server that the official conformance suite asks for, made with FastMCP: tools, resources and prompts of certain names.

Over stdio, or over HTTP at the port that is given as the argument.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.prompts import Message
from fastmcp.tools import Tool
from fastmcp.tools.base import ToolResult
from mcp import MCPError
from pydantic import Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

server = FastMCP("conformance", version="1.0.0")


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, said: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    return types.EmbeddedResource(type="resource", resource=contents)


# Content


@server.tool
def test_simple_text() -> str:
    """Answers with text."""
    return "This is a simple text response for testing."


@server.tool
def test_image_content() -> ToolResult:
    """Answers with an image."""
    return ToolResult(content=[image()])


@server.tool
def test_audio_content() -> ToolResult:
    """Answers with a sound."""
    return ToolResult(content=[types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")])


@server.tool
def test_embedded_resource() -> ToolResult:
    """Answers with a resource."""
    return ToolResult(content=[embedded("test://embedded-resource", "This is an embedded resource content.")])


@server.tool
def test_multiple_content_types() -> ToolResult:
    """Answers with text, an image and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    mixed = embedded("test://mixed-content-resource", data, "application/json")
    return ToolResult(content=[text("Multiple content types test:"), image(), mixed])


@server.tool
def test_error_handling() -> str:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


# Notifications


@server.tool
async def test_tool_with_logging(context: Context) -> str:
    """Logs what it does."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(said)
        await asyncio.sleep(0.05)
    return "Three messages were logged"


@server.tool
async def test_logging_tool(context: Context) -> str:
    """Logs once."""
    await context.info("test_logging_tool was called")
    return "One message was logged"


@server.tool
async def test_tool_with_progress(context: Context) -> str:
    """Reports its progress."""
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(0.05)
    return "All is done"


@server.tool
def test_streaming_elicitation() -> str:
    """Answers without asking for anything."""
    return "Nothing was asked"


@server.tool
async def test_trigger_tool_change(context: Context) -> str:
    """Says that the list of tools changed."""
    await context.send_notification(types.ToolListChangedNotification())
    return "Told"


@server.tool
async def test_trigger_prompt_change(context: Context) -> str:
    """Says that the list of prompts changed."""
    await context.send_notification(types.PromptListChangedNotification())
    return "Told"


# Questions to a client of 2025, which answers while the tool runs


def form(properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


ACCOUNT = form({"username": {"type": "string"}, "email": {"type": "string"}}, ("username", "email"))
DEFAULTS = form(
    {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
)
TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
CHOICES = form(
    {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    }
)


async def outcome_of(context: Context, message: str, schema: dict[str, Any]) -> str:
    answer = await context.session.elicit(
        message=message, requested_schema=schema, related_request_id=context.request_id
    )
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


@server.tool
async def test_elicitation(message: str, context: Context) -> str:
    """Asks the user for an account."""
    return await outcome_of(context, message, ACCOUNT)


@server.tool
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Asks the user with a form that has defaults."""
    return await outcome_of(context, "Please look it over", DEFAULTS)


@server.tool
async def test_elicitation_sep1330_enums(context: Context) -> str:
    """Asks the user with a form that has choices."""
    return await outcome_of(context, "Please choose", CHOICES)


@server.tool
async def test_sampling(prompt: str, context: Context) -> str:
    """Asks the client's model."""
    asked = [types.SamplingMessage(role="user", content=text(prompt))]
    answer = await context.session.create_message(
        messages=asked, max_tokens=100, related_request_id=context.request_id
    )
    return f"LLM response: {getattr(answer.content, 'text', '')}"


# Questions in a result, which a client of 2026 answers with its next request

NAME = form({"name": {"type": "string"}}, ("name",))
COLOR = form({"color": {"type": "string"}}, ("color",))
CONFIRMATION = form({"ok": {"type": "boolean"}}, ("ok",))
CONTEXT = form({"context": {"type": "string"}}, ("context",))


def ask_user(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def ask_model(said: str) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=text(said))]
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=messages, max_tokens=100))


def asking(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answer_to(context: Context, key: str, kind: type) -> Any:
    answer = (context.input_responses or {}).get(key)
    return answer if isinstance(answer, kind) else None


def filled_in(context: Context, key: str, field: str) -> Any:
    answer = answer_to(context, key, types.ElicitResult)
    return (answer.content or {}).get(field) if answer is not None and answer.action == "accept" else None


def model_said(context: Context, key: str) -> str | None:
    answer = (context.input_responses or {}).get(key)
    return getattr(answer.content, "text", "") if hasattr(answer, "model") else None


ASK_NAME = ask_user("What is your name?", NAME)
NO_SCHEMA = {"output_schema": None}


@server.tool(**NO_SCHEMA)
async def test_input_required_result_elicitation(context: Context) -> Any:
    """Asks the user for a name."""
    name = filled_in(context, "user_name", "name")
    return f"Hello, {name}!" if name else asking(user_name=ASK_NAME)


@server.tool(**NO_SCHEMA)
async def test_input_required_result_sampling(context: Context) -> Any:
    """Asks the client's model for a capital."""
    said = model_said(context, "capital_question")
    return f"The model said: {said}" if said else asking(capital_question=ask_model("What is the capital of France?"))


@server.tool(**NO_SCHEMA)
async def test_missing_capability(context: Context) -> Any:
    """Refuses a client that has no model to ask."""
    can = context.session.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(-32021, "This client has no model to ask", {"requiredCapabilities": {"sampling": {}}})
    return "This client has a model"


@server.tool(**NO_SCHEMA)
async def test_input_required_result_list_roots(context: Context) -> Any:
    """Asks for the roots of the client."""
    answer = answer_to(context, "client_roots", types.ListRootsResult)
    if answer is None:
        return asking(client_roots=types.ListRootsRequest())
    return f"Roots: {', '.join(str(root.uri) for root in answer.roots)}"


@server.tool(**NO_SCHEMA)
async def test_input_required_result_multiple_inputs(context: Context) -> Any:
    """Asks for a name, a greeting and the roots at once."""
    name = filled_in(context, "user_name", "name")
    greeting = model_said(context, "greeting")
    roots = answer_to(context, "client_roots", types.ListRootsResult)
    if name and greeting and roots is not None:
        return f"{greeting} {name}, of {len(roots.roots)} roots"
    model = ask_model("Generate a greeting")
    return asking("multiple", user_name=ASK_NAME, greeting=model, client_roots=types.ListRootsRequest())


@server.tool(**NO_SCHEMA)
async def test_input_required_result_capabilities(context: Context) -> Any:
    """Asks for what the client says that it can be asked for."""
    if context.input_responses:
        return f"Answered: {', '.join(context.input_responses)}"
    can = context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if can.elicitation is not None:
        requests["user_name"] = ASK_NAME
    if can.sampling is not None:
        requests["greeting"] = ask_model("Generate a greeting")
    if can.roots is not None:
        requests["client_roots"] = types.ListRootsRequest()
    return asking(**requests) if requests else "This client can be asked for nothing"


def confirmed(context: Context) -> Any:
    if context.request_state is not None and filled_in(context, "confirm", "ok") is not None:
        return f"state-ok: {context.request_state}"
    return asking("confirming", confirm=ask_user("Please confirm", CONFIRMATION))


@server.tool(**NO_SCHEMA)
async def test_input_required_result_request_state(context: Context) -> Any:
    """Asks for a confirmation, and keeps what it is about in the state."""
    return confirmed(context)


@server.tool(**NO_SCHEMA)
async def test_input_required_result_tampered_state(context: Context) -> Any:
    """Asks for a confirmation, whose state nobody may change."""
    return confirmed(context)


@server.tool(**NO_SCHEMA)
async def test_input_required_result_multi_round(context: Context) -> Any:
    """Asks for a name, then for a colour."""
    state = json.loads(context.request_state or "{}")
    name = state.get("name") or filled_in(context, "step1", "name")
    color = filled_in(context, "step2", "color")
    if not name:
        return asking("{}", step1=ask_user("Step 1: What is your name?", NAME))
    if not color:
        return asking(json.dumps({"name": name}), step2=ask_user("Step 2: What is your favorite color?", COLOR))
    return f"{name} likes {color}"


# Schemas


@server.tool
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "", level: int = 0
) -> str:
    """Has an argument that HTTP clients repeat in a header."""
    return f"region: {region}"


def json_schema_2020_12_tool(name: str = "") -> str:
    """Has a schema that uses more of JSON Schema 2020-12."""
    return f"name: {name}"


ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
schema_tool = Tool.from_function(json_schema_2020_12_tool)
schema_tool.parameters = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
server.add_tool(schema_tool)


# Resources


@server.resource("test://static-text", name="static text", mime_type="text/plain")
def static_text() -> str:
    """A text that does not change."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", name="static binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image of one pixel."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", name="watched", mime_type="text/plain")
def watched() -> str:
    """A text that may be subscribed to."""
    return "This is watched."


@server.resource("test://template/{id}/data", name="data by id", mime_type="application/json")
def data_by_id(id: str) -> str:
    """Data that is made for any id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


# Prompts


@server.prompt
def test_simple_prompt() -> str:
    """Has no arguments."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Has two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


# FastMCP calls its arguments what the function does.
@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    """Has a resource in it."""
    said = embedded(resourceUri, "Embedded resource content for testing.")
    return [Message(said), Message("Please process the embedded resource above.")]


@server.prompt
def test_prompt_with_image() -> list[Message]:
    """Has an image in it."""
    return [Message(image()), Message("Please analyze the image above.")]


@server.prompt
async def test_input_required_result_prompt(context: Context) -> Any:
    """Asks the user before it is made."""
    given = filled_in(context, "user_context", "context")
    if given:
        return [Message(f"In this context: {given}")]
    return asking(user_context=ask_user("What context should the prompt use?", CONTEXT))


@server.completion
def complete(ref, argument, context) -> list[str]:
    """Completes the arguments of the prompt that has two."""
    return [word for word in ("test", "testing", "paris", "park") if word.startswith(argument.value)]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
    else:
        server.run(show_banner=False)
