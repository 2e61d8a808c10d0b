import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { abilitiesFor } from './answers.ts';
import type { Output } from './printing/output.ts';

/** Puts a form to a user who gives no answers. @returns the questions that the user sees */
async function askedBy(properties: object): Promise<readonly string[]> {
  const questions: string[] = [];
  const handlers = new Map<string, (request: object, ctx: object) => Promise<unknown>>();
  const client = { setRequestHandler: (method: string, handler: never) => handlers.set(method, handler) };
  const output = { note: () => {} } as unknown as Output;
  const { prepare } = abilitiesFor(output, { label: 'odd', roots: [] }, async (question) => {
    questions.push(question);
    return undefined;
  });
  prepare?.(client as unknown as Client);
  const params = { mode: 'form', message: 'Which?', requestedSchema: { type: 'object', properties } };
  const ctx = { mcpReq: { signal: new AbortController().signal } };
  await handlers.get('elicitation/create')?.({ method: 'elicitation/create', params }, ctx);
  return questions;
}

it('shows the default of a field without anything that a terminal acts on', async () => {
  const questions = await askedBy({ name: { type: 'string', default: 'a\u009b2J\u202e\u001b[2Jb' } });
  expect(questions).toEqual(['name (text, or nothing) ["a\\u009b2J\\u202e\\u001b[2Jb"]: ']);
});
