/**
 * Guards for hosts. They wrap the handlers of the SDK's `Client` with which a host answers questions of servers (to a user, to a
 * model, for roots), and its requests for tools and prompts. Each guard refuses unless the host agrees, and reports each decision
 * (SEC-SAMP-1, SEC-ROOT-1, SEC-TOOL-4, SEC-TOOL-5, SEC-PROMPT-4). In the 2026 era questions come in results, and the SDK answers
 * them with the same handlers.
 */

export { canonicalJson, pinOf, type ToolPin } from '../../core/fingerprint.ts';
export type { AddressWarning } from './address.ts';
export type { BudgetOptions, Use } from './budget.ts';
export { type Guard, type GuardEvent, type GuardOptions, GuardRefusal, USER_REJECTED } from './decisions.ts';
export {
  type ElicitationHandler,
  type ElicitationOptions,
  type ElicitationReview,
  guardElicitation,
} from './elicitation.ts';
export {
  createFlow,
  type Flow,
  type FlowOptions,
  type FlowReview,
  type FlowRule,
  type FlowSource,
  type FlowTarget,
} from './flow.ts';
export type { FormField } from './form.ts';
export type { PinStore } from './pins.ts';
export {
  guardPrompts,
  type PromptContentKind,
  type PromptGuard,
  type PromptOptions,
  type PromptReview,
} from './prompts.ts';
export { guardRoots, type RootsOptions, type RootsSource } from './roots.ts';
export {
  guardSampling,
  type SamplingHandler,
  type SamplingOptions,
  type SamplingParams,
  type SamplingResult,
  type SamplingReview,
} from './sampling.ts';
export type { SamplingContentLimits } from './sampling-content.ts';
export { type SecretFinding, type SecretScan, scanForSecrets } from './secrets.ts';
export type { ToolDefinition } from './tool-list.ts';
export {
  type CallReview,
  type GuardedTool,
  guardTools,
  type ToolGuard,
  type ToolOptions,
  type ToolReview,
} from './tools.ts';
