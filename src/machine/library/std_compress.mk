# Shrink notes that have grown too long, without losing or adding a fact.
mklang: "0.3"
machine: std_compress
entry: compress
budget: 4
result: answer
context:
  task: "(no task given)"
  notes: []
states:
  compress:
    prompt: |
      These notes serve the following task:

      {{task}}

      Notes:
      {{notes}}

      Write them anew, as short as possible. Keep every fact, number, name and source that matters
      for the task. Merge what is said twice.
    structure: Compact notes, one fact a line, sources kept.
    output: answer
    gates:
      - { when: the output keeps every fact that matters for the task and adds none, then: ok, to: END }
      - { when: the output drops a fact that matters or adds one, repair: 1, to: compress }
      - { when: otherwise, then: ok, to: END }
