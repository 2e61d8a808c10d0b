/** Opens the mounts of plug-ins. */
import { SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { ConfigError } from '../error.ts';
import type { MountKind } from '../kinds/kind.ts';
import type { ProviderKind } from './define-kind.ts';
import type { PluggedKinds } from './load.ts';
import { checkSettings } from './settings.ts';
import { within } from './within.ts';

/** How long a plug-in may take to make a provider, in milliseconds. */
const CREATE_MS = 60_000;

/** Returns a kind that a package adds, in the form in which mounts open it. @throws ConfigError if no package adds it */
export function pluggedKind(name: string, plugged: PluggedKinds | undefined): MountKind<object> {
  const kind = plugged?.get(name)?.kind;
  if (kind === undefined) throw new ConfigError(`No package under kinds adds "${name}"`);
  return {
    key: 'kind',
    async open(mount, { kind: _, ...written }: { readonly kind?: unknown }, { base, log = SILENT }) {
      const settings = await checkSettings(kind.settings, written, ['mounts', mount]);
      if ('problems' in settings) throw new ConfigError(settings.problems.map(({ message }) => message).join('\n'));
      const why = `mounts.${mount}: ${kind.name}`;
      return within(CREATE_MS, `${why} took longer than ${CREATE_MS / 1_000} seconds to open`, (signal) =>
        created(kind, settings.value, { name: mount, base, log, signal }, why),
      );
    },
  };
}

/** @throws ConfigError with the reason that the plug-in gives */
async function created(
  kind: ProviderKind,
  settings: unknown,
  mount: Parameters<ProviderKind['create']>[1],
  why: string,
): Promise<ResourceProvider> {
  let provider: ResourceProvider;
  try {
    provider = await kind.create(settings as never, mount);
  } catch (cause) {
    if (cause instanceof ResourceError) throw new ConfigError(`mounts.${mount.name}: ${cause.message}`, { cause });
    throw new ConfigError(`${why} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  if (!isProvider(provider))
    throw new ConfigError(`${why} made no provider; create gives an object with features, list, metadata and read`);
  if (!mount.signal.aborted) return provider;
  // It took too long, and nobody waits for the provider any more.
  await provider.close?.();
  throw mount.signal.reason;
}

function isProvider(value: unknown): value is ResourceProvider {
  if (typeof value !== 'object' || value === null) return false;
  const { features, list, metadata, read } = value as Partial<ResourceProvider>;
  return Array.isArray(features?.schemes) && [list, metadata, read].every((method) => typeof method === 'function');
}
