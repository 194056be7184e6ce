# Plan the task as a list of steps, do each step on its own, then put the results together.
mklang: "0.3"
machine: std_plan_execute
entry: plan
budget: 16
result: answer
context:
  task: "(no task given)"
states:
  plan:
    tier: reasoning
    parse: list
    prompt: |
      Break this task into the fewest steps that can be done independently of each other, at most
      eight:

      {{task}}
    structure: >-
      A JSON array of strings and nothing else. Each string is one step, complete enough to be done
      by someone who sees only the task and this step.
    output: steps
    gates:
      - { when: otherwise, then: ok, to: execute }
  execute:
    tier: fast
    over: "{{steps}}"
    prompt: |
      Overall task:
      {{task}}

      Do this step and no other:
      {{item}}
    structure: The result of the step alone.
    output: results
    gates:
      - { when: otherwise, then: ok, to: combine }
  combine:
    tier: reasoning
    prompt: |
      Task:
      {{task}}

      Steps:
      {{steps}}

      Results, in the order of the steps:
      {{results}}

      Put the results together into the answer to the task.
    structure: The answer to the whole task, consistent in itself, without a report on the steps.
    output: answer
    gates:
      - { when: the result of every step went into the output, then: ok, to: END }
      - { when: the result of a step was dropped, repair: 1, to: combine }
      - { when: otherwise, then: ok, to: END }
