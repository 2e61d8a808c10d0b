/** Asks a server once for what many checks look at: its lists, page by page, and a sample of its resources. */

import { splitUri } from '../../../core/uri.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import { RANGE_META_KEY } from '../../../protocol/meta.ts';
import { LIST_SKILLS_METHOD, SKILLS_EXTENSION } from '../../../protocol/skills.ts';
import type { Limits } from './limits.ts';
import { type Answer, ENVELOPE, type Wire } from './wire.ts';

/** Bytes of the window that a large resource is tried with. */
const WINDOW_BYTES = 1_024;

export const LISTS = {
  resources: { method: 'resources/list', field: 'resources', id: 'uri', capability: 'resources' },
  templates: {
    method: 'resources/templates/list',
    field: 'resourceTemplates',
    id: 'uriTemplate',
    capability: 'resources',
  },
  tools: { method: 'tools/list', field: 'tools', id: 'name', capability: 'tools' },
  prompts: { method: 'prompts/list', field: 'prompts', id: 'name', capability: 'prompts' },
  skills: { method: LIST_SKILLS_METHOD, field: 'skills', id: 'uri', capability: undefined },
} as const;

export type ListName = keyof typeof LISTS;

export const LIST_NAMES = Object.keys(LISTS) as readonly ListName[];

export interface Listed {
  readonly name: ListName;
  /** Its capability is declared. */
  readonly declared: boolean;
  /** Answers with a result, in their order. */
  readonly pages: readonly Data[];
  /** The answer that ended it, where that is none. */
  readonly failure: Answer | undefined;
  /** Entries of all pages. */
  readonly entries: readonly unknown[];
  readonly ended: 'end' | 'repeated-cursor' | 'max-pages' | 'failed';
}

/** A resource that was read. */
export interface Sampled {
  readonly uri: string;
  /** The entry of the list. */
  readonly listed: Data;
  readonly answer: Answer;
  /** Items of the answer. */
  readonly contents: readonly unknown[];
  /** It is too large for one answer, and the server gives it in windows. */
  readonly inWindows: boolean;
}

export interface Examined {
  list(name: ListName): Promise<Listed>;
  /** Listed resources, as many as the sample has; containers are left out. */
  reads(): Promise<readonly Sampled[]>;
}

export function examine(wire: Wire, capabilities: Data, limits: Limits): Examined {
  const lists = new Map<ListName, Promise<Listed>>();
  let reads: Promise<readonly Sampled[]> | undefined;

  const list = (name: ListName): Promise<Listed> => {
    const found = lists.get(name) ?? drain(wire, capabilities, name, limits);
    lists.set(name, found);
    return found;
  };

  async function sample(): Promise<readonly Sampled[]> {
    const { entries } = await list('resources');
    const readable = entries.filter(isData).filter((entry) => typeof entry.uri === 'string' && !isContainer(entry));
    const chosen = spread(readable, limits.sample);
    const sampled: Sampled[] = [];
    for (const listed of chosen) {
      const uri = String(listed.uri);
      const answer = await wire.ask('resources/read', { uri });
      const contents: unknown = answer.kind === 'result' ? answer.result.contents : [];
      const inWindows = await givesWindows(uri, answer);
      sampled.push({ uri, listed, answer, contents: Array.isArray(contents) ? contents : [], inWindows });
    }
    return sampled;
  }

  /** Whether what was refused for its size is given a window at a time. */
  async function givesWindows(uri: string, answer: Answer): Promise<boolean> {
    if (answer.kind !== 'error' || !isData(answer.error.data) || typeof answer.error.data.limit !== 'number')
      return false;
    const window = { [RANGE_META_KEY]: { offset: 0, length: WINDOW_BYTES } };
    const meta = wire.era === 'legacy' ? window : { ...ENVELOPE, ...window };
    return (await wire.ask('resources/read', { uri }, { meta })).kind === 'result';
  }

  return {
    list,
    reads() {
      reads ??= sample();
      return reads;
    },
  };
}

/** The server's declaration of skills; undefined where there is none. */
export const skillsIn = ({ extensions }: Data): unknown =>
  isData(extensions) ? extensions[SKILLS_EXTENSION] : undefined;

async function drain(wire: Wire, capabilities: Data, name: ListName, limits: Limits): Promise<Listed> {
  const { method, field, capability } = LISTS[name];
  const declared = isData(capability === undefined ? skillsIn(capabilities) : capabilities[capability]);
  const pages: Data[] = [];
  const entries: unknown[] = [];
  const cursors = new Set<unknown>();
  const made = (ended: Listed['ended'], failure?: Answer): Listed => ({
    name,
    declared,
    pages,
    entries,
    ended,
    failure,
  });
  // No client may ask for skills that are not declared.
  if (name === 'skills' && !declared) return made('end');
  let cursor: unknown;
  while (pages.length < limits.pages) {
    const answer = await wire.ask(method, cursor === undefined ? {} : { cursor });
    if (answer.kind !== 'result') return made('failed', answer);
    pages.push(answer.result);
    const page = answer.result[field];
    if (Array.isArray(page)) entries.push(...page);
    cursor = answer.result.nextCursor;
    if (cursor === undefined || cursor === null || cursor === '') return made('end');
    if (cursors.has(cursor)) return made('repeated-cursor');
    cursors.add(cursor);
  }
  return made('max-pages');
}

/** As many as are wanted, from all parts of a list. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] as T);
}

/** Whether an entry says that it has children. */
export function isContainer({ capabilities, mimeType, uri }: Data): boolean {
  if (isData(capabilities) && typeof capabilities.list === 'boolean') return capabilities.list;
  return mimeType === 'inode/directory' || String(uri).endsWith('/');
}

/** Why a text is no URI (RFC 3986); undefined for one. */
export function uriProblem(uri: string): string | undefined {
  try {
    splitUri(uri);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const raw = /[^\x21-\x7e]|["<>^`{|}]/.exec(uri)?.[0];
  return raw === undefined ? undefined : `It has ${JSON.stringify(raw)} in it, which has to be percent-encoded`;
}

/** An entry in a few words. */
export const nameOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
