/**
 * Saves the tokens of `vitrine authorize` for the gateways of the same user: one file for each mount and URL, which only that
 * user can read. A file names its URL, and is used for no other.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { ResourceError } from '../../../core/errors.ts';
import { writeWhole } from '../whole-file.ts';
import type { AuthTarget } from './config.ts';
import { locked } from './lock.ts';

/** An authorization that a user has given. */
export interface SavedAuthorization {
  /** The upstream that it is for. */
  readonly url: string;
  /** The authorization server that the user saw; refresh tokens go nowhere else. */
  readonly server: OAuthDiscoveryState;
  /** The client as it was registered; without the secret if the configuration has it. */
  readonly client: StoredOAuthClientInformation;
  /** The resource that the tokens are for (RFC 8707). */
  readonly resource?: string | undefined;
  /** Undefined once the authorization server has revoked them. */
  readonly tokens?: StoredOAuthTokens | undefined;
  /** The time to renew the tokens, in milliseconds since the epoch. */
  readonly renewAt?: number | undefined;
}

const shape = z.looseObject({
  url: z.string(),
  server: z.looseObject({ authorizationServerUrl: z.string() }),
  client: z.looseObject({ client_id: z.string() }),
  resource: z.string().optional(),
  tokens: z.looseObject({ access_token: z.string(), refresh_token: z.string().optional() }).optional(),
  renewAt: z.number().optional(),
});

export interface TokenFile {
  /** Reads the file; undefined if it is missing or damaged, or belongs to another URL. */
  load(): Promise<SavedAuthorization | undefined>;
  /** Replaces the whole file at once: a reader sees either the old or the new content. */
  save(saved: Omit<SavedAuthorization, 'url'>): Promise<void>;
  /** Runs the work while no other process changes the file. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export function tokenFile({ mount, url }: AuthTarget, directory = tokensDirectory()): TokenFile {
  const owner = canonical(url);
  const digest = createHash('sha256').update(owner).digest('hex').slice(0, 16);
  const path = join(directory, `${encodeURIComponent(mount)}-${digest}.json`);

  const prepared = async (): Promise<void> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // The folder may have existed before, readable for others.
    await chmod(directory, 0o700);
  };

  return {
    async load() {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw unusable(mount, error);
      });
      const saved = text === undefined ? undefined : parsed(text);
      return saved?.url === owner ? saved : undefined;
    },
    async save(saved) {
      try {
        await prepared();
        await writeWhole(path, `${JSON.stringify({ url: owner, ...saved }, undefined, 2)}\n`, 0o600);
      } catch (error) {
        throw unusable(mount, error);
      }
    },
    async exclusively(work) {
      await prepared().catch((error: unknown) => {
        throw unusable(mount, error);
      });
      return await locked(`${path}.lock`, work);
    },
  };
}

/** Returns the folder of this user's tokens: in `VITRINE_STATE_DIR`, else in `XDG_CONFIG_HOME`, else in `~/.config`. */
export function tokensDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const { VITRINE_STATE_DIR: state, XDG_CONFIG_HOME: config } = env;
  if (state !== undefined && state !== '') return join(state, 'tokens');
  const home = config !== undefined && isAbsolute(config) ? config : join(homedir(), '.config');
  return join(home, 'vitrine', 'tokens');
}

function parsed(text: string): SavedAuthorization | undefined {
  try {
    return shape.parse(JSON.parse(text)) as SavedAuthorization;
  } catch {
    return undefined;
  }
}

function canonical(url: string): string {
  const parts = new URL(url);
  parts.hash = '';
  return parts.href;
}

const unusable = (mount: string, cause: unknown): ResourceError =>
  new ResourceError('unavailable', `Upstream "${mount}": its token file cannot be read or written`, { cause });
