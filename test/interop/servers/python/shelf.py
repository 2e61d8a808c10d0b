"""A shelf of books: what FastMCP can say that no server of a registry says without the internet.

URIs of many kinds (opaque, with a query, percent-encoded), bytes, templates with one segment and with many, metadata on
everything, links and embedded resources in results, pages of three entries, and a list that changes.
"""

import base64

from fastmcp import Context, FastMCP
from fastmcp.prompts import Message
from fastmcp.resources import ResourceContent, ResourceResult, TextResource
from fastmcp.tools.base import ToolResult
from mcp_types import (
    Annotations,
    BlobResourceContents,
    EmbeddedResource,
    Icon,
    PromptReference,
    ResourceLink,
    ResourceListChangedNotification,
    TextContent,
    TextResourceContents,
)

BOOKS = {"moby-dick": "Call me Ishmael.", "zuleika": "That old bell…", "süd": "Grüße — 你好 🐋"}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ICON = Icon(src=f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}", mime_type="image/png", sizes=["1x1"])

shelf = FastMCP("shelf", version="1.0.0", instructions="Books to read.", list_page_size=3, icons=[ICON])


@shelf.resource(
    "urn:isbn:9780142437247",
    name="Moby-Dick",
    title="Moby-Dick; or, The Whale",
    mime_type="text/plain",
    icons=[ICON],
    annotations=Annotations(audience=["user"], priority=0.9, last_modified="2026-01-02T03:04:05Z"),
    meta={"example.org/shelf": {"row": 3, "tags": ["whale"]}},
)
def opaque() -> ResourceResult:
    """A URI without an authority or a path."""
    return ResourceResult([ResourceContent(BOOKS["moby-dick"], meta={"example.org/pages": 654})])


@shelf.resource("shelf://covers/pixel.png", mime_type="image/png")
def cover() -> bytes:
    """Bytes."""
    return PIXEL


@shelf.resource("shelf://search?order=title&limit=2", name="by title", mime_type="application/json")
def query() -> ResourceResult:
    """A URI with a query."""
    return ResourceResult([ResourceContent(sorted(BOOKS)[:2], mime_type="application/json")])


@shelf.resource("shelf://odd/a%20b%2Fc%23d", name="odd name")
def encoded() -> str:
    """A URI whose path is percent-encoded."""
    return "a b/c#d"


@shelf.resource("shelf://pair", name="two parts")
def pair() -> ResourceResult:
    """Contents of two parts, text and bytes."""
    return ResourceResult(
        [ResourceContent("a caption"), ResourceContent(PIXEL, mime_type="image/png", meta={"example.org/part": 2})]
    )


@shelf.resource("shelf://books/{book}/text", name="text of a book", mime_type="text/plain", icons=[ICON])
def text(book: str) -> str:
    """A template with one segment."""
    if book not in BOOKS:
        raise ValueError(f"There is no book {book}.")
    return BOOKS[book]


@shelf.resource("shelf://files/{path*}", name="a file", mime_type="application/octet-stream")
def file(path: str) -> bytes:
    """A template with many segments."""
    return f"bytes of {path}".encode()


@shelf.resource("shelf://find{?word,limit}", name="found", mime_type="application/json")
def find(word: str = "", limit: int = 10) -> ResourceResult:
    """A template with a query."""
    found = [name for name, said in BOOKS.items() if word in said][:limit]
    return ResourceResult([ResourceContent(found, mime_type="application/json")])


@shelf.tool(annotations={"readOnlyHint": True}, icons=[ICON], meta={"example.org/tool": True})
def borrow(book: str = "moby-dick") -> ToolResult:
    """Links to a book, and embeds its text and its cover."""
    return ToolResult(
        content=[
            TextContent(type="text", text=f"shelf://books/{book}/text"),
            ResourceLink(
                type="resource_link",
                name=book,
                uri=f"shelf://books/{book}/text",
                mime_type="text/plain",
                size=len(BOOKS[book].encode()),
                annotations=Annotations(priority=0.5),
            ),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(
                    uri=f"shelf://books/{book}/text", mime_type="text/plain", text=BOOKS[book]
                ),
            ),
            EmbeddedResource(
                type="resource",
                resource=BlobResourceContents(
                    uri="shelf://covers/pixel.png",
                    mime_type="image/png",
                    blob=base64.b64encode(PIXEL).decode(),
                ),
            ),
        ],
        structured_content={"book": book, "uri": f"shelf://books/{book}/text"},
        meta={"example.org/due": "2026-12-31"},
    )


@shelf.tool
def count(n: int = 3) -> list[int]:
    """Numbers, as structured content."""
    return list(range(n))


@shelf.tool
def fail() -> str:
    """Always fails."""
    raise ValueError("The shelf fell over.")


@shelf.tool
async def add(name: str, said: str, context: Context) -> str:
    """Adds a resource, and says that the list changed."""
    shelf.add_resource(TextResource(uri=f"shelf://added/{name}", name=name, text=said))
    await context.send_notification(ResourceListChangedNotification())
    return f"shelf://added/{name}"


@shelf.tool
async def wait(steps: int, context: Context) -> str:
    """Reports progress at each step."""
    for step in range(steps):
        await context.report_progress(step + 1, steps, f"step {step + 1}")
    return "done"


@shelf.prompt(title="A review", icons=[ICON], meta={"example.org/prompt": 1})
def review(book: str, tone: str = "kind") -> list[Message]:
    """Asks for a review of an embedded book."""
    embedded = TextResourceContents(uri=f"shelf://books/{book}/text", mime_type="text/plain", text=BOOKS.get(book, ""))
    return [
        Message(f"Write a {tone} review."),
        Message(EmbeddedResource(type="resource", resource=embedded)),
        Message("Gladly.", role="assistant"),
    ]


@shelf.completion
def complete(ref, argument, context) -> list[str]:
    """Completes the names of books, for the prompt and for the template."""
    known = isinstance(ref, PromptReference) or ref.uri.startswith("shelf://books/")
    if not known or argument.name != "book":
        return []
    return [name for name in BOOKS if name.startswith(argument.value)]


if __name__ == "__main__":
    shelf.run(show_banner=False)
