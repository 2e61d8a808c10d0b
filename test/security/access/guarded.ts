/** A provider of six resources, behind rules of access. */
import { type ProviderOverrides, wrapProvider } from '../../../src/core/layer.ts';
import { createResolver } from '../../../src/core/mounts/resolver.ts';
import { type AccessOptions, type AccessRule, createAccess } from '../../../src/layers/access/index.ts';
import { type MemoryProvider, memoryProvider } from '../../../src/providers/memory/index.ts';

export const resources = Object.fromEntries(
  ['a.txt', 'b.txt', 'private/c.txt', 'private/d.txt', 'public/e.txt', 'public/f.txt'].map((name) => [
    name,
    { text: `the text of ${name}` },
  ]),
);
export const uriOf = (path: string): string => `memory:///${path}`;

/** Returns the provider behind rules. @param overrides replaces methods of the provider below them */
export async function guarded(
  access: AccessOptions,
  overrides: (inner: MemoryProvider) => ProviderOverrides = () => ({}),
) {
  const memory = memoryProvider({ resources });
  const inner = wrapProvider(memory, overrides(memory));
  const mount = { name: 'm', provider: inner, prefix: 'none' } as const;
  return createAccess(access, createResolver([mount])).layer(inner);
}

/** Rules that withhold the resources below `private`. */
export const without = (effect: AccessRule['effect'], rule: Omit<AccessRule, 'effect'> = {}): AccessOptions => ({
  rules: [{ effect, uris: ['memory:///private/**'], ...rule }],
  default: 'allow',
});
