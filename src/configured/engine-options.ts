/** Turns a configuration into options of the engine. */
import type { Config } from '../config/schema.ts';
import { defined } from '../core/defined.ts';
import type { EngineOptions } from '../engine/index.ts';
import type { AccessRules } from '../layers/access/index.ts';
import type { AlternativesOptions } from '../layers/alternatives/index.ts';
import type { UsageLimits } from '../layers/limits/index.ts';
import type { Configured } from './open.ts';

/** Options that override those of the configuration. */
export interface EngineFlags {
  readonly name?: string;
  readonly tools?: 'all' | 'read' | 'off';
  readonly icons?: 'on' | 'off';
}

/** @param replaceable whether its mounts may be replaced while they are served */
export function engineOptions(
  { mounts, promptFolders, config, policy, keys }: Configured,
  replaceable: boolean,
  { name, ...flags }: EngineFlags = {},
): EngineOptions {
  const { limits = {}, listing = 'walk', confirm } = config;
  const icons = flags.icons ?? config.icons;
  const {
    allowHosts: _hosts,
    allowOrigins: _origins,
    allowRemote: _remote,
    card: _card,
    tls: _tls,
    ...identity
  } = config.server ?? {};
  const { redact = 'off', access, forms = 'on' } = config;
  const listed = typeof listing === 'string' ? { mode: listing } : listing;
  return {
    mounts,
    promptFolders,
    keys,
    replaceable,
    resourceTools: resourceTools(config.tools, flags.tools),
    confirm,
    access: policy ?? accessRules(access),
    redact: redact === 'off' ? undefined : redact === 'on' ? {} : redact,
    describe: config.describe,
    forms: forms === 'off' ? false : forms === 'on' ? {} : formsOf(forms),
    icons: icons === undefined ? 'described' : icons === 'on',
    server: defined({ ...identity, ...(name !== undefined && { name }) }),
    listing: listed.mode ?? 'walk',
    limits: defined({
      pageSize: limits.pageSize,
      maxReadBytes: limits.maxReadBytes,
      maxChildren: limits.maxChildren,
      keptBytes: limits.keptBytes,
      maxListed: 'maxResources' in listed ? listed.maxResources : undefined,
      maxDepth: 'maxDepth' in listed ? listed.maxDepth : undefined,
      ...usageLimits(config),
    }),
    timeoutMs: limits.timeoutSeconds === undefined ? undefined : limits.timeoutSeconds * 1_000,
    timeouts: Object.fromEntries(
      Object.entries(defined(limits.timeouts ?? {})).map(([operation, seconds]) => [operation, seconds * 1_000]),
    ),
  };
}

function resourceTools(tools: Config['tools'], flag: EngineFlags['tools']): EngineOptions['resourceTools'] {
  const word = flag ?? tools;
  if (word === 'off') return false;
  const block = typeof tools === 'object' ? tools : {};
  return word === 'read' || word === 'all' ? { ...block, offer: word } : block;
}

function formsOf({ timeoutSeconds, ...forms }: Exclude<Config['forms'], string | undefined>): AlternativesOptions {
  return { ...forms, ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1_000 }) };
}

const accessRules = (access: Config['access']): AccessRules | undefined =>
  access === undefined ? undefined : { rules: access.rules ?? [], default: access.default };

function usageLimits({ limits = {}, auth }: Partial<Config>): UsageLimits {
  return {
    rates: limits.rates,
    without: limits.without,
    maxConcurrent: limits.maxConcurrent,
    maxConcurrentPerPrincipal: limits.maxConcurrentPerPrincipal,
    maxHeldBytes: limits.maxHeldBytes,
    maxSubscriptions: limits.maxSubscriptions,
    maxSubscriptionsPerPrincipal: limits.maxSubscriptionsPerPrincipal,
    maxSessionsPerPrincipal: limits.maxSessionsPerPrincipal,
    maxStreamsPerPrincipal: limits.maxStreamsPerPrincipal,
    anonymousIsOne: auth !== undefined,
  };
}
