/** Rules that use every property of rules, and the callers that they are about. */
import type { Principal } from '../../../src/core/context.ts';
import type { AccessRules } from '../../../src/layers/access/index.ts';
import { hashOf, SCOPES } from '../authorization-servers.ts';

/** Gives the rules. They name the issuer of the JWTs, whose address is known once it listens. */
export const rulesFor = (issuer: string): AccessRules => ({
  rules: [
    { name: 'staff has the library', effect: 'allow', who: { groups: ['staff', 'board'] }, mounts: ['docs', 'notes'] },
    {
      name: 'guests see the guide',
      effect: 'allow',
      who: 'anyone',
      operations: ['list', 'read', 'metadata'],
      uris: ['docs+file:///', 'docs+file:///guide/**', 'docs+file:///my notes/*'],
    },
    {
      name: 'guests may wait for the guide',
      effect: 'allow',
      operations: ['subscribe'],
      uris: ['docs+file:///guide/*.md'],
    },
    {
      name: 'nobody but the board knows of drafts',
      effect: 'hide',
      who: { groups: ['staff'] },
      uris: ['docs+file:///drafts/**'],
      except: ['docs+file:///drafts/shared.md'],
    },
    {
      name: 'nothing is hidden from no one in the end',
      effect: 'hide',
      who: 'anonymous',
      uris: ['docs+file:///drafts/**'],
    },
    { name: 'no pictures for robots', effect: 'deny', who: { clients: ['robot'] }, mimeTypes: ['image/*'] },
    {
      name: 'nothing large over there',
      effect: 'deny',
      who: { groups: ['staff'] },
      minBytes: 1_000,
      operations: ['read'],
    },
    { name: 'tiny things', effect: 'allow', who: 'anonymous', maxBytes: 9, operations: ['read', 'metadata', 'list'] },
    {
      name: 'nothing old for the press',
      effect: 'deny',
      who: { groups: ['press'] },
      olderThanSeconds: 86_400 * 365,
      operations: ['read', 'subscribe'],
    },
    {
      name: 'what is new for Anna',
      effect: 'allow',
      who: { subjects: ['anna'], issuers: [issuer] },
      newerThanSeconds: 86_400,
      operations: ['list', 'metadata', 'read', 'subscribe'],
    },
    { name: 'read, not described', effect: 'allow', operations: ['read'], uris: ['notes+memory:///all.txt'] },
    { name: 'for people only', effect: 'hide', who: { clients: ['robot'] }, audience: ['user'], uris: ['notes+**'] },
    { name: 'a human reads on', effect: 'ask', who: { groups: ['staff'] }, uris: ['notes+memory:///assistant.txt'] },
    { name: 'the wiki by scope', effect: 'allow', who: { scopes: [...SCOPES] }, mounts: ['wiki'] },
    {
      name: 'the wiki is described',
      effect: 'allow',
      who: 'authenticated',
      operations: ['list', 'metadata'],
      mounts: ['wiki'],
    },
    { name: 'the wiki has no secrets', effect: 'hide', who: { groups: ['press'] }, uris: ['wiki+memory:///staff/**'] },
    { name: 'the wiki keeps what it has', effect: 'hide', who: { groups: ['press'] }, tools: ['wiki_w*'] },
    {
      name: 'some things are not said',
      effect: 'deny',
      tools: ['wiki_echo', 'roll'],
      arguments: { text: ['secret*', 'password'], count: [13, 17], loud: true },
    },
    { name: 'items by scope', effect: 'allow', who: { scopes: ['docs:read'] }, uris: ['items+item:*'] },
    {
      name: 'items are completed',
      effect: 'allow',
      who: { authenticated: true },
      uris: ['items+item:**'],
      operations: ['complete', 'list'],
    },
    { name: 'item 8 is no item', effect: 'hide', uris: ['items+item:8'] },
    {
      name: 'paths are completed',
      effect: 'allow',
      who: { groups: ['staff'] },
      operations: ['complete'],
      uris: ['docs+**'],
    },
    { name: 'how it is', effect: 'allow', who: { groups: ['board'] }, mounts: ['vitrine'] },
    { name: 'one may roll', effect: 'allow', tools: ['roll'] },
    { name: 'sums need a yes', effect: 'ask', who: 'authenticated', tools: ['sum'], arguments: { count: [1, 2] } },
    { name: 'staff wipes', effect: 'allow', who: { groups: ['staff'], authenticated: true }, tools: ['wipe'] },
    { name: 'no summaries', effect: 'hide', who: { clients: ['robot'] }, tools: ['summarize', 'search'] },
    { name: 'nothing embedded', effect: 'deny', who: 'anonymous', tools: ['read_embedded'] },
    { name: 'one is greeted', effect: 'allow', prompts: ['greet'] },
    { name: 'hush', effect: 'hide', who: 'anonymous', prompts: ['hush'] },
    { name: 'staff hushes', effect: 'ask', who: { groups: ['staff'] }, prompts: ['hush'] },
    {
      name: 'the wiki is asked',
      effect: 'allow',
      who: { scopes: ['docs:read'] },
      operations: ['prompt'],
      mounts: ['wiki'],
      prompts: ['*_ask'],
    },
  ],
});

/** A caller, and how it authenticates: not at all, by a configured token, or by the claims of a JWT. */
export interface Person {
  readonly name: string;
  readonly token?: { readonly groups?: readonly string[]; readonly scopes?: readonly string[] };
  readonly claims?: Readonly<Record<string, unknown>>;
}

export const PEOPLE: readonly Person[] = [
  { name: 'nobody' },
  { name: 'guest', token: {} },
  { name: 'staff', token: { groups: ['staff'] } },
  { name: 'board', token: { groups: ['board'], scopes: [...SCOPES] } },
  { name: 'anna', claims: { sub: 'anna', client_id: 'browser', groups: ['press'], scope: 'docs:read' } },
  { name: 'robot', claims: { sub: 'robot', client_id: 'robot', groups: ['staff', 'bots'], scope: SCOPES.join(' ') } },
];

const secretOf = (name: string): string => `${name}-token-0123456789abcdef`;

export const STATIC_TOKENS = PEOPLE.flatMap(({ name, token }) =>
  token === undefined ? [] : [{ name, hash: hashOf(secretOf(name)), ...token }],
);

/** The token as the caller sends it; undefined for an anonymous caller. */
export async function tokenOf(
  { name, token, claims }: Person,
  forge: (claims: Readonly<Record<string, unknown>>) => Promise<string>,
): Promise<string | undefined> {
  if (claims !== undefined) return forge(claims);
  return token === undefined ? undefined : secretOf(name);
}

/** The principal that the server makes from the token. */
export function principalOf({ name, token, claims }: Person, issuer: string): Principal {
  if (claims !== undefined) {
    const {
      sub,
      client_id: clientId,
      groups,
      scope,
    } = claims as Record<string, string> & { readonly groups: string[] };
    return { id: `${issuer}#${sub}`, subject: sub, issuer, clientId, groups, scopes: String(scope).split(' ') };
  }
  if (token === undefined) return { id: 'anonymous' };
  return { id: `token:${name}`, subject: name, groups: token.groups ?? [], scopes: token.scopes ?? [] };
}
