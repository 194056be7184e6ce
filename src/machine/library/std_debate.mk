# One argument for each persona, then a synthesis that must weigh all of them.
mklang: "0.2"
machine: std_debate
entry: argue
budget: 12
result: answer
context:
  task: "(no task given)"
  personas:
    - an advocate who looks for what could be gained
    - a critic who looks for what could go wrong
    - a practitioner who asks what it takes to carry it out
states:
  argue:
    tier: fast
    over: "{{personas}}"
    prompt: |
      You argue as {{item}}.

      Question:
      {{task}}

      Make the strongest honest case from this point of view.
    structure: A position in one sentence, then at most three arguments, strongest first.
    output: positions
    gates:
      - { when: otherwise, then: ok, to: synthesize }
  synthesize:
    tier: reasoning
    reason: true
    prompt: |
      Question:
      {{task}}

      Positions:
      {{positions}}

      Weigh the positions against each other and answer the question.
    structure: >-
      The answer, then for each position one sentence on what was taken from it or why it was not
      followed.
    output: answer
    gates:
      - { when: the output deals with every position, then: ok, to: END }
      - { when: the output ignores one of the positions, repair: 1, to: synthesize }
      - { when: otherwise, then: ok, to: END }
