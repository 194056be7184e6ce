"""Plays scripts through `executionkit`: `python execution_kit_runner.py SCRIPTS BASE_URL`.

SCRIPTS is a file with a JSON list; the replies wait at BASE_URL/ID. Prints one line of JSON for each script.
Before Python 3.13 the result type cannot be made with a type argument; here the argument is dropped, which changes no
result.
"""

import asyncio
import json
import sys
import warnings

import executionkit as ek
from executionkit import types
from executionkit.engine.retry import RetryConfig
from executionkit.patterns.map_reduce import map_reduce
from executionkit.patterns.structured import structured

if sys.version_info < (3, 13):
    types.PatternResult.__class_getitem__ = classmethod(lambda cls, item: cls)
warnings.simplefilter("ignore")

TOOLS = [
    types.Tool(
        name="add",
        description="Adds",
        parameters={
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        execute=lambda a, b: as_text(a + b),
    ),
    types.Tool(
        name="upper",
        description="Upper case",
        parameters={
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        execute=lambda text: as_text(text.upper()),
    ),
]


async def as_text(value):
    return str(value)


async def play(script, provider):
    options = script["options"]
    common = {"retry": RetryConfig(max_retries=2, base_delay=0.001, max_delay=0.001)}
    if "maxCalls" in script:
        common["max_cost"] = types.TokenUsage(llm_calls=script["maxCalls"])
    pattern = script["pattern"]
    if pattern == "consensus":
        return await ek.consensus(
            provider,
            "Q",
            num_samples=options["n"],
            strategy=options["strategy"],
            max_concurrency=1,
            **common,
        )
    if pattern == "react_loop":
        return await ek.react_loop(provider, "Q", TOOLS, max_rounds=options["maxRounds"], **common)
    if pattern == "refine_loop":
        return await ek.refine_loop(
            provider,
            "Q",
            target_score=options["target"],
            max_iterations=options["maxIterations"],
            patience=options["patience"],
            delta_threshold=options["delta"],
            **common,
        )
    if pattern == "structured":
        return await structured(provider, "Q", max_retries=options["maxRepairs"], **common)
    return await map_reduce(
        provider,
        options["items"],
        map_prompt_template="Map {item}",
        reduce_prompt_template="Reduce {mapped_outputs}",
        max_concurrency=1,
        **common,
    )


def plain(value):
    return value if isinstance(value, (int, float, str, bool, list, dict)) else str(value)


def usage(cost):
    if cost is None:
        return None
    return {
        "inputTokens": cost.input_tokens,
        "outputTokens": cost.output_tokens,
        "llmCalls": cost.llm_calls,
    }


async def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        scripts = json.load(file)
    for script in scripts:
        provider = ek.Provider(base_url=f"{sys.argv[2]}/{script['id']}", model="m")
        try:
            result = await play(script, provider)
            line = {
                "value": result.value,
                "score": result.score,
                "usage": usage(result.cost),
                "metadata": {k: plain(v) for k, v in dict(result.metadata).items() if k != "messages"},
            }
        except Exception as raised:  # what is thrown is what is compared
            error = raised.exceptions[0] if isinstance(raised, ExceptionGroup) else raised
            line = {
                "error": type(error).__name__,
                "text": str(error)[:200],
                "usage": usage(getattr(error, "cost", None)),
            }
        print(json.dumps(line), flush=True)


asyncio.run(main())
