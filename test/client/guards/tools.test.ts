/** Tools of a hostile server, in both eras: pinned, checked and confirmed. */
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { type CallReview, canonicalJson, guardTools, pinOf, scanForSecrets } from '../../../src/client/guards/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { connectHostile, recorder, textOf } from './hostile.ts';

const yes = (): boolean => true;

/** Returns the calls that reached the server. */
async function seen(client: Client): Promise<unknown> {
  return JSON.parse(textOf(await client.callTool({ name: 'seen' })));
}

describe.each(ERAS)('tools in the %s era', (era) => {
  it('are called only if they are approved and confirmed [SEC-TOOL-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const call = { name: 'greet', arguments: { name: 'Ada' } };
    await expect(guardTools(client).callTool(call)).rejects.toMatchObject({ reason: 'not-approved' });
    await expect(guardTools(client, { approve: yes }).callTool(call)).rejects.toMatchObject({
      reason: 'no-confirmation',
    });
    await expect(guardTools(client, { approve: yes, confirm: () => false }).callTool(call)).rejects.toMatchObject({
      reason: 'declined',
    });
    expect(await seen(client)).toEqual([]);
    const tools = guardTools(client, { approve: yes, confirm: yes });
    expect(textOf(await tools.callTool(call))).toBe('"Hello Ada"');
  });

  it('are pinned with their unknown fields [SEC-TOOL-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const pins = new Map();
    const first = guardTools(client, { approve: yes, confirm: yes, pins });
    await client.callTool({ name: 'change' });
    await first.callTool({ name: 'greet' });
    await client.callTool({ name: 'change' });
    // The next guard uses the pins of the first one, as if the host had stored them.
    const changes: (readonly string[])[] = [];
    const later = guardTools(client, { confirm: yes, pins, approve: (review) => changes.push(review.changes) < 0 });
    await expect(later.callTool({ name: 'greet' })).rejects.toMatchObject({ reason: 'not-approved' });
    expect(changes).toEqual([['vendor/unknown']]);
  });

  it('get no secrets, wherever these are in the arguments [SEC-TOOL-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const { onEvent, events } = recorder();
    const tools = guardTools(client, { approve: yes, confirm: yes, onEvent });
    const key = `ghp_${'a1B2'.repeat(9)}`;
    const leaky = { name: 'greet', arguments: { name: 'Ada', notes: [{ 'a/b': `see ${key}` }] } };
    await expect(tools.callTool(leaky)).rejects.toMatchObject({ reason: 'secrets' });
    expect(events.at(-1)?.details).toEqual({ found: [{ path: '/notes/0/a~1b', kind: 'github-token' }] });
    expect(JSON.stringify(events)).not.toContain(key);
    expect(await seen(client)).toEqual([]);
  });

  it('are called with the arguments that the user saw or wrote [SEC-TOOL-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const reviews: CallReview[] = [];
    const given = { name: 'Ada', password: 'hunter2hunter2' };
    const tools = guardTools(client, {
      approve: yes,
      secrets: 'ask',
      confirm(review) {
        reviews.push(review);
        given.name = 'somebody else';
        return reviews.length === 1 ? { arguments: { name: 'Grace' } } : true;
      },
    });
    await tools.callTool({ name: 'greet', arguments: given });
    expect(reviews[0]).toMatchObject({
      arguments: { name: 'Ada' },
      secrets: [{ path: '/password', kind: 'named-secret' }],
    });
    given.name = 'Ada';
    await tools.callTool({ name: 'greet', arguments: given });
    expect(await seen(client)).toMatchObject([{ arguments: { name: 'Grace' } }, { arguments: { name: 'Ada' } }]);
  });

  it('are not trusted: annotations decide nothing, and tools of the same name are refused [SEC-TOOL-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    let asked = 0;
    const tools = guardTools(client, { approve: yes, confirm: () => ++asked < 0 });
    const greet = (await tools.listTools()).find(({ name }) => name === 'greet');
    expect(greet).toMatchObject({ untrustedAnnotations: { readOnlyHint: true }, status: 'new' });
    await expect(tools.callTool({ name: 'greet' })).rejects.toMatchObject({ reason: 'declined' });
    expect(asked).toBe(1);
    await expect(tools.callTool({ name: 'twin' })).rejects.toMatchObject({ reason: 'ambiguous-tool' });
    await expect(tools.callTool({ name: 'none' })).rejects.toMatchObject({ reason: 'unknown-tool' });
  });

  it('are not called if the event cannot be recorded', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const onEvent = (): void => {
      throw new Error('disk full');
    };
    const tools = guardTools(client, { approve: yes, confirm: yes, onEvent });
    await expect(tools.callTool({ name: 'greet' })).rejects.toMatchObject({ reason: 'not-recorded' });
    expect(await seen(client)).toEqual([]);
  });
});

describe('pins and secrets', () => {
  it('depend on the data, not on the order of its keys', async () => {
    const a = { name: 'x', inputSchema: { b: [1, { d: 'é', c: null }], a: 1.0 } };
    const b = JSON.parse('{"inputSchema":{"a":1e0,"b":[1,{"c":null,"d":"\\u00e9"}]},"name":"x"}');
    expect(await pinOf(a)).toEqual(await pinOf(b));
    expect((await pinOf({ ...a, extra: 1 })).hash).not.toBe((await pinOf(a)).hash);
    expect(canonicalJson({ b: 1, a: [undefined, 'x'] })).toBe('{"a":[null,"x"],"b":1}');
  });

  it.each([
    ['private-key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['aws-key', `key AKIA${'Q'.repeat(16)}`],
    ['slack-token', `xoxb-${'1'.repeat(12)}`],
    ['model-key', `sk-ant-${'a'.repeat(40)}`],
    ['json-web-token', `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.sig`],
    ['password-in-url', 'postgres://ada:s3cret@db.example/x'],
    ['assignment', 'export API_KEY="abcdefgh12345"'],
    ['authorization', 'Authorization: Bearer abcdefghijklmnop'],
  ])('find %s', (kind, text) => {
    expect(scanForSecrets(text)).toContain(kind);
  });

  it.each(['Tides of the North Sea', 'https://example.com/a:b@c', 'the password is not here', '{"a": 1}'])(
    'find nothing in %s',
    (text) => {
      expect(scanForSecrets(text)).toEqual([]);
    },
  );
});
