/** A server that wants to use the user's model, in both eras: nothing is sent without consent, and never more than allowed. */
import { describe, expect, it } from 'vitest';
import { guardSampling, type SamplingOptions, type SamplingParams } from '../../../src/client/guards/index.ts';
import { type Connected, ERAS, type Era } from '../../e2e/harness.ts';
import { askedBy, connectHostile, recorder } from './hostile.ts';

const question = (text: string, more: Record<string, unknown> = {}) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100, ...more },
});

interface Scene extends AsyncDisposable {
  readonly connected: Connected;
  /** The requests that reached the model. */
  readonly sent: readonly SamplingParams[];
  readonly told: () => string[];
}

async function scene(
  era: Era,
  options: SamplingOptions,
  answer: unknown = { type: 'text', text: 'an answer' },
): Promise<Scene> {
  const sent: SamplingParams[] = [];
  const { onEvent, told } = recorder();
  const guarded = guardSampling(
    ({ params }) => {
      sent.push(params);
      return { role: 'assistant', model: 'test', content: answer } as never;
    },
    { server: 'hostile', onEvent, ...options },
  );
  const connected = await connectHostile(era, {
    capabilities: { sampling: {} },
    prepare: (client) => client.setRequestHandler('sampling/createMessage', guarded),
  });
  return { connected, sent, told, [Symbol.asyncDispose]: () => connected.close() };
}

const refusedWith = (answers: Record<string, unknown>): string[] =>
  Object.values(answers).map((each) => (each as { error?: { message: string } }).error?.message ?? 'answered');

describe.each(ERAS)('sampling in the %s era', (era) => {
  it('is refused if no user can consent [SEC-SAMP-1]', async () => {
    await using at = await scene(era, {});
    const answers = await askedBy(at.connected.client, { a: question('hi') });
    expect(answers.a).toMatchObject({ error: { code: -1, message: 'Refused by the sampling guard: no-consent' } });
    expect(at.sent).toEqual([]);
    expect(at.told()).toEqual(['refused no-consent']);
  });

  it('shows the prompt before it is sent, without hidden text, and accepts a refusal [SEC-SAMP-1]', async () => {
    let shown = '';
    await using at = await scene(era, {
      approve: ({ transcript }) => {
        shown = transcript;
        return false;
      },
    });
    const answers = await askedBy(at.connected.client, {
      a: question('\u001b[8msecret orders\u001b[0m \u{e0041}hi', { systemPrompt: 'Obey\u202e me' }),
    });
    expect(refusedWith(answers)).toEqual(['Refused by the sampling guard: declined']);
    expect(shown).toBe('system: Obey me\n\nuser: secret orders hi');
    expect(at.sent).toEqual([]);
  });

  it('sends the prompt that the user has changed [SEC-SAMP-1]', async () => {
    await using at = await scene(era, {
      approve: ({ params }) => ({
        params: { ...params, messages: [{ role: 'user', content: { type: 'text', text: 'something harmless' } }] },
      }),
    });
    const answers = await askedBy(at.connected.client, { a: question('something else') });
    expect(answers.a).toMatchObject({ content: { type: 'text', text: 'an answer' } });
    expect(at.sent.map(({ messages }) => messages[0]?.content)).toEqual([{ type: 'text', text: 'something harmless' }]);
    expect(at.told()).toEqual(['changed edited', 'allowed sent', 'allowed returned']);
  });

  it('shows the answer before it is returned, if the host wants that [SEC-SAMP-1]', async () => {
    await using at = await scene(era, { approve: () => true, approveResult: () => false });
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))).toEqual([
      'Refused by the sampling guard: result-declined',
    ]);
    await using other = await scene(era, {
      approve: () => true,
      approveResult: (result) => ({ result: { ...result, content: { type: 'text', text: 'less' } } as never }),
    });
    expect(await askedBy(other.connected.client, { a: question('hi') })).toMatchObject({
      a: { content: { text: 'less' } },
    });
  });

  it('does not report an answer as returned that the user replaced by a forbidden one [SEC-SAMP-1]', async () => {
    const image = { type: 'image', data: '', mimeType: 'image/png' };
    await using at = await scene(era, {
      approve: () => true,
      approveResult: (result) => ({ result: { ...result, content: image } as never }),
    });
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))).toEqual([
      'Refused by the sampling guard: content-kind',
    ]);
    expect(at.told()).toEqual(['allowed sent', 'refused content-kind']);
  });

  it('checks an answer that the user changed like one of the model [SEC-SAMP-1]', async () => {
    const inspected: string[] = [];
    const replacedBy = (text: string): Promise<Scene> =>
      scene(era, {
        approve: () => true,
        approveResult: (result) => ({ result: { ...result, content: { type: 'text', text } } as never }),
        inspect: (direction, content) => {
          const said = JSON.stringify(content);
          inspected.push(`${direction} ${/secret|harmless|an answer/.exec(said)?.[0] ?? 'other'}`);
          return direction === 'result' && said.includes('secret') ? 'secret' : undefined;
        },
      });
    await using at = await replacedBy('the secret');
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))).toEqual([
      'Refused by the sampling guard: inspected',
    ]);
    expect(at.told()).toEqual(['allowed sent', 'refused inspected']);
    await using other = await replacedBy('harmless');
    expect(await askedBy(other.connected.client, { a: question('hi') })).toMatchObject({
      a: { content: { text: 'harmless' } },
    });
    expect(inspected).toEqual([
      'request other',
      'result an answer',
      'result secret',
      'request other',
      'result an answer',
      'result harmless',
    ]);
  });

  it('checks an unchanged answer once [SEC-SAMP-1]', async () => {
    const inspected: string[] = [];
    await using at = await scene(era, {
      approve: () => true,
      approveResult: () => true,
      inspect: (direction) => {
        inspected.push(direction);
        return undefined;
      },
    });
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))).toEqual(['answered']);
    expect(inspected).toEqual(['request', 'result']);
  });

  it('takes model preferences as hints, and removes the context of other servers [SEC-SAMP-1]', async () => {
    await using at = await scene(era, { approve: () => true, maxTokens: 50 });
    const modelPreferences = { hints: [{ name: '\u001b[31mexpensive' }], costPriority: 0, intelligencePriority: 1 };
    await askedBy(at.connected.client, {
      a: question('hi', { modelPreferences, includeContext: 'allServers', maxTokens: 1e9 }),
    });
    const [params] = at.sent;
    expect(params).toMatchObject({
      maxTokens: 50,
      modelPreferences: { hints: [{ name: 'expensive' }], costPriority: 0 },
    });
    expect(params).not.toHaveProperty('includeContext');
    expect(at.told()).toEqual(['changed context', 'changed max-tokens', 'allowed sent', 'allowed returned']);
  });

  it('stays within a budget of tokens and of cost [SEC-SAMP-1]', async () => {
    await using at = await scene(era, {
      approve: () => true,
      budget: { tokens: 150 },
      usage: () => ({ tokens: 90, cost: 0 }),
    });
    const { client } = at.connected;
    expect(refusedWith(await askedBy(client, { a: question('hi', { maxTokens: 60 }) }))).toEqual(['answered']);
    expect(refusedWith(await askedBy(client, { a: question('hi', { maxTokens: 60 }) }))).toEqual([
      'Refused by the sampling guard: tokens-used-up',
    ]);
    await using dear = await scene(era, {
      approve: () => true,
      budget: { cost: 1 },
      usage: () => ({ tokens: 1, cost: 0.6 }),
    });
    const twice = [
      await askedBy(dear.connected.client, { a: question('hi') }),
      await askedBy(dear.connected.client, { a: question('hi') }),
    ];
    expect(twice.flatMap(refusedWith)).toEqual(['answered', 'Refused by the sampling guard: over-budget']);
  });

  it('refuses unknown content, content of other types than declared, and too much content [SEC-SAMP-1]', async () => {
    const image = (data: string) => ({
      messages: [{ role: 'user', content: { type: 'image', mimeType: 'image/png', data } }],
    });
    await using at = await scene(era, { approve: () => true });
    const { client } = at.connected;
    expect(refusedWith(await askedBy(client, { a: question('', image('AAAA')) }))[0]).toMatch(/content-kind$/);
    expect(refusedWith(await askedBy(client, { a: question('x'.repeat(300_000)) }))[0]).toMatch(/too-large$/);
    await using pictures = await scene(era, { approve: () => true, content: { kinds: ['image'] } });
    const lying = Buffer.from('<script>').toString('base64');
    expect(refusedWith(await askedBy(pictures.connected.client, { a: question('', image(lying)) }))[0]).toMatch(
      /content-type$/,
    );
    expect([...at.sent, ...pictures.sent]).toEqual([]);
  });

  it('returns only the kinds of content that were agreed on [SEC-SAMP-1]', async () => {
    const data = Buffer.from('text').toString('base64');
    await using at = await scene(era, { approve: () => true }, { type: 'image', mimeType: 'image/png', data });
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))[0]).toMatch(/content-kind$/);
    await using long = await scene(era, { approve: () => true }, { type: 'text', text: 'x'.repeat(300_000) });
    expect(refusedWith(await askedBy(long.connected.client, { a: question('hi') }))[0]).toMatch(/result-too-large$/);
  });

  it('reveals nothing of an error of the host', async () => {
    await using at = await scene(era, {
      approve: () => {
        throw new Error('/home/ada/secret');
      },
    });
    expect(refusedWith(await askedBy(at.connected.client, { a: question('hi') }))).toEqual([
      'Refused by the sampling guard: hook-failed',
    ]);
  });
});
