/** The features that an upstream declared. Until Vitrine first reaches it, Vitrine assumes all features but the extensions. */

import type { Data } from '../../connection/data.ts';
import { type ResourceExtensions, resourceExtensionsIn } from '../../connection/results.ts';
import { isData } from '../../protocol/data.ts';
import { TASKS_EXTENSION } from '../../protocol/tasks.ts';
import type { LinkFacts } from './wire/link.ts';

export interface Facts extends ResourceExtensions {
  /** Whether the upstream was reached; before that, the other fields are assumptions. */
  readonly reached: boolean;
  readonly resources: boolean;
  readonly subscribe: boolean;
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly completion: boolean;
  /** Whether it sends a notification when its list of resources changes; likewise the next two fields. */
  readonly tellsResources: boolean;
  readonly tellsTools: boolean;
  readonly tellsPrompts: boolean;
  /** Whether it sends log messages. */
  readonly logging: boolean;
}

const UNKNOWN: Facts = {
  reached: false,
  resources: true,
  subscribe: true,
  tools: true,
  prompts: true,
  completion: true,
  metadata: false,
  ranges: false,
  directories: false,
  skills: false,
  tellsResources: true,
  tellsTools: true,
  tellsPrompts: true,
  logging: true,
};

export function factsOf(link: Pick<LinkFacts, 'capabilities'> | undefined): Facts {
  if (link === undefined) return UNKNOWN;
  const { resources, tools, prompts, completions, logging } = link.capabilities;
  return {
    reached: true,
    resources: resources !== undefined,
    subscribe: resources?.subscribe === true,
    tools: tools !== undefined,
    prompts: prompts !== undefined,
    completion: completions !== undefined,
    ...resourceExtensionsIn(link.capabilities as Data),
    tellsResources: resources?.listChanged === true,
    tellsTools: tools?.listChanged === true,
    tellsPrompts: prompts?.listChanged === true,
    logging: logging !== undefined,
  };
}

/** Whether tool calls over a connection may become tasks, by the rules of its era. */
export function hasTasks({ era, capabilities }: Pick<LinkFacts, 'era' | 'capabilities'>): boolean {
  const { tasks, extensions } = capabilities as Data;
  if (era === 'modern') return isData(extensions) && isData(extensions[TASKS_EXTENSION]);
  const requests = isData(tasks) ? tasks.requests : undefined;
  return isData(requests) && isData(requests.tools) && requests.tools.call !== undefined;
}
