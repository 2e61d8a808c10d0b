/** The server looks up the address of an issuer's keys again, because they may move. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KEYS_COOLDOWN_MS } from '../../src/serving/auth/keys.ts';
import { METADATA_COOLDOWN_MS, METADATA_MAX_AGE_MS } from '../../src/serving/auth/metadata.ts';
import { listening } from '../gateway/authorization/servers.ts';
import { type Guarded, type Issuer, startGuarded, startIssuer } from './authorization-servers.ts';

let issuer: Issuer;
let guarded: Guarded;

beforeEach(async () => {
  issuer = await startIssuer();
  guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }] });
});

afterEach(async () => {
  vi.useRealTimers();
  await guarded[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** Moves the clock of this process, and nothing else. */
function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

const statusOf = async (token: string): Promise<number> =>
  (await guarded.ask('modern', token, 'resources/list')).status;

const discoveries = (): number =>
  issuer.requests.filter(({ line }) => line === 'GET /.well-known/openid-configuration').length;

it('keys that have moved are found through the metadata, which is requested no more often than allowed', async () => {
  expect(await statusOf(await issuer.token())).toBe(200);
  issuer.rotate('/keys');
  const token = await issuer.token();
  later(KEYS_COOLDOWN_MS + 1_000);
  expect(await statusOf(token)).toBe(503);
  expect(discoveries()).toBe(1);
  later(METADATA_COOLDOWN_MS);
  expect(await statusOf(token)).toBe(200);
  expect(discoveries()).toBe(2);
  expect(issuer.requests.map(({ line }) => line)).toContain('GET /keys');
  // Tokens with an unknown key do not each cause a request for the metadata.
  for (let n = 0; n < 5; n++) expect(await statusOf(await issuer.forge({}, { kid: `unknown-${n}` }))).toBe(401);
  expect(discoveries()).toBe(2);
});

it('old metadata is requested again, and stays in use while it is not available', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let away = false;
  await using server = await listening((origin) => ({ url }, response) => {
    if (url === '/jwks') response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] }));
    else if (away) response.writeHead(500).end();
    else response.end(JSON.stringify({ issuer: origin, jwks_uri: `${origin}/jwks` }));
  });
  await using other = await startGuarded({ issuers: [{ issuer: server.origin }] });
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const token = await issuer.forge({ iss: server.origin, exp }, { kid: 'k' }, privateKey);
  const asked: number[] = [];
  for (const step of ['known', 'old', 'away', 'still away', 'back']) {
    away = step.endsWith('away');
    if (step !== 'still away') later(METADATA_MAX_AGE_MS + 1_000);
    expect([step, (await other.ask('modern', token, 'resources/list')).status]).toEqual([step, 200]);
    asked.push(server.requests.filter(({ line }) => line.includes('.well-known')).length);
  }
  expect(asked).toEqual([1, 2, 3, 3, 4]);
});
