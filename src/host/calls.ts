/**
 * Everything heavy behind one edge: loaded with the first call, never before the first answer of a server.
 *
 * @module
 */
export { checkTarget } from "./check.ts";
export { reportConfiguration } from "./config/report.ts";
export { createModels } from "./create_models.ts";
export { emitRefusal, emitRun } from "./emit.ts";
export { MachineCache } from "./machine_cache.ts";
export { parseJsonc } from "./jsonc.ts";
export { describeMachine, listMachines } from "./machines.ts";
export { commission } from "./runs/commission.ts";
export { recoverRuns } from "./runs/look.ts";
export { resume } from "./runs/resume_call.ts";
export { RunSupervisor } from "./runs/run_supervisor.ts";
export { readScript } from "./script_file.ts";
export { createScriptedModels } from "./scripted_models.ts";
export { openRegistries } from "./registry/registries.ts";
export { hostTools } from "./tools/host_tools.ts";
