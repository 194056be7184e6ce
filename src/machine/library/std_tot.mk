# Propose several lines of thought, keep the best, and deepen it for as long as that pays.
mklang: "0.2"
machine: std_tot
entry: propose
budget: 10
result: answer
context:
  task: "(no task given)"
  best: ""
states:
  propose:
    sample: 3
    prompt: |
      Task:
      {{task}}

      The best line of thought so far (empty in the first round):
      {{best}}

      Propose the next step from angle {{index}}: 0 is the most direct way, 1 questions an
      assumption, 2 tries something unusual. Build on the best line if there is one.
    structure: One line of thought in a few sentences, with what speaks for and against it.
    output: candidates
    gates:
      - { when: otherwise, then: ok, to: select }
  select:
    tier: reasoning
    reason: true
    prompt: |
      Task:
      {{task}}

      Lines of thought:
      {{candidates}}

      Pick the one that leads furthest towards a solution, and complete it where the others help.
    structure: >-
      The chosen line of thought, complete enough to go on from, then one sentence that says whether
      it solves the task or what is still open.
    output: best
    gates:
      - { when: the chosen line of thought solves the task, then: ok, to: finalize }
      - { when: another round of proposals is likely to bring it nearer to a solution, then: ok, to: propose }
      - { when: otherwise, then: ok, to: finalize }
  finalize:
    tier: reasoning
    prompt: |
      Task:
      {{task}}

      Worked out so far:
      {{best}}

      Write the answer.
    structure: The final answer alone, without the search that led to it.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
