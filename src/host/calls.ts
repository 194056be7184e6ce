/**
 * Everything heavy behind one edge: loaded with the first call, never before the first answer of a server.
 *
 * @module
 */
export { checkTarget } from "./check.ts";
export { reportConfiguration } from "./config/report.ts";
export { HostCore } from "./core.ts";
export { emitRefusal, emitRun } from "./emit.ts";
export { describeMachine, listMachines } from "./machines.ts";
export { commission } from "./runs/commission.ts";
export { resume } from "./runs/resume_call.ts";
export { RunSupervisor } from "./runs/run_supervisor.ts";
