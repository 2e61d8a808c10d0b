/** Mistakes of servers over HTTP, and the checks that find them. */
import type { Fault } from './good.ts';
import type { Planted } from './planting.ts';

export const OF_HTTP: readonly Planted[] = [
  { fault: 'answers of no type', check: 'http-content-type', level: 'error', plant: { contentType: 'text/plain' } },
  {
    fault: 'notifications are answered',
    check: 'http-notification',
    level: 'error',
    plant: notified(),
  },
  { fault: 'any origin is let in', check: 'http-origin', level: 'error', plant: { leaves: ['origin'] } },
  { fault: 'any host is answered to', check: 'http-host', level: 'warning', plant: { leaves: ['host'] } },
  { fault: 'any media type is taken', check: 'http-media-type', level: 'warning', plant: { leaves: ['media-type'] } },
  {
    fault: 'what cannot be parsed is an error of the server',
    check: 'http-parse-error',
    level: 'error',
    plant: broken(),
  },
  { fault: 'any size is taken', check: 'http-oversized', level: 'warning', plant: { leaves: ['size'] } },
  { fault: 'GET is a page', check: 'http-get', level: 'error', era: 'legacy', plant: page() },
  {
    fault: 'a session with a space',
    check: 'http-session-id',
    level: 'error',
    era: 'legacy',
    plant: { session: 'a session of one' },
  },
  {
    fault: 'a session that can be guessed',
    check: 'http-session-id',
    level: 'warning',
    era: 'legacy',
    plant: { session: '7' },
  },
  {
    fault: 'any session is known',
    check: 'http-session-unknown',
    level: 'error',
    era: 'legacy',
    plant: { leaves: ['session'] },
  },
  {
    fault: 'a session does not end',
    check: 'http-session-end',
    level: 'error',
    era: 'legacy',
    plant: { leaves: ['session'] },
  },
  {
    fault: 'any revision in the header',
    check: 'http-version-header',
    level: 'error',
    era: 'legacy',
    plant: { leaves: ['version'] },
  },
  {
    fault: 'headers of another method',
    check: 'http-header-mismatch',
    level: 'error',
    era: 'modern',
    plant: { leaves: ['header'] },
  },
  { fault: '401 without a challenge', check: 'http-authorization', level: 'error', plant: challenge(undefined) },
  {
    fault: '401 with metadata that are not there',
    check: 'http-authorization',
    level: 'error',
    plant: challenge('Bearer resource_metadata="/.well-known/none"'),
  },
  {
    fault: '401 with an address of metadata that is no URL',
    check: 'http-authorization',
    level: 'error',
    plant: challenge('Bearer resource_metadata="http://["'),
  },
];

function notified(): Fault {
  return {
    http: (_request, response, body) => {
      if (!body.includes('"notifications/')) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return true;
    },
  };
}

function broken(): Fault {
  return {
    http: (_request, response, body) => {
      if (body !== '{"jsonrpc":') return false;
      response.writeHead(500).end();
      return true;
    },
  };
}

function page(): Fault {
  return {
    http: (request, response) => {
      if (request.method !== 'GET') return false;
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
      return true;
    },
  };
}

/** Refuses requests without a token, with this challenge. */
function challenge(header: string | undefined): Fault {
  return {
    http: (request, response) => {
      if (request.headers.authorization !== undefined) return false;
      response.writeHead(
        request.method === 'GET' ? 404 : 401,
        header === undefined ? {} : { 'www-authenticate': header },
      );
      response.end();
      return true;
    },
  };
}
