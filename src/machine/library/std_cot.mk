# Think first, then answer. The thinking stays private: only the answer is kept.
mklang: "0.2"
machine: std_cot
entry: solve
budget: 3
result: answer
context:
  task: "(no task given)"
states:
  solve:
    reason: true
    prompt: |
      Solve this task:

      {{task}}

      Work it out step by step before you answer, and check the result once against the task.
    structure: >-
      The final answer alone, complete and readable on its own, without the steps that led to it.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
