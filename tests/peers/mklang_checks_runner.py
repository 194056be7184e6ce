"""Checks and lints documents with the reference interpreter: JSON lines in, JSON lines out."""

import json
import sys

from jsonschema import ValidationError
from mklang.lint import lint_machine
from mklang.loader import semantic_check, validate_dict
from mklang.model import parse_machine
from mklang.registry import load_stdlib_registry

registry = load_stdlib_registry()
first = json.loads(sys.stdin.readline())
registry.update({name: parse_machine(document) for name, document in first.items()})

for line in sys.stdin:
    document = json.loads(line)
    try:
        validate_dict(document)
    except ValidationError:
        print(json.dumps(None))
        continue
    machine = parse_machine(document)
    names = {**registry, machine.name: machine}
    print(
        json.dumps(
            {
                "check": semantic_check(machine, names, False),
                "strict": semantic_check(machine, names, True),
                "lint": lint_machine(machine, registry=names),
            }
        )
    )
