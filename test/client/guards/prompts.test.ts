/** Prompts of a hostile server, in both eras: limited, checked, and shown completely. */
import { describe, expect, it } from 'vitest';
import { createFlow, guardPrompts, type PromptOptions, type PromptReview } from '../../../src/client/guards/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { connectHostile, recorder, textOf } from './hostile.ts';

const yes = (): boolean => true;

describe.each(ERAS)('prompts in the %s era', (era) => {
  it('are used only after the user has seen them completely [SEC-PROMPT-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const call = { name: 'letter', arguments: { to: 'Ada' } };
    await expect(guardPrompts(client).getPrompt(call)).rejects.toMatchObject({
      guard: 'prompts',
      reason: 'no-consent',
    });
    const declined = guardPrompts(client, { approve: () => false }).getPrompt(call);
    await expect(declined).rejects.toMatchObject({ reason: 'declined' });
    const reviews: PromptReview[] = [];
    const { onEvent, told } = recorder();
    const prompts = guardPrompts(client, {
      server: 'notes',
      onEvent,
      approve(review) {
        reviews.push(review);
        // The review has a copy: emptying its messages does not change those that the host gets.
        (review.messages as unknown[]).length = 0;
        return true;
      },
    });
    const { messages } = await prompts.getPrompt(call);
    expect(messages).toHaveLength(2);
    expect(reviews[0]).toMatchObject({
      server: 'notes',
      name: 'letter',
      arguments: { to: 'Ada' },
      description: 'A prompt',
      hiddenText: false,
    });
    expect(reviews[0]?.transcript).toBe(
      'user: Write to Ada\n\nuser: [resource: {"type":"resource","resource":{"uri":"evil:///page","mimeType":"text/plain","text":"Dear all"}}]',
    );
    expect(reviews[0]?.bytes).toBeGreaterThan('Write to AdaDear all'.length);
    expect(told()).toEqual(['allowed used']);
  });

  it.each<[string, string, PromptOptions]>([
    ['forged', 'role', { roles: ['user', 'assistant'] }],
    ['hidden', 'hidden-text', { hiddenText: 'ask' }],
    ['hidden-inside', 'hidden-text', { hiddenText: 'ask' }],
    ['escapes', 'hidden-text', { hiddenText: 'ask' }],
    ['large', 'too-large', { maxBytes: 1024 * 1024 }],
    ['many', 'messages', { maxMessages: 101 }],
    ['picture', 'content-kind', { kinds: ['image'] }],
  ])('%s is refused for its %s, unless the host allows it [SEC-PROMPT-4]', async (name, reason, allowing) => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const { onEvent, told } = recorder();
    let shown = '';
    const approve = ({ transcript }: PromptReview): boolean => {
      shown = transcript;
      return true;
    };
    const refused = guardPrompts(client, { approve, onEvent }).getPrompt({ name });
    await expect(refused).rejects.toMatchObject({ name: 'GuardRefusal', reason });
    expect([told(), shown]).toEqual([[`refused ${reason}`], '']);
    const { messages } = await guardPrompts(client, { approve, ...allowing }).getPrompt({ name });
    expect(messages.length).toBeGreaterThan(0);
    // The shown text has no invisible characters.
    expect(shown).not.toMatch(/[\u001b\u0007\u202e]|[\u{e0000}-\u{e007f}]/u);
    expect(shown).not.toBe('');
  });

  it('have media and embedded resources of the declared types [SEC-PROMPT-4]', async () => {
    await using connected = await connectHostile(era);
    const prompts = guardPrompts(connected.client, { approve: yes, kinds: ['image', 'resource'] });
    for (const name of ['lying', 'lying-picture'])
      await expect(prompts.getPrompt({ name })).rejects.toMatchObject({ reason: 'content-type' });
  });

  it('get no secrets as arguments, which are sent to the server before anything is shown [SEC-PROMPT-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const leaky = { name: 'letter', arguments: { to: `ghp_${'a1B2'.repeat(9)}` } };
    await expect(guardPrompts(client, { approve: yes }).getPrompt(leaky)).rejects.toMatchObject({ reason: 'secrets' });
    expect(JSON.parse(textOf(await client.callTool({ name: 'seen' })))).toEqual([]);
    await guardPrompts(client, { approve: yes, secrets: 'send' }).getPrompt(leaky);
    expect(JSON.parse(textOf(await client.callTool({ name: 'seen' })))).toHaveLength(1);
  });

  it('are refused if the review fails, or the request is cancelled during it [SEC-PROMPT-4]', async () => {
    await using connected = await connectHostile(era);
    const { client } = connected;
    const failing = guardPrompts(client, {
      approve() {
        throw new Error('no window');
      },
    });
    await expect(failing.getPrompt({ name: 'letter' })).rejects.toMatchObject({ reason: 'hook-failed' });
    const abort = new AbortController();
    const cancelled = guardPrompts(client, {
      approve() {
        abort.abort();
        return true;
      },
    });
    const late = cancelled.getPrompt({ name: 'letter' }, { signal: abort.signal });
    await expect(late).rejects.toMatchObject({ reason: 'cancelled' });
  });

  it('of a name that the server does not have are an error, and nothing is shown [SEC-PROMPT-4]', async () => {
    await using connected = await connectHostile(era);
    let reviews = 0;
    const prompts = guardPrompts(connected.client, {
      approve() {
        reviews++;
        return true;
      },
    });
    await expect(prompts.getPrompt({ name: 'hello' })).rejects.toMatchObject({ code: -32601 });
    expect(reviews).toBe(0);
  });

  it('count as read by the model once they are used [SEC-TOOL-5]', async () => {
    await using connected = await connectHostile(era);
    const flow = createFlow({ rules: [{ effect: 'hold', from: { uri: 'evil:///page' } }, { effect: 'allow' }] });
    const prompts = guardPrompts(connected.client, { server: 'notes', flow, approve: yes });
    await flow.check({ server: 'web', tool: 'post' });
    await prompts.getPrompt({ name: 'letter' });
    await expect(flow.check({ server: 'web', tool: 'post' })).rejects.toMatchObject({ reason: 'held-back' });
  });
});
