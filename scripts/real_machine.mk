# A leave request: a model drafts a note, a person decides, the model writes the reply.
mklang: "0.4"
machine: leave_request
entry: draft
budget: 6
result: letter
context:
  request: "Ann asks for three days off from Monday, to move house."
states:
  draft:
    prompt: |
      Summarise this request in one short sentence:
      {{request}}
    structure: One short sentence.
    output: note
    gates:
      - { when: otherwise, escalate: true, to: answer, ask: "Grant this leave?", reply_to: decision }
  answer:
    prompt: |
      A request: {{note}}
      The decision: {{decision}}
      Write one friendly sentence that tells the employee the decision.
    structure: One friendly sentence.
    output: letter
    gates:
      - { when: the text is empty, repair: 1, to: answer }
      - { when: otherwise, then: ok, to: END }
