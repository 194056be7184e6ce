"""Drives a server with the official Python client and prints one line of JSON for each check.

Called as `python client_python.py PLAN`, PLAN being JSON with `mode`, `command`, `env`, `target`.
"""

import asyncio
import json
import os
import sys
import time

from mcp import Client, StdioServerParameters
from mcp import types

plan = json.loads(sys.argv[1])
asked = 0


def say(name: str, ok: object, detail: object = "") -> None:
    print(json.dumps({"name": name, "ok": bool(ok), "detail": str(detail)}), flush=True)


async def attempt(name, body) -> None:
    try:
        ok, detail = await body()
        say(name, ok, detail)
    except Exception as error:  # every failure is a line of the report
        say(name, False, repr(error))


async def answer(context, params):
    global asked
    asked += 1
    return types.ElicitResult(action="accept", content={"ok": True})


async def with_progress(client, tool, arguments, least):
    seen = []

    async def note(progress, total=None, message=None):
        seen.append(progress)

    result = await client.call_tool(tool, arguments, progress_callback=note)
    rising = all(b > a for a, b in zip(seen, seen[1:]))
    return len(seen) >= least and rising and not result.is_error, f"{len(seen)} reports"


async def cancelled(client, tool, arguments, following):
    task = asyncio.create_task(client.call_tool(tool, arguments))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
        outcome = "answered"
    except asyncio.CancelledError:
        outcome = "cancelled"
    start = time.monotonic()
    await following()
    ms = round((time.monotonic() - start) * 1000)
    return outcome == "cancelled" and ms < 1000, f"{outcome}, next answer after {ms} ms"


async def names_of(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def drive_fixture(client) -> None:
    async def lists():
        names = await names_of(client)
        return {"echo", "slow", "ask", "fail"} <= set(names), len(names)

    async def calls():
        result = await client.call_tool("echo", {"text": "hé😀\nllo"})
        return not result.is_error and any("llo" in block.text for block in result.content), ""

    async def fails():
        return (await client.call_tool("fail", {})).is_error, ""

    async def asks():
        result = await client.call_tool("ask", {})
        return asked > 0 and not result.is_error, f"{asked} asked"

    await attempt("lists tools", lists)
    await attempt("calls a tool", calls)
    await attempt("reads a failed tool as a result", fails)
    await attempt("gets rising progress", lambda: with_progress(client, "slow", {"ms": 500}, 2))
    following = lambda: client.call_tool("echo", {"text": "after"})
    await attempt("cancels a call", lambda: cancelled(client, "slow", {"ms": 60000}, following))
    await attempt("answers a question", asks)


async def drive_kit(client) -> None:
    async def lists():
        names = await names_of(client)
        return {"consensus", "react_loop"} <= set(names), " ".join(names)

    async def loops():
        result = await client.call_tool("react_loop", {"prompt": "Use the calculator: 6*7"})
        return not result.is_error, result.content[0].text[:80]

    vote = {"prompt": "What is 6 times 7?", "n": 5}
    await attempt("lists tools", lists)
    await attempt("gets a vote with progress", lambda: with_progress(client, "consensus", vote, 3))
    await attempt("gets a tool loop", loops)
    slow = {**vote, "prompt": "SLOW"}
    following = lambda: client.call_tool("react_loop", {"prompt": "Use the calculator: 6*7"})
    await attempt("cancels a vote", lambda: cancelled(client, "consensus", slow, following))


async def main() -> None:
    server = StdioServerParameters(
        command=plan["command"][0],
        args=plan["command"][1:],
        env={**os.environ, **plan["env"]},
    )
    start = None
    try:
        async with Client(server, mode=plan["mode"], elicitation_callback=answer) as client:
            say("connects", True, client.protocol_version)
            await (drive_kit if plan["target"] == "kit" else drive_fixture)(client)
            start = time.monotonic()
    except Exception as error:
        say("connects" if start is None else "closes", False, repr(error))
        return
    say("closes", True, f"{round((time.monotonic() - start) * 1000)} ms")


asyncio.run(main())
