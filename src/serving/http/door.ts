/**
 * Lets one person into a server on a machine that others use, too. The person opens an address with a key, which works once, and
 * gets a cookie. Nothing is answered without the cookie, and only pages of this server may send it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { cookiesIn } from './cookies.ts';
import type { HttpAnswer } from './exchange.ts';

/** The random bytes of the key, and of the cookie. */
const SECRET_BYTES = 32;

export interface Door {
  /** The path with the key, `/?key=...`. It works once. */
  readonly entry: string;
  /** Refuses a request without the cookie, and exchanges the key for the cookie. Returns undefined for a request that may pass. */
  answer(request: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>): HttpAnswer | undefined;
}

interface Secret {
  readonly text: string;
  /** Takes the same time for a wrong secret as for the right one. */
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
  // A browser sends cookies to all ports of a host, so each server needs its own name for its cookie.
  const cookie = `vitrine-${randomBytes(6).toString('hex')}`;
  let used = false;

  function exchanged(request: Pick<IncomingMessage, 'headers'>): HttpAnswer {
    used = true;
    const headers = {
      'Set-Cookie': `${cookie}=${pass.text}; Path=/; HttpOnly; SameSite=Strict`,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    };
    // If a page elsewhere led here, the browser would not send the strict cookie after a redirect. A page of this server leads on.
    if (comesFromElsewhere(request))
      return { status: 200, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' }, body: ONWARD };
    return { status: 303, headers: { ...headers, Location: '/' } };
  }

  return {
    entry: `/?key=${key.text}`,
    answer(request) {
      const { method, url = '', headers } = request;
      const shown = /^\/\?key=([\w-]+)$/.exec(url)?.[1];
      if (cookiesIn(headers.cookie, cookie).some(pass.matches)) {
        if (!isOfOwnPage(request))
          return plain(403, 'Pages of other sites may not use this server: open its address yourself.');
        return shown === undefined ? undefined : { status: 303, headers: { Location: '/' } };
      }
      if (shown === undefined || method !== 'GET' || !key.matches(shown))
        return plain(401, 'Only the person who started this server may use it: open the address that it printed.');
      if (used)
        return plain(401, 'The address works once, and was used already: start the server again to get another one.');
      if (!isOfUser(request.socket)) return plain(401, 'Only the user who started this server may use it.');
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

/** Whether a page of another site or port led the browser here. */
const comesFromElsewhere = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  !['none', 'same-origin', undefined].includes(headers['sec-fetch-site'] as string | undefined);

/**
 * Whether no other origin's page has made the request; such a page may only lead the browser here. For pages of other ports of
 * this host, a browser sends the cookie, too.
 */
function isOfOwnPage(request: Pick<IncomingMessage, 'headers'>): boolean {
  const { origin, host } = request.headers;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  return !comesFromElsewhere(request) || request.headers['sec-fetch-mode'] === 'navigate';
}

/**
 * Whether a process of this user, or of root, has the other end of a connection within this machine. Other users may see the
 * address with the key among the arguments of the browser. True if the operating system does not tell (any but Linux).
 */
function isOfUser({ localAddress, localPort, remoteAddress, remotePort }: Ends): boolean {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map(textOf);
  const [remote, local] = [hexOf(remoteAddress, remotePort), hexOf(localAddress, localPort)];
  // 01 is the state of an open connection. Rows of closed connections name user 0, whoever had them.
  const row = new RegExp(`^ *\\d+: ${remote} ${local} 01 (?:\\S+ +){3}(\\d+) `, 'm');
  const uid = tables.map((table) => row.exec(table)?.[1]).find(Boolean);
  if (uid === undefined) return tables.every((table) => table === '');
  return uid === '0' || uid === String(process.getuid?.());
}

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** An end as in the tables: an IPv4 address as hexadecimal bytes in reverse order, and the port. Any IPv6 address matches. */
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
