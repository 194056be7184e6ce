/**
 * Doubles for our tests and for users': a model that says what it is told to, answers recorded once and replayed offline, a
 * clock that moves when told, chance that repeats itself, streams in pairs.
 *
 * @module
 */
export { ManualClock, type ManualClockOptions } from "./manual_clock.ts";
export { type ManualPorts, manualPorts } from "./manual_ports.ts";
export {
  type MockCall,
  MockProvider,
  type MockProviderOptions,
  type MockReply,
  type MockReplyParts,
  mockToolCall,
} from "./mock_provider.ts";
export { pairedStreams, type PairedStreamsOptions, type StreamEnd } from "./paired_streams.ts";
export {
  type RecordedExchange,
  type RecordedOutcome,
  type Recording,
  type RecordingOptions,
  type RecordingProvider,
  recordProvider,
  replayProvider,
} from "./recorded_provider.ts";
export { SeededRandom } from "./seeded_random.ts";
