import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { detached } from '../../core/invocation.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { createDecisions } from './decisions.ts';
import { guardedAsking } from './results.ts';
import { rulesPolicy } from './rules/index.ts';

const decisions = createDecisions(
  rulesPolicy({ rules: [{ effect: 'deny', uris: ['memory:///private/**'] }], default: 'allow' }),
);

it('a question of a mounted server reaches the client with all that belongs to it, but not with forbidden resources', async () => {
  const asked: unknown[][] = [];
  const ask = async (...all: unknown[]): Promise<unknown> => asked.push(all);
  const invocation = detached(createContext());
  const client = { ...invocation.client, elicitation: true, ask };
  const { signal } = new AbortController();
  const request = (uri: string): InputRequest => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'resource_link', uri, name: 'x' } }], maxTokens: 7 },
  });
  const guarded = guardedAsking({ mount: 'm', foreign: true }, { ...invocation, client }, decisions).client?.ask;
  for (const reports of [true, false, undefined]) await guarded?.(request('memory:///a.txt'), signal, reports);
  expect(asked).toEqual([true, false, undefined].map((reports) => [request('memory:///a.txt'), signal, reports]));
  await guarded?.(request('memory:///private/c.txt'), signal, true);
  expect(asked.at(-1)).toMatchObject([
    { params: { messages: [{ content: { type: 'text', text: expect.stringContaining('may not be read here') } }] } },
    signal,
    true,
  ]);
});
