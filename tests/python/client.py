"""An MCP client that this project didn't write, as a command: what it sees of a server, as JSON.

client.py MODE TOOL ARGUMENTS COMMAND [ARGS…]

MODE is `legacy` (initialize) or `auto` (discover, then initialize where the server is older). A tool that isn't
listed at first is waited for until the server says that its list changed, as an agent would.
"""

import asyncio
import contextlib
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ToolListChangedNotification

PATIENCE = 60  # seconds


def plain(model):
    """A model as the JSON that came over the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def ring(subscription, changed):
    async for _ in subscription:
        changed.set()


@contextlib.asynccontextmanager
async def following(client, changed):
    """Rings `changed` at list changes also where the protocol has subscriptions for them."""
    if client.protocol_version < "2026":
        yield
        return
    async with client.listen(tools_list_changed=True) as subscription, asyncio.TaskGroup() as tasks:
        task = tasks.create_task(ring(subscription, changed))
        yield
        task.cancel()


async def listed(client, tool, changed):
    """The tools, once `tool` is among them, and how many list changes it took."""
    changes = 0
    while True:
        tools = (await client.list_tools()).tools
        if any(found.name == tool for found in tools):
            return tools, changes
        await asyncio.wait_for(changed.wait(), PATIENCE)
        changed.clear()
        changes += 1


async def main(mode, tool, arguments, command, *args):
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    changed = asyncio.Event()

    async def on_message(message):
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    options = {"mode": mode, "read_timeout_seconds": PATIENCE, "message_handler": on_message, "cache": None}
    async with Client(server, **options) as client, following(client, changed):
        tools, changes = await listed(client, tool, changed)
        result = await client.call_tool(tool, json.loads(arguments))
        seen = {
            "protocol": client.protocol_version,
            "changes": changes,
            "tools": [plain(tool) for tool in tools],
            "result": plain(result),
        }
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
