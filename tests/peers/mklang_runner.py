"""Runs generated machines with the reference interpreter: JSON lines in, JSON lines out."""

import copy
import json
import sys
import time

from mklang.checkpoint import taint_frame
from mklang.engine import run
from mklang.model import parse_machine
from mklang.scripttest import TIERS, ScriptedLLM, run_scenario, scripted_hooks, scripted_tools


def as_json(result):
    return {
        "status": result.status,
        "error": result.error,
        "result": result.result,
        "usage": result.usage,
        "trace": result.trace,
        "at": result.at,
        "diagnosis": result.diagnosis,
        "ask": result.ask,
        "reply_to": result.reply_to,
        "context": result.context,
        "frames": result.frames,
    }


def set_path(ctx, path, value):
    *parents, last = path.split(".")
    for key in parents:
        if not isinstance(ctx.get(key), dict):
            ctx[key] = {}
        ctx = ctx[key]
    ctx[last] = value


def resume(machine, registry, case, frames):
    frames = copy.deepcopy(frames)
    scenario = case["scenario"]
    inputs = case["resumeInputs"]
    last = frames[-1]
    for path, value in inputs.items():
        set_path(last["ctx"], path, value)
    taint_frame(last, inputs.keys())
    options = {k: v for k, v in scenario["run"].items() if k != "cost_budget"}
    return run(
        machine,
        machine.context,
        registry,
        ScriptedLLM(scenario["llm"]),
        TIERS,
        None,
        tools=scripted_tools(scenario["tools"]),
        hooks=scripted_hooks(scenario["hooks"]),
        resume=frames,
        **options,
    )


for line in sys.stdin:
    case = json.loads(line)
    answer = {}
    try:
        machine = parse_machine(case["machine"])
        registry = {machine.name: machine}
        for name, document in case["registry"].items():
            registry[name] = parse_machine(document)
        scenario = copy.deepcopy(case["scenario"])
        started = time.perf_counter()
        first = run_scenario(machine, registry, scenario)
        answer["seconds"] = time.perf_counter() - started
        answer["first"] = as_json(first)
        if first.status == "suspended":
            answer["first"] = json.loads(json.dumps(answer["first"]))
            answer["second"] = as_json(resume(machine, registry, case, answer["first"]["frames"]))
    except Exception as error:
        answer["raised"] = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), flush=True)
