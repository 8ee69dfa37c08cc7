"""The client of the Model Context Protocol from PyPI beside `truetail mcp`: mcp_client.py TRUETAIL URL. It checks each result
against the schema of its tool, and raises where they differ."""

import asyncio
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main(truetail, url):
    server = StdioServerParameters(command=truetail, args=["mcp", "--out-dir", "kept"])
    done = []
    async with Client(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"run", "compare", "capacity", "audit", "explain"}, tools

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result
            return result.structured_content

        async def refused(name, **arguments):
            result = await client.call_tool(name, arguments)
            assert result.is_error, result
            return result.content[0].text

        runs = [await call("run", url=url, rate=100, duration="1s", slo=["p50 < 10s"]) for _ in range(2)]
        assert all(run["outcome"] == "done" and run["tally"]["planned"] == 100 for run in runs), runs
        done.append("run")
        explained = await call("explain", run=runs[0]["run"])
        assert explained["state"] == runs[0]["verdict"]["state"], explained
        done.append("explain")
        compared = await call("compare", a=[runs[0]["run"]], b=[runs[1]["run"]])
        assert compared["comparable"] and compared["quantiles"], compared
        done.append("compare")
        assert "not known" in await refused("audit", file=runs[0]["run"] + "/run.json")
        done.append("audit refused")
        assert "--allow-host" in await refused("run", url="http://192.0.2.1/", rate=1, duration="1s")
        done.append("foreign host refused")
    print(", ".join(done))


asyncio.run(main(*sys.argv[1:]))
