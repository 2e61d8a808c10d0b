import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { decisionsOf } from './decisions.ts';
import { listDefinitions } from './tool-list.ts';

it('a page with a huge number of tools is refused, and reported', async () => {
  const events: unknown[] = [];
  const tools = Array.from({ length: 200_000 }, (_, index) => ({ name: `tool-${index}` }));
  const client = { request: async () => ({ tools }) } as unknown as Client;
  const decisions = decisionsOf('tools', { onEvent: ({ reason }) => events.push(reason) });
  await expect(listDefinitions(client, decisions, undefined)).rejects.toMatchObject({ reason: 'too-many-tools' });
  expect(events).toEqual(['too-many-tools']);
});
