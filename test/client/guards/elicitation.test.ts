/** A server that wants something of the user, in both eras: what may not be asked is declined without asking. */
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ElicitationHandler,
  type ElicitationOptions,
  type ElicitationReview,
  guardElicitation,
} from '../../../src/client/guards/index.ts';
import { type Connected, ERAS } from '../../e2e/harness.ts';
import { askedBy, connectHostile, recorder } from './hostile.ts';

const form = (properties: Record<string, unknown>, message = 'Please') => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties } },
});
const address = (url: string) => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Please', url, elicitationId: '1' },
});

/** Asks one thing, and gives what the server got, what the user saw, and what was told. */
async function ask(
  client: Client,
  request: { readonly method: string; readonly params: Record<string, unknown> },
  answer: ElicitResult | undefined,
  options: ElicitationOptions = {},
): Promise<{ readonly got: unknown; readonly shown: readonly ElicitationReview[]; readonly told: readonly string[] }> {
  const shown: ElicitationReview[] = [];
  const { onEvent, told } = recorder();
  const handler: ElicitationHandler = (review) => {
    shown.push(review);
    return answer ?? { action: 'cancel' };
  };
  const guarded = guardElicitation(answer === undefined ? undefined : handler, { onEvent, ...options });
  client.setRequestHandler('elicitation/create', guarded);
  const { a } = await askedBy(client, { a: request });
  return { got: a, shown, told: told() };
}

const accept = (content?: Record<string, string | number | boolean | string[]>): ElicitResult => ({
  action: 'accept',
  ...(content !== undefined && { content }),
});

describe.each(ERAS)('elicitation in the %s era', (era) => {
  let connected: Connected;
  beforeAll(async () => {
    connected = await connectHostile(era, { capabilities: { elicitation: { form: {}, url: {} } } });
  });
  afterAll(() => connected.close());

  it('is declined where nobody can be asked', async () => {
    const { got, told } = await ask(connected.client, form({ name: { type: 'string' } }), undefined);
    expect(got).toEqual({ action: 'decline' });
    expect(told).toEqual(['refused no-consent']);
  });

  it('shows a form without escapes, and sends what was asked for and nothing else', async () => {
    const fields = {
      name: { type: 'string', title: '\u001b[2JName\u202e', pattern: '(a+)+$' },
      age: { type: 'integer', minimum: 0 },
    };
    const { got, shown } = await ask(
      connected.client,
      form(fields, '\u001b]0;x\u0007Who?'),
      accept({ name: 'Ada', age: 36, more: 'private' }),
    );
    expect(shown[0]).toMatchObject({
      mode: 'form',
      message: 'Who?',
      fields: [{ name: 'name', title: 'Name' }, { name: 'age' }],
    });
    expect(JSON.stringify(shown)).not.toContain('(a+)+');
    expect(got).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } });
  });

  it.each([
    ['a password', { password: { type: 'string' } }],
    ['a key by its title', { k: { type: 'string', title: 'Your API key' } }],
    ['a card', { cardNumber: { type: 'string' } }],
  ])('declines a form that asks for %s', async (_what, fields) => {
    const { got, shown, told } = await ask(connected.client, form(fields), accept({}));
    expect(got).toEqual({ action: 'decline' });
    expect(shown).toEqual([]);
    expect(told).toEqual(['refused sensitive']);
  });

  it('sends no answer that does not fit the form', async () => {
    const fields = { colour: { type: 'string', enum: ['red', 'green'] } };
    const { got, told } = await ask(connected.client, form(fields), accept({ colour: 'blue' }));
    expect(got).toEqual({ action: 'cancel' });
    expect(told).toEqual(['refused answer-does-not-fit']);
  });

  it.each([
    ['javascript:alert(1)', 'url-scheme'],
    ['file:///etc/passwd', 'url-scheme'],
    ['vscode://extension/install', 'url-scheme'],
    ['http://bank.example/', 'url-scheme'],
    ['https://bank.example@evil.example/', 'url-credentials'],
    ['https://localhost:9000/admin', 'url-loopback'],
    ['https://bank.example\\@evil.example/', 'url-malformed'],
  ])('does not show %s', async (url, reason) => {
    const { got, shown, told } = await ask(connected.client, address(url), accept());
    // The SDK itself may refuse what is no URL.
    if (told.length > 0) {
      expect(got).toEqual({ action: 'decline' });
      expect(told).toEqual([`refused ${reason}`]);
    } else {
      expect(got).toMatchObject({ error: { code: -32602 } });
    }
    expect(shown).toEqual([]);
  });

  it('shows an address whole, with its host and what is odd about it, and sends no more than consent', async () => {
    const { got, shown } = await ask(
      connected.client,
      address('https://xn--bnk-7na.example:8443/a?b=c'),
      accept({ leaked: 'x' }),
    );
    expect(shown).toMatchObject([
      {
        url: 'https://xn--bnk-7na.example:8443/a?b=c',
        host: 'xn--bnk-7na.example:8443',
        warnings: ['punycode', 'port', 'unknown-host'],
      },
    ]);
    expect(got).toEqual({ action: 'accept' });
    const trusted = await ask(connected.client, address('https://login.bank.example/'), accept(), {
      trustedDomains: ['bank.example'],
    });
    expect(trusted.shown).toMatchObject([{ warnings: [] }]);
  });
});
