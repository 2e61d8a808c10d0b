/** An authorization server where people sign in, and browsers that keep cookies and follow redirects. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import Provider from 'oidc-provider';
import { type Listening, listening } from '../gateway/authorization/servers.ts';

export const CLIENT_ID = 'explorer';

/** @param resource that tokens are for; @param seconds lifetime of tokens */
export function startPeople(resource: string, seconds = 3_600): Promise<Listening> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return listening((origin) => {
    const provider = new Provider(origin, {
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
      cookies: { keys: [randomUUID()] },
      scopes: ['openid'],
      findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
      pkce: { required: () => true },
      ttl: { Grant: 600, Session: 600, Interaction: 600, AccessToken: seconds, IdToken: 600 },
      clients: [
        {
          client_id: CLIENT_ID,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          redirect_uris: [`${new URL(resource).origin}/explorer/signed-in`],
          id_token_signed_response_alg: 'ES256',
        },
      ],
      features: {
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: '',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: seconds,
            jwt: { sign: { alg: 'ES256' } },
          }),
          useGrantedResource: () => true,
        },
      },
    });
    return provider.callback();
  });
}

const MAX_STEPS = 20;

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
  /** The addresses of all requests that led to the page, in their order. */
  readonly way: readonly URL[];
}

export interface Browser {
  /** @param back changes the address to which the issuer sends the browser back */
  open(address: string | URL, back?: (url: URL) => URL): Promise<Page>;
  /** Sends a form without fields. @param headers such as the `origin` of the page with the form */
  send(address: string, headers?: Readonly<Record<string, string>>): Promise<Page>;
  cookiesOf(origin: string): string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly cookies: readonly string[];
  readonly location: string | undefined;
}

/** Sends exactly these headers; `fetch` would add those of a script. */
export const plainly = (url: string | URL, { body, ...asked }: Asked = {}): Promise<Answered> =>
  new Promise((resolve, reject) => {
    request(url, asked, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => (text += chunk));
      answer.once('end', () => {
        const { location, 'set-cookie': cookies = [] } = answer.headers;
        resolve({ status: answer.statusCode ?? 0, text, cookies, location });
      });
    })
      .once('error', reject)
      .end(body);
  });

/** The browser of one person, who signs in and agrees wherever a page asks for it. */
export function browserOf(login: string): Browser {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookiesOf = (origin: string): string => [...jarOf(origin)].map((pair) => pair.join('=')).join('; ');

  async function go(address: URL, init: Asked, back: (url: URL) => URL = (url) => url): Promise<Page> {
    const way: URL[] = [];
    let url = address;
    let next = init;
    for (let step = 0; step < MAX_STEPS; step++) {
      if (url.pathname === '/explorer/signed-in') url = back(url);
      way.push(url);
      const headers = { accept: 'text/html', ...next.headers, cookie: cookiesOf(url.origin) };
      const { status, text, cookies, location } = await plainly(url, { ...next, headers });
      for (const cookie of cookies) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (/Max-Age=0/i.test(cookie)) jarOf(url.origin).delete(name);
        else jarOf(url.origin).set(name, value);
      }
      const asks = /<form[^>]* action="([^"]+\/interaction\/[^"]+)"/.exec(text)?.[1];
      next = {};
      if (location !== undefined) url = new URL(location, url);
      else if (asks === undefined) return { url, status, text, way };
      else {
        url = new URL(asks.replaceAll('&amp;', '&'), url);
        const consent = text.includes('value="consent"');
        const fields = consent ? 'prompt=consent' : `prompt=login&login=${login}&password=x`;
        next = { method: 'POST', body: fields, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
      }
    }
    throw new Error(`the browser was sent around ${MAX_STEPS} times`);
  }

  return {
    open: (address, back) => go(new URL(address), {}, back),
    send: (address, headers = {}) => go(new URL(address), { method: 'POST', headers }),
    cookiesOf,
  };
}
