"""The official Python client under remote control: `python commission_client.py PLAN`.

PLAN is JSON with `mode`, `command`, `env`, `elicits` and `manual`. Orders come as lines of JSON on standard input
(`call`, `cancel`, `answer`, `list`, `close`), what happens goes out as lines of JSON.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp import types
from mcp.types import ElicitResult

plan = json.loads(sys.argv[1])
calls: dict[int, asyncio.Task] = {}
asks: list[asyncio.Future] = []


def say(**line) -> None:
    print(json.dumps(line), flush=True)


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def ask(context, params):
    future = asyncio.get_running_loop().create_future()
    asks.append(future)
    number = len(asks)
    say(event="ask", ask=number, params=plain(params))
    try:
        answer = await future
    except asyncio.CancelledError:
        say(event="withdrawn", ask=number)
        raise
    return ElicitResult.model_construct(**answer) if plan.get("loose") else ElicitResult(**answer)


async def call(client, order) -> None:
    number = order["id"]

    async def note(progress, total=None, message=None):
        say(event="progress", id=number, progress=progress, total=total, message=message)

    seed = order.get("seed") or {}
    more = {}
    if "requestState" in seed:
        more["request_state"] = seed["requestState"]
    if "inputResponses" in seed:
        more["input_responses"] = {
            key: ElicitResult(**value) for key, value in seed["inputResponses"].items()
        }
    try:
        if plan.get("manual"):
            result = await client.session.call_tool(
                order["name"],
                order["arguments"],
                progress_callback=note,
                allow_input_required=True,
                **more,
            )
        else:
            result = await client.call_tool(
                order["name"], order["arguments"], progress_callback=note, **more
            )
        say(event="result", id=number, result=plain(result))
    except asyncio.CancelledError:
        say(event="error", id=number, message="cancelled")
    except Exception as error:  # every failure is a line for the harness
        failure = getattr(error, "error", None)
        say(
            event="error",
            id=number,
            message=repr(error),
            code=getattr(failure, "code", None),
            data=getattr(failure, "data", None),
        )


async def obey(client, done) -> None:
    reader = asyncio.StreamReader(limit=2**26)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        order = json.loads(line)
        match order["op"]:
            case "call":
                calls[order["id"]] = asyncio.create_task(call(client, order))
            case "cancel":
                calls[order["id"]].cancel()
            case "answer":
                future = asks[order["ask"] - 1]
                if not future.done():
                    future.set_result(order["result"])
            case "list":
                say(event="result", id=order["id"], result=plain(await client.list_tools()))
            case "close":
                break
    done.set()


async def main() -> None:
    server = StdioServerParameters(
        command=plan["command"][0],
        args=plan["command"][1:],
        env={**os.environ, **plan["env"]},
        cwd=plan.get("cwd"),
    )
    more = {"elicitation_callback": ask} if plan.get("elicits") else {}
    async with Client(server, mode=plan["mode"], **more) as client:
        say(event="connected", revision=client.protocol_version)
        done = asyncio.Event()
        task = asyncio.create_task(obey(client, done))
        await done.wait()
        task.cancel()
    say(event="closed")


try:
    asyncio.run(main())
except Exception as error:
    say(event="error", id=0, message=repr(error))
    sys.exit(1)
