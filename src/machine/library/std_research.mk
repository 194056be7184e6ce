# Search, check whether the findings suffice, search again, and answer from the findings alone.
mklang: "0.3"
machine: std_research
entry: plan_query
budget: 14
result: answer
context:
  task: "(no task given)"
  today: ""
  notes: []
tools:
  - { name: search, description: "Searches the web, and returns titles, addresses and snippets" }
states:
  plan_query:
    tier: fast
    prompt: |
      Question:
      {{task}}

      Today's date, if known: {{today}}

      Found so far:
      {{notes}}

      Write the one search query that is most likely to bring what is still missing. Do not repeat a
      query that was tried.
    structure: One search query of at most twelve words, without quotation marks around it.
    output: query
    gates:
      - { when: otherwise, then: ok, to: search }
  search:
    tool: search
    input:
      query: "{{query}}"
      max_results: 5
    accumulate: true
    output: notes
    gates:
      - { when: otherwise, then: ok, to: check }
  check:
    tier: fast
    prompt: |
      Question:
      {{task}}

      Found so far:
      {{notes}}

      Do the findings answer the question?
    structure: >-
      One of: "sufficient", "empty" (no search found anything, or no search is available), "more"
      with what is missing. Then one sentence of reasons.
    output: verdict
    gates:
      - { when: the findings are sufficient to answer the question, then: ok, to: finalize }
      - { when: "every search came back empty, or no search is available", then: ok, to: no_search }
      - { when: more findings are needed and another search may bring them, then: ok, to: plan_query }
      - { when: otherwise, then: ok, to: finalize }
  no_search:
    prompt: |
      No search results could be had for this question:

      {{task}}
    structure: >-
      First one sentence that says that nothing could be looked up. Then what is generally known
      about the question, marked as unchecked, and how to look it up.
    output: answer
    gates:
      - { when: otherwise, then: ok, to: END }
  finalize:
    tier: reasoning
    prompt: |
      Question:
      {{task}}

      Today's date, if known: {{today}}

      Findings:
      {{notes}}

      Answer from the findings alone, and name the address behind each claim.
    structure: >-
      The answer with its sources, and a sentence on what the findings leave open. No claim that the
      findings do not carry.
    output: answer
    gates:
      - { when: every claim of the output rests on the findings, then: ok, to: END }
      - { when: the output claims something that the findings do not carry, repair: 1, to: finalize }
      - { when: otherwise, then: ok, to: END }
