# Ask several times independently, then let a vote decide. No majority goes to a state that weighs the candidates.
mklang: "0.2"
machine: std_self_consistency
entry: sample_answers
budget: 12
result: answer
context:
  task: "(no task given)"
states:
  sample_answers:
    tier: fast
    reason: true
    sample: 5
    prompt: |
      Solve this task on your own (attempt {{index}} of several independent ones):

      {{task}}
    structure: The final answer alone, as short as the task allows.
    output: candidates
    gates:
      - { when: otherwise, then: ok, to: vote }
  vote:
    tier: reasoning
    prompt: |
      The same task was solved several times independently.

      Task:
      {{task}}

      Answers:
      {{candidates}}

      Group the answers that mean the same, and name the group that most of them fall into.
    structure: >-
      The answer of the largest group in its clearest wording. If no group holds more than half of
      the answers, the words "no majority" and the groups with their sizes.
    output: answer
    gates:
      - { when: no answer was given by more than half of the attempts, escalate: true, to: low_confidence }
      - { when: otherwise, then: ok, to: END }
  low_confidence:
    tier: reasoning
    prompt: |
      Independent attempts at this task disagree.

      Task:
      {{task}}

      Answers:
      {{candidates}}

      Judge each answer on its merits, and settle on the one that holds up best.
    structure: >-
      The answer that holds up best, and one sentence that says how certain it is and what the
      others claimed.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
