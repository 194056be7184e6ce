# The same work for each item, then one result out of all of them.
mklang: "0.2"
machine: std_map_reduce
entry: map
budget: 20
result: answer
context:
  task: "(no task given)"
  items:
    - "(first item)"
    - "(second item)"
  item_task: "Say what this item contributes to the task."
  reduce_task: "Combine the results into one answer to the task."
states:
  map:
    tier: fast
    over: "{{items}}"
    prompt: |
      Overall task:
      {{task}}

      Your part, for one item only:
      {{item_task}}

      Item:
      {{item}}
    structure: The result for this item alone, as short as it can be without losing facts.
    output: results
    gates:
      - { when: otherwise, then: ok, to: reduce }
  reduce:
    tier: reasoning
    prompt: |
      Overall task:
      {{task}}

      Your part:
      {{reduce_task}}

      Results, one for each item:
      {{results}}
    structure: One answer that rests on all results and on nothing else.
    output: answer
    gates:
      - { when: the output covers every result, then: ok, to: END }
      - { when: a result was dropped without a reason, repair: 1, to: reduce }
      - { when: otherwise, then: ok, to: END }
