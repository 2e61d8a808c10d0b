/** Sends requests to a server or to the gateway, and gives its answers: results and errors alike, with every field. */
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { PATIENCE_MS } from '../e2e/waiting.ts';

export type Json = null | boolean | number | string | readonly Json[] | Data;
export interface Data {
  readonly [key: string]: Json;
}

/** An error as it is on the wire. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** The answer to a request. */
export type Outcome = { readonly result: Data } | { readonly error: Refusal };

const loose = z.looseObject({});

/** How long one request may take, in milliseconds: everything that is mounted shares few processors with the tests. */
const REQUEST_MS = PATIENCE_MS;

/** Pages of one list, at most. */
const MAX_PAGES = 500;

/** Sends a request. @throws if there is no answer: the connection has ended, or the time has run out */
export async function ask(client: Client, method: string, params: object = {}): Promise<Outcome> {
  try {
    const request = { method, params: params as Record<string, unknown> };
    return { result: (await client.request(request, loose, { timeout: REQUEST_MS })) as Data };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message, data } = error;
    return { error: { code, message, ...(data !== undefined && { data: data as Json }) } };
  }
}

/** The result of a request. @throws Error with the refusal if there is none */
export async function answer(client: Client, method: string, params: object = {}): Promise<Data> {
  const outcome = await ask(client, method, params);
  if ('result' in outcome) return outcome.result;
  throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(outcome.error)}`);
}

export const LISTS = {
  resources: { method: 'resources/list', field: 'resources', id: 'uri' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', id: 'uriTemplate' },
  tools: { method: 'tools/list', field: 'tools', id: 'name' },
  prompts: { method: 'prompts/list', field: 'prompts', id: 'name' },
} as const;

export type ListName = keyof typeof LISTS;
export const LIST_NAMES = Object.keys(LISTS) as readonly ListName[];

/** All that one list has. */
export interface Listed {
  readonly entries: readonly Data[];
  readonly pages: number;
  /** The parts that are missing, as the gateway says it. */
  readonly missing: readonly Json[];
}

/** Every page of a list; `none` where the server does not know the method. */
export async function drain(client: Client, list: ListName): Promise<Listed | 'none'> {
  const { method, field } = LISTS[list];
  const entries: Data[] = [];
  const missing: Json[] = [];
  let cursor: string | undefined;
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const outcome = await ask(client, method, cursor === undefined ? {} : { cursor });
    if ('error' in outcome) {
      if (outcome.error.code === METHOD_NOT_FOUND && pages === 1) return 'none';
      throw new Error(`${method}: ${JSON.stringify(outcome.error)}`);
    }
    const { result } = outcome;
    entries.push(...(result[field] as readonly Data[]));
    const gaps = (result._meta as Data | undefined)?.['vitrine/missing'];
    if (gaps !== undefined) missing.push(gaps);
    cursor = result.nextCursor as string | undefined;
    if (cursor === undefined) return { entries, pages, missing };
  }
  throw new Error(`${method}: the pages do not end`);
}

const METHOD_NOT_FOUND = -32_601;
