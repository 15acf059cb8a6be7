"""An MCP client that this project didn't write, as a command: what it sees of a server, as JSON.

client.py MODE TOOL ARGUMENTS COMMAND [ARGS…]

MODE is `legacy` (initialize) or `auto` (discover, then initialize where the server is older).
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


def plain(model):
    """A model as the JSON that came over the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def main(mode, tool, arguments, command, *args):
    server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool(tool, json.loads(arguments))
        print(
            json.dumps(
                {
                    "protocol": client.protocol_version,
                    "server": plain(client.server_info) if client.server_info else None,
                    "tools": [plain(tool) for tool in tools],
                    "result": plain(result),
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
