"""Calls an agent with the Python SDK, in both eras of the protocol and over standard input and output.

Usage: python_sdk.py URL PROGRAM SERVER AGENT FOLDER; the API key is in CICERONE_API_KEY.
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

url, program, server, agent, folder = sys.argv[1:]
key = os.environ["CICERONE_API_KEY"]


async def use(client, question, word):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"search", "fetch", "ask"}, tools
    assert tools["search"].annotations.read_only_hint and not tools["ask"].annotations.read_only_hint

    found = await client.call_tool("search", {"query": question})
    assert not found.is_error, found
    first = found.structured_content["results"][0]
    assert word in first["text"], found
    # ChatGPT reads the text.
    assert json.loads(found.content[0].text) == found.structured_content

    document = await client.call_tool("fetch", {"id": first["id"]})
    assert word in document.structured_content["text"], document
    assert document.structured_content["id"] == first["id"]

    reply = (await client.call_tool("ask", {"question": question})).structured_content
    assert word in reply["answer"] and reply["sources"], reply
    follow_up = {"question": "And who says so?", "conversation_id": reply["conversation_id"]}
    again = (await client.call_tool("ask", follow_up)).structured_content
    assert again["conversation_id"] == reply["conversation_id"], again

    refused = await client.call_tool("ask", {"question": " "})
    assert refused.is_error and json.loads(refused.content[0].text)["code"] == "invalid_parameter", refused
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except MCPError as error:
        assert error.code == -32602, error


async def main():
    for mode in ["legacy", "auto", "2026-07-28"]:
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})
        async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            await use(client, "When does the museum open?", "nine")
            print(f"python {mode}: {client.protocol_version}")

    forwarding = StdioServerParameters(
        command=program, args=["mcp", "--agent", agent, "--server", server], env={"CICERONE_API_KEY": key}
    )
    local = StdioServerParameters(command=program, args=["mcp", "--source", folder])
    for what, parameters, question, word in [
        ("forwarding", forwarding, "When does the museum open?", "nine"),
        ("folder", local, "What is the lifeboat called?", "Marie"),
    ]:
        for mode in ["legacy", "auto"]:
            async with Client(parameters, mode=mode) as client:
                await use(client, question, word)
                print(f"python {mode} {what}: {client.protocol_version}")


asyncio.run(main())
