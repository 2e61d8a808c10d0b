/** No secret gets into a log or an error, whatever an authorization server does with requests. */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toWireError } from '../../../src/core/errors.ts';
import { type AuthConfig, createAuth } from '../../../src/providers/upstream/auth/index.ts';
import { authorizeAt, oauthAt, readWith, type StateDirectory, savedAt, stateDirectory } from './client.ts';
import { authorizationServer, type Listening, listening, protectedServer, REDIRECT_PORT, SCOPE } from './servers.ts';

let state: StateDirectory;
let written: string[];

beforeEach(async () => {
  state = await stateDirectory();
  written = [];
  const keep = (...values: unknown[]): void => void written.push(...values.map((value) => inspect(value, DEEP)));
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    vi.spyOn(console, name).mockImplementation(keep);
  }
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      keep(String(chunk));
      return true;
    });
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  await state[Symbol.asyncDispose]();
});

const DEEP = { depth: 20, showHidden: true, maxStringLength: 1_000_000 } as const;

/** Everything that somebody could see of a failure: the output, the log, and the error that a peer gets. */
async function traces(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(
    () => {
      throw new Error('nothing failed');
    },
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: 'ResourceError' });
  return [...written, inspect(error, DEEP), JSON.stringify(toWireError(error))].join('\n');
}

const CREDENTIALS = { clientId: 'machine', clientSecret: 'clientsecret' } as const;

type Respond = (body: string, headers: Readonly<Record<string, string | undefined>>) => Response;

/** An upstream and its authorization server in one. Its token endpoint does what the test says. */
function faulty(respond: Respond): Promise<Listening> {
  return listening((origin) => async (request, response) => {
    const path = request.url ?? '/';
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const answer = answerTo(path, origin, () =>
      respond(body, { authorization: request.headers.authorization, origin }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
}

function answerTo(path: string, origin: string, token: () => Response): Response {
  if (path.startsWith('/.well-known/oauth-protected-resource')) {
    return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: [SCOPE] });
  }
  if (path.startsWith('/.well-known/')) {
    return Response.json({
      issuer: origin,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/reg`,
      response_types_supported: ['code'],
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    });
  }
  if (path === '/token') return token();
  if (path === '/reg')
    return Response.json({ error: 'invalid_redirect_uri', error_description: 'no\u001b[2Jloopback' }, { status: 400 });
  return new Response(undefined, { status: 401 });
}

/** A saved authorization of a faulty server. */
const savedFor = ({ origin }: Listening): unknown => ({
  url: `${origin}/mcp`,
  server: {
    authorizationServerUrl: origin,
    authorizationServerMetadata: {
      issuer: origin,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ['code'],
    },
  },
  client: { client_id: 'self', client_secret: 'clientsecret', issuer: origin },
  tokens: { access_token: 'accesssecret', refresh_token: 'refreshsecret', token_type: 'Bearer', issuer: origin },
  renewAt: 0,
});

const SECRETS = ['clientsecret', 'accesssecret', 'refreshsecret', btoa('machine:clientsecret'), 'newsecret'];

const FAULTS: Readonly<Record<string, Respond>> = {
  'quotes the request in its error': (body, { authorization }) =>
    Response.json({ error: 'invalid_request', error_description: `${body} ${authorization}` }, { status: 400 }),
  'quotes the request in the code of its error': (body) => Response.json({ error: body }, { status: 400 }),
  'quotes the request in a page': (body, { authorization }) =>
    new Response(`<h1>${body} ${authorization}</h1>`, { status: 500 }),
  'gives a token in a body that is not JSON': (body) => new Response(`access_token=newsecret&${body}`),
  'gives a token with an error': () => Response.json({ access_token: 'newsecret', error: { code: 1 } }),
  'gives something other than a token': (body) => Response.json({ accesstoken: 'newsecret', body }),
  'gives a token that breaks a header': () =>
    Response.json({ access_token: 'newsecret\r\nx: y', token_type: 'Bearer', refresh_token: 'refreshsecret' }),
  'gives a token and too much beside it': () =>
    Response.json({ access_token: 'newsecret', token_type: 'Bearer', beside: 'x'.repeat(2_000_000) }),
  'refuses for ever': (body) => Response.json({ error: 'invalid_grant', error_description: body }, { status: 400 }),
  'does not know the client': (body) =>
    Response.json({ error: 'invalid_client', error_description: body }, { status: 401 }),
};

describe('an authorization server that', () => {
  it.each(Object.keys(FAULTS))('%s puts no secret into logs and errors of client credentials', async (fault) => {
    await using server = await faulty(FAULTS[fault] ?? (() => new Response()));
    const config: AuthConfig = { type: 'client-credentials', ...CREDENTIALS };
    const url = `${server.origin}/mcp`;
    const seen = await traces(readWith(createAuth(config, { mount: 'docs', url }), url));
    for (const secret of SECRETS) expect(seen).not.toContain(secret);
    expect(seen).toContain('docs');
  });

  it.each(Object.keys(FAULTS))('%s puts no secret into logs and errors of a refresh', async (fault) => {
    await using server = await faulty(FAULTS[fault] ?? (() => new Response()));
    const url = `${server.origin}/mcp`;
    await state.place('docs', url, savedFor(server));
    const seen = await traces(readWith(oauthAt(url), url));
    for (const secret of SECRETS) expect(seen).not.toContain(secret);
    expect(server.requests.map(({ line }) => line)).toContain('POST /token');
  });

  it.each(Object.keys(FAULTS).filter((fault) => !fault.includes('header')))(
    '%s puts no secret into logs and errors of vitrine authorize',
    async (fault) => {
      await using server = await faulty(FAULTS[fault] ?? (() => new Response()));
      const config = { ...CREDENTIALS, redirectPort: REDIRECT_PORT + 1 };
      const seen = await traces(
        authorizeAt(`${server.origin}/mcp`, config, { skipTo: (address) => returned(address, 'codesecret') }),
      );
      for (const secret of [...SECRETS, 'codesecret']) expect(seen).not.toContain(secret);
      expect(server.requests.map(({ line }) => line)).toContain('POST /token');
    },
  );

  it('redirects a POST cannot make Vitrine send the secret to another server', async () => {
    await using other = await listening(() => (_request, response) => response.end());
    await using server = await faulty(() => Response.redirect(`${other.origin}/token`, 307));
    const url = `${server.origin}/mcp`;
    const auth = createAuth({ type: 'client-credentials', ...CREDENTIALS }, { mount: 'docs', url });
    await expect(readWith(auth, url)).rejects.toMatchObject({ code: 'unavailable' });
    expect(other.requests).toEqual([]);
  });

  it('does not register Vitrine: the error has the text of the server without control characters, and advice', async () => {
    await using server = await faulty(() => new Response());
    const seen = await traces(authorizeAt(`${server.origin}/mcp`));
    expect(seen).toContain('register a client there, and set clientId');
    expect(seen).toContain('no [2Jloopback');
  });

  it('accepts a client metadata document: its URL is the client id, and Vitrine does not register', async () => {
    await using server = await faulty(() =>
      Response.json({ access_token: 'newsecret', token_type: 'Bearer', refresh_token: 'refreshsecret' }),
    );
    const clientMetadataUrl = 'https://vitrine.example/client.json';
    let authorization: URL | undefined;
    await authorizeAt(
      `${server.origin}/mcp`,
      { clientMetadataUrl },
      {
        skipTo: (address) => {
          authorization = address;
          return returned(address, 'code');
        },
      },
    );
    expect(authorization?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    expect(server.requests.map(({ line }) => line)).not.toContain('POST /reg');
    expect(await savedAt(state)).toMatchObject({ client: { client_id: clientMetadataUrl } });
  });
});

/** Gives the address to which an authorization server would send the browser back. */
function returned(address: URL, code: string): URL {
  const back = new URL(address.searchParams.get('redirect_uri') ?? '');
  back.searchParams.set('code', code);
  back.searchParams.set('state', address.searchParams.get('state') ?? '');
  return back;
}

describe('no secret is written', () => {
  it('during an authorization, a refresh and a revocation that all work', async () => {
    await using authorization = await authorizationServer();
    await using upstream = await protectedServer(authorization);
    written.length = 0;
    await authorizeAt(upstream.url);
    const first = await savedAt(state);
    await state.edit((saved) => ({ ...saved, renewAt: 0 }));
    await readWith(oauthAt(upstream.url), upstream.url);
    const second = await savedAt(state);
    const token = await authorization.provider.AccessToken.find(String(second.tokens?.access_token));
    await authorization.provider.AccessToken.revokeByGrantId(String(token?.grantId));
    await authorization.provider.RefreshToken.revokeByGrantId(String(token?.grantId));
    const seen = await traces(readWith(oauthAt(upstream.url), upstream.url));
    const secrets = [first, second].flatMap(({ tokens }) => [tokens?.access_token, tokens?.refresh_token]);
    for (const secret of secrets) expect(seen).not.toContain(String(secret));
    expect(written.filter((line) => !line.includes('oidc-provider'))).toEqual([]);
  });
});
