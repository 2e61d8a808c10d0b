/** A server that asks the user something, in both eras: forbidden questions are declined without being shown. */
import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ElicitationHandler,
  type ElicitationOptions,
  type ElicitationReview,
  guardElicitation,
} from '../../../src/client/guards/index.ts';
import { SECRET_WORDS } from '../../../src/client/guards/secret-words.ts';
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

/** Asks one question. Gives the server's answer, the questions that the user saw, and the events. */
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

  it('is declined if no user can be asked', async () => {
    const { got, told } = await ask(connected.client, form({ name: { type: 'string' } }), undefined);
    expect(got).toEqual({ action: 'decline' });
    expect(told).toEqual(['refused no-consent']);
  });

  it('shows a form without control characters, and sends only the requested fields', async () => {
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
  ])('declines a form with %s', async (_what, fields) => {
    const { got, shown, told } = await ask(connected.client, form(fields), accept({}));
    expect(got).toEqual({ action: 'decline' });
    expect(shown).toEqual([]);
    expect(told).toEqual(['refused sensitive']);
  });

  it.each([
    ['of another alphabet', 'P\u0430ssw\u043erd'],
    ['with nothing of Latin', '\u0440\u0430\u0455\u0455\u051d\u043er\u0501'],
    ['of full width', '\uff30\uff41\uff53\uff53\uff57\uff4f\uff52\uff44'],
    ['of mathematics', '\u{1d429}\u{1d41a}\u{1d42c}\u{1d42c}\u{1d430}\u{1d428}\u{1d42b}\u{1d41d}'],
    ['in squares', '\u{1f17f}\u{1f170}\u{1f182}\u{1f182}\u{1f186}\u{1f17e}\u{1f181}\u{1f173}'],
    ['with zero width between them', 'pass\u200bw\u2060or\ufe0fd'],
    ['with joiners between them', 'pa\u200dssw\u034food'.replace('ood', 'ord')],
    ['turned around', 'pass\u202eword'],
    ['with accents', 'p\u00e1ssw\u014drd'],
    ['with signs', 'P@$$w0rd'],
    ['apart', 'p a s s w o r d'],
    ['with points', 'P.I.N.'],
  ])('declines a form that asks for a password in letters %s', async (_what, word) => {
    for (const fields of [
      { field: { type: 'string', title: word } },
      { field: { type: 'string', description: `Please give your ${word}, now` } },
    ]) {
      const { got, shown, told } = await ask(connected.client, form(fields), accept({}));
      expect({ got, shown, told }).toEqual({ got: { action: 'decline' }, shown: [], told: ['refused sensitive'] });
    }
  });

  it.each(Object.entries(SECRET_WORDS))(
    'declines a form that asks for a secret in the words of %s',
    async (_, words) => {
      const fields = Object.fromEntries(words.map((word, at) => [`f${at}`, word.replace(/\*$/, '')]));
      const { client } = connected;
      for (const word of Object.values(fields)) {
        const { told } = await ask(
          client,
          form({ a: { type: 'string', title: `${word.toUpperCase()}:` } }),
          accept({}),
        );
        expect(told, word).toEqual(['refused sensitive']);
      }
    },
  );

  it('declines a form whose message asks for a secret, and one whose format or name does', async () => {
    const { client } = connected;
    const plain = { answer: { type: 'string' } };
    for (const message of [
      'Your password, please',
      'Bitte geben Sie Ihr Kennwort ein',
      '\u8bf7\u8f93\u5165\u5bc6\u7801',
    ]) {
      expect((await ask(client, form(plain, message), accept({}))).told).toEqual(['refused sensitive']);
    }
    // Without an input field the user can reveal nothing.
    const choice = { answer: { type: 'string', enum: ['yes', 'no'] } };
    expect((await ask(client, form(choice, 'Reset the password?'), accept({ answer: 'no' }))).got).toMatchObject({
      action: 'accept',
    });
    for (const name of ['userPwd', 'mot_de_passe', 'contrase\u00f1a', '\u5bc6\u7801', 'p\u0430ssword']) {
      expect((await ask(client, form({ [name]: { type: 'string' } }), accept({}))).told).toEqual(['refused sensitive']);
    }
    const allowed = await ask(client, form(plain, 'Your password'), accept({ answer: 'x' }), {
      allowSensitiveFields: true,
    });
    expect(allowed.got).toMatchObject({ action: 'accept' });
  });

  it.each([
    'Secretary',
    'Max tokens',
    'Pinned items',
    'The slope of the hill',
    'Compass',
    'Passenger',
    'Opinion',
    'Keyboard layout',
    'SanDisk size',
    'Postleitzahl',
    'Kod pocztowy',
    '\u041a\u043e\u0434\u0438\u0440\u043e\u0432\u043a\u0430',
  ])('shows a form that asks for "%s"', async (title) => {
    const { shown } = await ask(connected.client, form({ field: { type: 'string', title } }), accept({ field: 'x' }));
    expect(shown).toHaveLength(1);
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
    ...[
      'localhost.',
      'LOCALHOST..',
      'localhost\u3002',
      'app.localhost',
      '127.0.0.1.',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127\u30020\u30020\u30021',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
    ].map((host) => [`https://${host}/`, 'url-loopback']),
    ...[
      '0.0.0.0',
      '0',
      '[::]',
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '100.64.0.1',
      '169.254.169.254',
      '0xa9fea9fe',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::a9fe:a9fe]',
      '[2002:7f00:1::]',
      '[fe80::1]',
      '[fd00:ec2::254]',
      'metadata.google.internal',
      'metadata',
      'printer.local.',
      'router.lan',
      'wiki',
      '255.255.255.255',
    ].map((host) => [`https://${host}/`, 'url-private']),
  ])('does not show %s', async (url, reason) => {
    const { got, shown, told } = await ask(connected.client, address(url), accept());
    // The SDK itself may refuse an invalid URL.
    if (told.length > 0) {
      expect(got).toEqual({ action: 'decline' });
      expect(told).toEqual([`refused ${reason}`]);
    } else {
      expect(got).toMatchObject({ error: { code: -32602 } });
    }
    expect(shown).toEqual([]);
  });

  it('shows an address in a private network if the host trusts its name', async () => {
    const options = { trustedDomains: ['corp.internal', '10.0.0.1'] };
    for (const host of ['wiki.corp.internal', 'corp.internal.', '10.0.0.1']) {
      expect((await ask(connected.client, address(`https://${host}/`), accept(), options)).got).toEqual({
        action: 'accept',
      });
    }
    for (const host of ['corp.internal.lan', '10.0.0.2', 'localhost']) {
      expect((await ask(connected.client, address(`https://${host}/`), accept(), options)).shown).toEqual([]);
    }
    const local = { allowLoopback: true };
    for (const url of ['http://localhost:3000/', 'https://[::ffff:7f00:1]/', 'http://127.0.0.1/']) {
      expect((await ask(connected.client, address(url), accept(), local)).got).toEqual({ action: 'accept' });
    }
    expect((await ask(connected.client, address('https://10.0.0.1/'), accept(), local)).shown).toEqual([]);
  });

  it('shows an address completely, with its host and its oddities, and sends only the consent', async () => {
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
