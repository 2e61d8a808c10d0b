/** Declares the server's capabilities to a client: only those that the client's principal can use (SEC-CAP-1). */
import type { Principal } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import type { Era } from '../../protocol/era.ts';
import { DIRECTORY_EXTENSION, RESOURCE_HIERARCHY_EXTENSION, SEP_2093_EXTENSION } from '../../protocol/meta.ts';
import { LIST_SKILLS_METHOD, SKILLS_EXTENSION } from '../../protocol/skills.ts';
import { TASKS_EXTENSION } from '../../protocol/tasks.ts';
import { offersTasks, offersTo } from './methods.ts';

interface Changing {
  readonly listChanged?: true;
}

/** The protocol's `ServerCapabilities`. */
export interface Capabilities {
  readonly resources?: Changing & { readonly subscribe?: true };
  readonly tools?: Changing;
  readonly logging?: object;
  readonly prompts?: Changing;
  readonly completions?: object;
  readonly tasks?: object;
  readonly extensions: Readonly<Record<string, object>>;
}

const TASKS_OF_2025 = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** @param tasks the era whose tasks the client's revision has; undefined if it has no tasks */
export function capabilitiesOf(engine: Engine, principal: Principal, tasks: Era | undefined): Capabilities {
  const { provider, tools, prompts, skills, access } = engine;
  const { watch, watchesResources } = provider.features;
  const offered = offersTo(engine, principal);
  const hasResources = offered('resources/list');
  const subscribe = watchesResources !== false && access?.could(principal, { operation: 'subscribe' }) !== false;
  return {
    ...(hasResources && { resources: watch ? { ...(subscribe && { subscribe: true }), listChanged: true } : {} }),
    ...(offered('tools/list') && { tools: tools.watchable ? { listChanged: true } : {} }),
    ...(offered('logging/setLevel') && { logging: {} }),
    ...(offered('prompts/list') && { prompts: prompts.watchable ? { listChanged: true } : {} }),
    ...(offered('completion/complete') && { completions: {} }),
    ...(tasks === 'legacy' && offersTasks(engine, principal, tasks) && { tasks: TASKS_OF_2025 }),
    extensions: {
      ...(hasResources && { [SEP_2093_EXTENSION]: {}, [RESOURCE_HIERARCHY_EXTENSION]: {}, [DIRECTORY_EXTENSION]: {} }),
      ...(offered(LIST_SKILLS_METHOD) && { [SKILLS_EXTENSION]: skills.directories ? { directoryRead: true } : {} }),
      ...(tasks === 'modern' && offersTasks(engine, principal, tasks) && { [TASKS_EXTENSION]: {} }),
    },
  };
}

/** The server's capabilities, identity and instructions, for the answers to `initialize` (2025) and `server/discover` (2026-07-28). */
export function introductionOf(engine: Engine, principal: Principal, tasks: Era | undefined) {
  const { instructions: _own, ...serverInfo } = engine.identity;
  const instructions = engine.instructionsFor(principal);
  return {
    capabilities: capabilitiesOf(engine, principal, tasks),
    serverInfo,
    // Empty instructions are left out.
    ...(instructions !== undefined && instructions !== '' && { instructions }),
  };
}
