"""A client of the Python libraries `mcp` or `fastmcp`: does what its argument orders, and prints
what it meets, as JSON, one thing a line."""

import asyncio
import json
import sys

ORDER = json.loads(sys.argv[1])


def say(**what):
    print(json.dumps(what), flush=True)


async def answer(message):
    """What the person says; nothing but a decision is an answer in the sense of the form."""
    say(asked=message)
    says = ORDER["says"]
    if says in ("decline", "deny"):
        # A refusal counts if a person can have read the question.
        await asyncio.sleep(1.1)
    return (says, None) if says in ("decline", "cancel") else ("accept", {"decision": says})


async def told(progress, total, message):
    say(progress=message)


def with_mcp():
    from mcp import Client, StdioServerParameters
    from mcp_types import ElicitResult

    async def elicited(context, params):
        action, content = await answer(params.message)
        return ElicitResult(action=action, content=content)

    command = ORDER["command"]
    server = ORDER["url"] or StdioServerParameters(
        command=command[0], args=command[1:], env=ORDER["env"], cwd=ORDER["cwd"]
    )
    client = Client(
        server, mode=ORDER["mode"], elicitation_callback=elicited if ORDER["says"] else None
    )

    async def tools():
        return (await client.list_tools()).tools

    async def call(name, arguments):
        progress = told if ORDER["progress"] else None
        return await client.call_tool(name, arguments, progress_callback=progress)

    return client, tools, call


def with_fastmcp():
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def elicited(message, response_type, params, context):
        action, content = await answer(message)
        return ElicitResult(action=action, content=content)

    command = ORDER["command"]
    server = ORDER["url"] or StdioTransport(
        command[0], command[1:], env=ORDER["env"], cwd=ORDER["cwd"], keep_alive=False
    )
    client = Client(
        server, mode=ORDER["mode"], elicitation_handler=elicited if ORDER["says"] else None
    )

    async def call(name, arguments):
        progress = told if ORDER["progress"] else None
        return await client.call_tool_mcp(name, arguments, progress_handler=progress)

    return client, client.list_tools, call


async def main():
    client, tools, call = {"mcp": with_mcp, "fastmcp": with_fastmcp}[ORDER["library"]]()
    async with client:
        say(version=str(client.protocol_version), tools=[tool.name for tool in await tools()])
        for name, arguments in ORDER["calls"]:
            result = await call(name, arguments)
            say(result=result.model_dump(mode="json", by_alias=True, exclude_none=True))


asyncio.run(main())
