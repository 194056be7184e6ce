/**
 * What `kit init` writes.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";

/** A first machine: works with a real model, and offline with `--provider scripted`. */
export const HELLO_MACHINE = `# yaml-language-server: $schema=./machine.schema.json
mklang: "0.4"
machine: hello
entry: greet
budget: 6
result: greeting

# Values that a run starts with. Set others with: kit run machines/hello.mk --set name=Ann
context:
  name: World
  review: "no"

states:
  greet:
    structure: One friendly sentence, nothing else.
    prompt: "Greet {{name}}."
    tier: fast
    output: greeting
    # The first gate that is true decides where to go.
    gates:
      - when: a person wants to see the greeting first
        hook: eq:review:yes
        escalate: true
        to: rewrite
        ask: "Is this greeting good? Say what to change."
        reply_to: human.reply
      - { when: the greeting names the person, then: ok, to: END }
      - { when: the greeting is cold or longer than a sentence, repair: 1, to: greet }
      - { when: otherwise, then: ok, to: END }

  rewrite:
    structure: One friendly sentence, nothing else.
    prompt: "Rewrite the greeting '{{greeting}}' as a person asked: {{human.reply}}"
    tier: fast
    output: greeting
    gates:
      - { when: otherwise, then: ok, to: END }
`;

/** Scenarios of the first machine: every gate is reached. */
export const HELLO_TESTS =
  `# Played offline: kit test machines/hello.mk --script machines/hello.test.yaml --coverage
scenarios:
  - name: a good greeting ends the run
    input: { name: Ann }
    llm: { produce: ["Hello, Ann!"], judge: [0] }
    expect:
      status: done
      result: "Hello, Ann!"
      trace:
        - { state: greet, policy: ok, to: END }

  - name: a cold greeting is repaired once
    llm:
      produce: { "[Repair feedback]": "Hello, dear World!", "Greet": "World." }
      judge: [1, 0]
    expect:
      status: done
      result: "Hello, dear World!"
      trace:
        - { state: greet, policy: repair, to: greet }
        - { state: greet, policy: ok, to: END }

  - name: without a verdict the last gate ends the run
    llm: { produce: ["Hm"], judge: ["none"] }
    expect:
      status: done
      trace:
        - { state: greet, gate: otherwise, judge_none: 1 }

  - name: a person is asked where review is yes
    input: { review: "yes" }
    llm: { produce: ["Hello, World!"] }
    run: { escalate_suspend: true }
    expect:
      status: suspended
      error: escalated
      at: rewrite
      ask: "Is this greeting good? Say what to change."
      reply_to: human.reply

  - name: without a person the rewrite follows at once
    input: { review: "yes" }
    llm: { produce: ["Hello, World!", "Good morning, World!"] }
    expect:
      status: done
      result: "Good morning, World!"
`;

/** A configuration to fill in. It names the variables that hold keys, never keys. */
export const CONFIGURATION = `{
  "$schema": "./kit.schema.json",
  // Which provider is used unless --provider names another. Try without any: --provider scripted
  "active": "local",
  "providers": {
    // Anything that speaks the chat completions of OpenAI: Ollama, llama.cpp, vLLM, LM Studio …
    "local": {
      "protocol": "openai_compat",
      "base_url": "http://localhost:11434/v1",
      "tiers": { "fast": "llama3.2", "balanced": "llama3.2", "reasoning": "llama3.2" }
    },
    "openai": {
      "base_url": "https://api.openai.com/v1",
      "api_key_env": "OPENAI_API_KEY",
      "tiers": { "fast": "gpt-4.1-mini", "balanced": "gpt-4.1", "reasoning": "o3" }
    },
    "google": {
      "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
      "api_key_env": "GEMINI_API_KEY",
      "tiers": {
        "fast": "gemini-2.5-flash",
        "balanced": "gemini-2.5-flash",
        "reasoning": "gemini-2.5-pro"
      }
    }
  },
  "tools": {
    "search": { "backend": "stub" },
    "fs": { "backend": "local", "workspace": ".", "write": false }
  }
}
`;

/** Where keys go. Never committed. */
export const ENVIRONMENT = `# Keys that kit.jsonc names. Keep this file out of version control.
# OPENAI_API_KEY=
# GEMINI_API_KEY=
`;

const TEXT = { type: "string", minLength: 1 };
const TIERS = ["fast", "balanced", "reasoning"];

/** The JSON Schema of `kit.jsonc`, for editors. */
export const CONFIGURATION_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Configuration of Kit",
  type: "object",
  required: ["providers"],
  properties: {
    $schema: { type: "string" },
    active: { ...TEXT, description: "The provider that is used unless a call names another" },
    providers: {
      type: "object",
      additionalProperties: {
        type: "object",
        required: ["tiers"],
        properties: {
          protocol: { enum: ["auto", "openai_compat"] },
          base_url: { ...TEXT, description: "With scheme, up to and including /v1" },
          api_key_env: { ...TEXT, description: "The variable that holds the key" },
          judge: { ...TEXT, description: "One model that decides every gate" },
          tiers: {
            type: "object",
            required: TIERS,
            properties: Object.fromEntries(TIERS.map((tier) => [tier, TEXT])),
            additionalProperties: false,
          },
          params: {
            type: "object",
            properties: Object.fromEntries(TIERS.map((tier) => [tier, { type: "object" }])),
            additionalProperties: false,
          },
        },
      },
    },
    tools: {
      type: "object",
      properties: {
        search: { type: "object", properties: { backend: { enum: ["stub", "fake", "tavily"] } } },
        kb: { type: "object", properties: { backend: { enum: ["stub", "fake"] } } },
        mail: { type: "object", properties: { backend: { enum: ["stub", "fake"] } } },
        fs: {
          type: "object",
          properties: {
            backend: { enum: ["stub", "local"] },
            workspace: TEXT,
            write: { type: "boolean" },
          },
        },
      },
    },
  },
};
