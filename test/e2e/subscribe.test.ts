/** `resources/subscribe` and `resources/unsubscribe` of the 2025 era: accepted requests, and how subscriptions count. */
import { appendFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failure, refusedAs } from './answers.ts';
import { type Folder, temporaryFolder } from './folders.ts';
import { type Connected, connect, TRANSPORTS } from './harness.ts';
import { collectNotices, type Notices } from './notices.ts';

describe.each(TRANSPORTS)('subscribing over %s', (transport) => {
  let folder: Folder;
  let server: Connected;
  let notices: Notices;
  beforeEach(async () => {
    folder = await temporaryFolder({ 'a.txt': '', 'b.txt': '' });
    server = await connect(transport, 'legacy', [folder.path]);
    notices = await collectNotices(server);
  });
  afterEach(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  const append = (name: string): Promise<void> => appendFile(folder.at(name), '.');
  const subscribe = (uri: string): Promise<unknown> => server.request('resources/subscribe', { uri });
  const unsubscribe = (uri: string): Promise<unknown> => server.request('resources/unsubscribe', { uri });

  it('answers with an empty result [RES-4]', async () => {
    expect(await subscribe('file:///a.txt')).toEqual({});
    expect(await unsubscribe('file:///a.txt')).toEqual({});
  });

  it.each([
    ['file:///missing.txt', 'not-found'],
    ['file:///a.txt/', 'not-found'],
    ['file:///%2e%2e/a.txt', 'invalid'],
    ['other:x', 'not-found'],
  ])('refuses %s as %s [RES-4, RES-6]', async (uri, reason) => {
    expect(await failure(subscribe(uri))).toMatchObject(refusedAs('legacy', uri, reason));
  });

  it('accepts a repeated subscription: one unsubscribe ends it, and each change is reported once [RES-4]', async () => {
    await Promise.all([subscribe('file:///a.txt'), subscribe('file:///a.txt')]);
    await subscribe('file:///a.txt');
    await subscribe('file:///b.txt');
    await append('a.txt');
    await notices.told('file:///a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt');
    expect(notices.count('file:///a.txt')).toBe(1);
    await unsubscribe('file:///a.txt');
    await append('a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt', 2);
    expect(notices.count('file:///a.txt')).toBe(1);
  });

  it('leaves no subscription if an unsubscribe is sent right after it [RES-4]', async () => {
    await Promise.all([subscribe('file:///a.txt'), unsubscribe('file:///a.txt'), subscribe('file:///b.txt')]);
    await append('a.txt');
    await append('b.txt');
    await notices.told('file:///b.txt');
    expect(notices.count('file:///a.txt')).toBe(0);
  });

  it('can subscribe again after unsubscribing, and after a refusal [RES-4]', async () => {
    await failure(subscribe('file:///later.txt'));
    await folder.write('later.txt', '');
    await subscribe('file:///later.txt');
    await subscribe('file:///a.txt');
    await unsubscribe('file:///a.txt');
    await subscribe('file:///a.txt');
    await append('later.txt');
    await append('a.txt');
    await notices.told('file:///later.txt');
    await notices.told('file:///a.txt');
  });

  it('accepts an unsubscribe without a subscription [RES-4]', async () => {
    expect(await unsubscribe('file:///a.txt')).toEqual({});
    expect(await unsubscribe('file:///missing.txt')).toEqual({});
    await subscribe('file:///a.txt');
    await append('a.txt');
    await notices.told('file:///a.txt');
  });

  it('refuses a request without a URI [RES-6]', async () => {
    expect((await failure(server.request('resources/subscribe'))).code).toBe(-32602);
    expect((await failure(server.request('resources/unsubscribe'))).code).toBe(-32602);
  });
});
