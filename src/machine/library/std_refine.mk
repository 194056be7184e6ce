# Draft, hold the draft against criteria, and revise it a few times before giving up openly.
mklang: "0.2"
machine: std_refine
entry: draft
budget: 6
result: answer
context:
  task: "(no task given)"
  criteria: "clear, correct, and complete"
states:
  draft:
    prompt: |
      Write the best answer you can to this task:

      {{task}}

      It will be held against these criteria: {{criteria}}
    structure: The answer alone, ready to be handed over.
    output: answer
    gates:
      - { when: "the output meets every criterion that the context names", then: ok, to: END }
      - { when: "the output falls short of a criterion, in a way that a revision can mend", repair: 2, to: draft }
      - { when: otherwise, escalate: true, to: flag_unresolved }
  flag_unresolved:
    prompt: |
      This answer was revised and still does not meet its criteria.

      Task:
      {{task}}

      Criteria:
      {{criteria}}

      Answer:
      {{answer}}
    structure: >-
      The answer as it stands, then a line that starts with "Unresolved:" and names each criterion
      that is not met and why.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
