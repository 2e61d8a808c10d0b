import { describe, expect, it } from 'vitest';
import type { Icon } from '../../protocol/resources.ts';
import { withIcons } from './icons.ts';

const OWN: readonly Icon[] = [{ src: 'https://example.com/own.png', mimeType: 'image/png', sizes: ['48x48'] }];

function iconOf(mimeType: string | undefined): string {
  const { resource } = withIcons(() => undefined)({ resource: { uri: 'x:y', name: 'y', mimeType } });
  const icons = (resource as { icons?: readonly Icon[] }).icons;
  return Buffer.from(icons?.[0]?.src.split(',')[1] ?? '', 'base64').toString();
}

describe('default icons [973-2]', () => {
  it('differ by the kind of a type', () => {
    const types = [
      undefined,
      'inode/directory',
      'text/plain',
      'application/json',
      'image/png',
      'audio/wav',
      'video/mp4',
      'application/zip',
    ];
    expect(new Set(types.map(iconOf)).size).toBe(types.length);
    for (const type of types) expect(iconOf(type)).toMatch(/^<svg [^>]*><path [^>]*\/><\/svg>$/);
  });

  it.each([
    ['text/csv', 'application/json'],
    ['application/geo+json', 'application/json'],
    ['image/svg+xml', 'image/png'],
    ['text/markdown', 'text/plain'],
    ['application/gzip', 'application/zip'],
    ['application/pdf', undefined],
  ])('%s has the same icon as %s', (type, like) => {
    expect(iconOf(type)).toBe(iconOf(like));
  });

  it('have sizes as a list [973-3], and are on every entry of a list, a read and the templates', () => {
    for (const key of ['resources', 'contents', 'resourceTemplates']) {
      const result = withIcons(() => undefined)({ [key]: [{ name: 'a' }, { name: 'b', icons: OWN }], other: [1] });
      const [first, second] = result[key] as { icons: readonly Icon[] }[];
      expect(first?.icons[0]?.sizes).toEqual(['any']);
      expect(second?.icons).toBe(OWN);
      expect(result.other).toEqual([1]);
    }
  });

  it('of folders and templates are those of their mount', () => {
    const mounts = (uri: string) => (uri.startsWith('docs+') ? { icons: OWN } : undefined);
    const { resources } = withIcons(mounts)({
      resources: [
        { uri: 'docs+file:///a', name: 'a', mimeType: 'inode/directory' },
        { uri: 'docs+file:///a.md', name: 'a.md', mimeType: 'text/markdown' },
        { uri: 'other+file:///a', name: 'a', mimeType: 'inode/directory' },
      ],
    });
    const icons = (resources as { icons?: readonly Icon[] }[]).map((resource) => resource.icons === OWN);
    expect(icons).toEqual([true, false, false]);
  });
});
