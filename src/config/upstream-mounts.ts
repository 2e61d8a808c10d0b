/** Makes mounts of other servers. The code for them is loaded only if there is one. */
import { basename, resolve } from 'node:path';
import type { ClientFeatures, Log } from '../core/context.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { Upstream } from '../providers/upstream/index.ts';
import type { ClientIntroduction, StdioTarget, UpstreamTarget } from '../providers/upstream/options.ts';
import type { PluggedKinds } from './plug-ins/load.ts';
import type { UpstreamConfig } from './upstream-schema.ts';

/** Facts about a mounted server that its mount does not hold. */
export interface MountedUpstream {
  readonly up: Upstream;
  /** The program's name, or the origin of the URL, which hold no secrets and may be shown. */
  readonly target: string;
  readonly start: 'eager' | 'lazy';
}

export type ConfiguredMount = Mount & {
  readonly upstream?: MountedUpstream | undefined;
  /** The arguments that the mount was opened with, as JSON. A mount with the same arguments is not opened again. */
  readonly openedFor?: string | undefined;
};

export interface OpenOptions {
  /** The directory that relative paths start from, and that programs start in. */
  readonly base: string;
  readonly log?: Log | undefined;
  /** The only client that there will be, once it is known. */
  readonly sole?: Promise<ClientFeatures> | undefined;
  /** Sent to servers as `clientInfo`. */
  readonly clientInfo?: ClientIntroduction | undefined;
  /** Mounts that are open already. One with the same arguments is used again, not opened anew. The caller closes them. */
  readonly open?: readonly ConfiguredMount[] | undefined;
  /** The kinds that packages add. */
  readonly plugged?: PluggedKinds | undefined;
}

/** Options of every mount that can be switched on and off, as a configuration writes them. */
export interface MountSwitches {
  readonly forms?: 'on' | 'off' | undefined;
  readonly skills?: 'on' | 'off' | readonly string[] | undefined;
  readonly index?: 'on' | 'off' | undefined;
}

/** Translates these options for a mount. One that is not given is left out: its default depends on the kind of the mount. */
export const switchesOf = ({ forms, skills, index }: MountSwitches): Pick<Mount, 'forms' | 'skills' | 'indexed'> => ({
  ...(forms !== undefined && { forms: forms === 'on' }),
  ...(skills !== undefined && { skills: typeof skills === 'string' ? skills === 'on' : skills }),
  ...(index !== undefined && { indexed: index === 'on' }),
});

/** Eras as a configuration writes them. YAML reads a year as a number, which finds the same key here. */
const ERAS = { '2025': '2025', '2026': '2026', auto: 'auto' } as const;

/** How long a required server may take to answer the readiness check, in milliseconds. */
const CHECK_TIMEOUT_MS = 2_000;

/** @throws ResourceError `invalid` for a token that a header cannot carry */
export async function upstreamMount(
  name: string,
  block: UpstreamConfig,
  { base, log, sole, clientInfo }: OpenOptions,
): Promise<ConfiguredMount> {
  const { upstream } = await import('../providers/upstream/index.ts');
  const {
    prefix,
    icons,
    forms,
    skills,
    index,
    start = 'eager',
    connections,
    era,
    maxConnections,
    schemes,
    required = false,
    texts,
    results,
  } = block;
  const target = 'url' in block ? await httpTarget(name, block) : stdioTarget(block, base);
  const up = upstream({
    name,
    target,
    start,
    connections,
    era: era === undefined ? undefined : ERAS[era],
    sole,
    maxConnections,
    schemes,
    connectTimeoutMs: milliseconds(block.connectTimeoutSeconds),
    timeoutMs: milliseconds(block.timeoutSeconds),
    callTimeoutMs: milliseconds(block.callTimeoutSeconds),
    maxMessageBytes: block.maxMessageBytes,
    maxMessageValues: block.maxMessageValues,
    maxMessagesPerSecond: block.maxMessagesPerSecond,
    pins: pinsOf(name, block.pins, base),
    texts,
    results,
    clientInfo,
    log,
  });
  const shown = 'url' in block ? new URL(block.url).origin : basename(block.command);
  const { provider, server } = up;
  return {
    name,
    prefix,
    icons,
    ...switchesOf({ forms, skills, index }),
    provider,
    server,
    health: () => up.health(),
    ...(required && { ready: () => up.check(CHECK_TIMEOUT_MS) }),
    upstream: { up, target: shown, start },
  };
}

/** Returns the file of pins. By default it is beside the configuration, so that both are committed together. */
function pinsOf(name: string, pins: UpstreamConfig['pins'], base: string): { readonly file: string } | undefined {
  if (pins === undefined || pins === 'off') return undefined;
  return { file: resolve(base, pins === 'on' ? `${name}.pins.json` : pins.file) };
}

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1_000;

const stdioTarget = (
  { command, args, env, cwd }: Extract<UpstreamConfig, { command: string }>,
  base: string,
): StdioTarget => ({ command, args, env, cwd: cwd === undefined ? base : resolve(base, cwd) });

async function httpTarget(
  mount: string,
  { url, headers, auth }: Extract<UpstreamConfig, { url: string }>,
): Promise<UpstreamTarget> {
  if (auth === undefined) return { url, headers };
  const { createAuth } = await import('../providers/upstream/auth/index.ts');
  return { url, headers, auth: createAuth(auth, { mount, url }) };
}
