/** Vitrine as an OAuth client, as its upstream connections use it. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuthProvider, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type AuthConfig, authorizeUpstream, createAuth } from '../../../src/providers/upstream/auth/index.ts';
import { type Visit, type VisitOptions, visit } from './browser.ts';

export interface StateDirectory extends AsyncDisposable {
  readonly path: string;
  /** The folder of the tokens. */
  readonly tokens: string;
  files(): Promise<string[]>;
  /** Changes the only token file. */
  edit(change: (saved: Saved) => unknown): Promise<void>;
  /** Writes a token file, as an authorization would. */
  place(mount: string, url: string, saved: unknown): Promise<void>;
}

/** The content of a token file. */
export interface Saved {
  readonly url: string;
  readonly tokens?: { readonly access_token: string; readonly refresh_token?: string; readonly issuer?: string };
}

async function onlyFile(state: StateDirectory): Promise<string> {
  const [first, ...others] = await state.files();
  if (first === undefined || others.length > 0) throw new Error('there is not exactly one file of tokens');
  return first;
}

/** Gives the content of the only token file. */
export const savedAt = async (state: StateDirectory): Promise<Saved> =>
  JSON.parse(await readFile(await onlyFile(state), 'utf8')) as Saved;

/** A state directory that exists as long as the test needs it. */
export async function stateDirectory(): Promise<StateDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-oauth-'));
  const before = process.env.VITRINE_STATE_DIR;
  process.env.VITRINE_STATE_DIR = path;
  const tokens = join(path, 'tokens');
  const state: StateDirectory = {
    path,
    tokens,
    files: async () => (await readdir(tokens)).map((name) => join(tokens, name)),
    async edit(change) {
      await writeFile(await onlyFile(state), JSON.stringify(change(await savedAt(state))));
    },
    async place(mount, url, saved) {
      await mkdir(tokens, { recursive: true });
      const digest = createHash('sha256').update(url).digest('hex').slice(0, 16);
      await writeFile(join(tokens, `${mount}-${digest}.json`), JSON.stringify(saved));
    },
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env.VITRINE_STATE_DIR;
      else process.env.VITRINE_STATE_DIR = before;
      await rm(path, { recursive: true, force: true });
    },
  };
  return state;
}

/** Reads the only resource of the protected server, over a new connection. */
export async function readWith(authProvider: AuthProvider, url: string): Promise<string | undefined> {
  await using connection = await connectWith(authProvider, url);
  return await connection.read();
}

export interface Connection extends AsyncDisposable {
  read(): Promise<string | undefined>;
}

export async function connectWith(authProvider: AuthProvider, url: string): Promise<Connection> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
  return {
    async read() {
      const { contents } = await client.readResource({ uri: 'memory:///private.txt' });
      const [first] = contents;
      return first !== undefined && 'text' in first ? first.text : undefined;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export type OAuthConfig = Extract<AuthConfig, { type: 'oauth' }>;

/** Runs `vitrine authorize` with its user, for the mount `docs`. The browser opens the address that `skipTo` returns. */
export async function authorizeAt(
  url: string,
  config: Partial<OAuthConfig> = {},
  { skipTo = (address) => address, ...options }: VisitOptions & { readonly skipTo?: (address: URL) => URL } = {},
): Promise<Visit> {
  let visiting: Promise<Visit> | undefined;
  await authorizeUpstream(
    { type: 'oauth', ...config },
    { mount: 'docs', url },
    {
      onAddress: (address) => {
        visiting = visit(skipTo(address), options);
        visiting.catch(() => {});
      },
      timeoutMs: 20_000,
    },
  );
  if (visiting === undefined) throw new Error('no address was shown');
  return await visiting;
}

export const oauthAt = (url: string, config: Partial<OAuthConfig> = {}, mount = 'docs'): AuthProvider =>
  createAuth({ type: 'oauth', ...config }, { mount, url });
