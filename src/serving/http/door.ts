/**
 * The way into a server that is for one person on a machine with others: a key in an address, which is good once, is exchanged for
 * a cookie without which nothing is answered, and that only pages of this server may send.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpAnswer } from './exchange.ts';

/** Bytes of the key and of the cookie, which nobody guesses. */
const SECRET_BYTES = 32;

export interface Door {
  /** The path that lets somebody in, once: `/?key=...`. */
  readonly entry: string;
  /** The answer to a request that may not come in, and to that with the key; undefined where it may come in. */
  answer(request: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>): HttpAnswer | undefined;
}

interface Secret {
  readonly text: string;
  /** Takes as long for a wrong one as for a right one. */
  matches(shown: string): boolean;
}

function createSecret(): Secret {
  const text = randomBytes(SECRET_BYTES).toString('base64url');
  const digest = hash('sha256', text, 'buffer');
  return { text, matches: (shown) => timingSafeEqual(digest, hash('sha256', shown, 'buffer')) };
}

export function createDoor(): Door {
  const key = createSecret();
  const pass = createSecret();
  // Other servers of this machine get the cookies of its address, too: each has a name of its own.
  const cookie = `vitrine-${randomBytes(6).toString('hex')}`;
  let used = false;

  function exchanged(request: Pick<IncomingMessage, 'headers'>): HttpAnswer {
    used = true;
    const headers = {
      'Set-Cookie': `${cookie}=${pass.text}; Path=/; HttpOnly; SameSite=Strict`,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    };
    // A browser that was led here by a page elsewhere sends the cookie only to what a page of this server leads to.
    if (isLedHere(request))
      return { status: 200, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' }, body: ONWARD };
    return { status: 303, headers: { ...headers, Location: '/' } };
  }

  return {
    entry: `/?key=${key.text}`,
    answer(request) {
      const { method, url = '', headers } = request;
      const shown = /^\/\?key=([\w-]+)$/.exec(url)?.[1];
      if (cookiesOf(headers.cookie, cookie).some(pass.matches)) {
        if (!isOfOwnPage(request))
          return plain(403, 'Pages elsewhere may not use this server: open its address itself.');
        return shown === undefined ? undefined : { status: 303, headers: { Location: '/' } };
      }
      if (shown === undefined || method !== 'GET' || !key.matches(shown))
        return plain(401, 'This is open to whoever has started it: open the address that it has printed.');
      if (used) return plain(401, 'The address is good once, and was used: start it again for another one.');
      if (!isOfUser(request.socket)) return plain(401, 'This is open to the user who has started it.');
      return exchanged(request);
    },
  };
}

const ONWARD =
  '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Vitrine</title><a href="/">Open it</a>\n';

const plain = (status: number, text: string): HttpAnswer => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
  body: `${text}\n`,
});

const cookiesOf = (sent: string | undefined, name: string): readonly string[] =>
  (sent ?? '').split(';').flatMap((each) => {
    const [found, value = ''] = each.trim().split('=', 2);
    return found === name ? [value] : [];
  });

const isLedHere = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  !['none', 'same-origin', undefined].includes(headers['sec-fetch-site'] as string | undefined);

/** Pages of other ports of this machine are of the same site, so that they could send the cookie along. */
function isOfOwnPage(request: Pick<IncomingMessage, 'headers'>): boolean {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return !isLedHere(request) || request.headers['sec-fetch-mode'] === 'navigate';
}

/**
 * Whether this user, or the system, has the other end of a connection of this machine: others may see the address among the
 * arguments of the browser. True where the operating system does not say (any but Linux).
 */
function isOfUser({ localAddress, localPort, remoteAddress, remotePort }: Ends): boolean {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(textOf);
  const [there, here] = [hexOf(remoteAddress, remotePort), hexOf(localAddress, localPort)];
  // 01 is an open connection: rows of closed ones belong to user 0, whoever had them.
  const row = new RegExp(`^ *\\d+: ${there} ${here} 01 (?:\\S+ +){3}(\\d+) `, 'm');
  const uid = tables.map((table) => row.exec(table)?.[1]).find(Boolean);
  if (uid === undefined) return tables.every((table) => table === '');
  return uid === '0' || uid === String(process.getuid?.());
}

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** An end as the tables have it: the bytes of an address of version 4 from the last to the first, and its port. */
function hexOf(address = '', port = 0): string {
  const bytes = address.replace(/^::ffff:/, '').split('.');
  const digits = bytes.map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, '0'));
  return `${bytes.length === 4 ? digits.reverse().join('') : '\\w+'}:${hex(port)}`;
}

const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
