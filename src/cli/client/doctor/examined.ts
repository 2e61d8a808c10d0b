/** Requests data that many checks need, once: the lists of a server, page by page, and a sample of its resources. */

import { splitUri } from '../../../core/uri.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import { RANGE_META_KEY } from '../../../protocol/meta.ts';
import { LIST_SKILLS_METHOD, SKILLS_EXTENSION } from '../../../protocol/skills.ts';
import type { Limits } from './limits.ts';
import { type Answer, ENVELOPE, type Wire } from './wire.ts';

/** The bytes of the window that is requested of a large resource. */
const WINDOW_BYTES = 1_024;

/** The lists of MCP: the method, the field of the result with the entries, the field that identifies one, and the capability. */
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

/** A list that was read. */
export interface Listed {
  readonly name: ListName;
  /** Whether the server declares the capability that the list belongs to. */
  readonly declared: boolean;
  /** The results of the list, page by page. */
  readonly pages: readonly Data[];
  /** The answer that ended the list, if it was not a result. */
  readonly failure: Answer | undefined;
  /** The entries of all pages. */
  readonly entries: readonly unknown[];
  readonly ended: 'end' | 'repeated-cursor' | 'max-pages' | 'failed';
}

/** A resource that was read. */
export interface Sampled {
  readonly uri: string;
  /** The entry of the list. */
  readonly listed: Data;
  readonly answer: Answer;
  /** The items of the answer. */
  readonly contents: readonly unknown[];
  /** Whether the server refused the resource for its size, but gives it in windows. */
  readonly inWindows: boolean;
}

/** Requests each list and the sample of resources once, and remembers the answers. */
export interface Examined {
  list(name: ListName): Promise<Listed>;
  /** Reads a sample of the listed resources, without containers. */
  reads(): Promise<readonly Sampled[]>;
}

/** Reads lists and resources of a server when a check first needs them. @param capabilities as the server declares them */
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

  /** Tells whether the server, which has refused a resource for its size, gives it in windows. */
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

/** Returns the server's declaration of skills; undefined if there is none. */
export const skillsIn = ({ extensions }: Data): unknown =>
  isData(extensions) ? extensions[SKILLS_EXTENSION] : undefined;

async function drain(wire: Wire, capabilities: Data, name: ListName, limits: Limits): Promise<Listed> {
  const { method, field, capability } = LISTS[name];
  const declared = isData(capability === undefined ? skillsIn(capabilities) : capabilities[capability]);
  const pages: Data[] = [];
  const entries: unknown[] = [];
  const cursors = new Set<unknown>();
  const listed = (ended: Listed['ended'], failure?: Answer): Listed => ({
    name,
    declared,
    pages,
    entries,
    ended,
    failure,
  });
  // A client must not request skills that are not declared.
  if (name === 'skills' && !declared) return listed('end');
  let cursor: unknown;
  while (pages.length < limits.pages) {
    const answer = await wire.ask(method, cursor === undefined ? {} : { cursor });
    if (answer.kind !== 'result') return listed('failed', answer);
    pages.push(answer.result);
    const page = answer.result[field];
    if (Array.isArray(page)) for (const entry of page) entries.push(entry);
    cursor = answer.result.nextCursor;
    if (cursor === undefined || cursor === null || cursor === '') return listed('end');
    if (cursors.has(cursor)) return listed('repeated-cursor');
    cursors.add(cursor);
  }
  return listed('max-pages');
}

/** Chooses up to `count` entries, evenly from all parts of a list. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  if (all.length <= count) return all;
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] as T);
}

/** Tells whether an entry is a container, by its capabilities or else its type or URI. */
export function isContainer({ capabilities, mimeType, uri }: Data): boolean {
  if (isData(capabilities) && typeof capabilities.list === 'boolean') return capabilities.list;
  return mimeType === 'inode/directory' || (typeof uri === 'string' && uri.endsWith('/'));
}

/** Tells why a text is no URI (RFC 3986); undefined if it is one. */
export function uriProblem(uri: string): string | undefined {
  try {
    splitUri(uri);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const raw = /[^\x21-\x7e]|["<>^`{|}]/.exec(uri)?.[0];
  return raw === undefined ? undefined : `It contains ${JSON.stringify(raw)}, which has to be percent-encoded`;
}

/** Returns each value that an earlier one equals. */
export function repeatedIn(values: readonly unknown[]): readonly unknown[] {
  const seen = new Set<unknown>();
  return values.filter((value) => seen.size === seen.add(value).size);
}

/** Names a value in a message: a text as it is, anything else as JSON. */
export const nameOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
