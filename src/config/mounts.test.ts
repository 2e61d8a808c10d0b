import { afterEach, expect, it } from 'vitest';
import { closeMounts, mountsOf } from './mounts.ts';
import type { ConfiguredMount } from './upstream-mounts.ts';

const open: ConfiguredMount[] = [];

afterEach(() => closeMounts(open.splice(0)));

async function sourceOf(url: string, key: string, base = '/srv'): Promise<string | undefined> {
  const [mount] = await mountsOf({ web: { http: [{ url, headers: { 'x-key': key } }] } }, { base });
  if (mount !== undefined) open.push(mount);
  return mount?.source;
}

it('a mount has the same source in replicas with the same settings, and the source reveals none of them', async () => {
  const source = await sourceOf('https://example.com/a', 'hush');
  expect(source).toMatch(/^[\w-]{43}$/);
  expect(await sourceOf('https://example.com/a', 'hush')).toBe(source);
  const others = [
    await sourceOf('https://example.com/b', 'hush'),
    await sourceOf('https://example.com/a', 'other'),
    await sourceOf('https://example.com/a', 'hush', '/opt'),
  ];
  expect(others).not.toContain(source);
});
