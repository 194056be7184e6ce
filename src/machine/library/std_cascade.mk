# A small model first, a strong one only where the first answer does not do.
mklang: "0.2"
machine: std_cascade
entry: draft
budget: 4
result: answer
context:
  task: "(no task given)"
states:
  draft:
    tier: fast
    prompt: |
      {{task}}

      If you cannot answer this fully and with confidence, say so plainly instead of guessing.
    structure: The answer alone, or one sentence that says what is missing.
    output: answer
    gates:
      - { when: the output answers the task fully and without hedging, then: ok, to: END }
      - { when: otherwise, escalate: true, to: deliberate }
  deliberate:
    tier: reasoning
    reason: true
    prompt: |
      A first attempt at this task did not do.

      Task:
      {{task}}

      First attempt:
      {{answer}}

      Solve the task anew, and take from the first attempt only what holds.
    structure: The final answer alone.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
