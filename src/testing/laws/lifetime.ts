/** Laws of a whole provider: its declared features, its name, its search and its end. */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { OPTIONAL_METHODS } from '../../core/provider.ts';
import type { ProviderFixture } from '../fixture.ts';
import type { ProviderLaw } from '../law.ts';
import { listAll, listTree, urisOf } from '../observe.ts';

export const lifetimeLaws: readonly ProviderLaw[] = [
  {
    name: 'a feature that is declared has its method [SEC-CAP-1]',
    async check({ provider }) {
      const { features } = provider;
      for (const [declared, method] of [
        [features.watch, provider.watch],
        [features.templates, provider.listTemplates],
        [features.completion, provider.complete],
        [features.search, provider.search],
      ] as const) {
        assert.ok(!declared || typeof method === 'function', 'A declared feature has no method');
      }
      for (const method of OPTIONAL_METHODS) {
        assert.ok(['function', 'undefined'].includes(typeof provider[method]), `${method} is no method`);
      }
    },
  },
  {
    name: 'it has a name, and schemes in lower case',
    async check({ provider }) {
      assert.ok(provider.name.length > 0, 'The name is empty');
      assert.ok(provider.features.schemes.length > 0, 'There is no scheme');
      for (const scheme of provider.features.schemes) assert.match(scheme, /^[a-z][a-z0-9+.-]*$/);
    },
  },
  {
    name: 'a search for the first line of a text finds it there',
    feature: 'search',
    applies: (fixture) => firstLine(fixture) !== undefined || 'No leaf begins with a line of text',
    async check(fixture) {
      const line = firstLine(fixture);
      assert.ok(line !== undefined && fixture.provider.search !== undefined, 'Needs a line to search for');
      const uri = fixture.uriOf(line.path);
      const uris = new Set(urisOf(await listTree(fixture)));
      let found = false;
      for await (const match of fixture.provider.search({ pattern: line.text, literal: true }, createContext())) {
        assert.ok(uris.has(match.uri), `${match.uri} was found, and is not listed`);
        if (match.uri === uri) found ||= match.place?.line === 1 && match.place.offset === 0;
      }
      assert.ok(found, `${line.text} was not found in line 1 of ${uri}`);
    },
  },
  {
    name: '`close` may be called twice, and once more when the fixture is closed [RES-7]',
    async check({ provider }) {
      await listAll(provider, undefined);
      await provider.close?.();
      await provider.close?.();
    },
  },
];

/** The path and first line of a leaf that begins with a line of ASCII text; undefined if there is none. */
function firstLine(fixture: ProviderFixture): { path: string; text: string } | undefined {
  for (const [path, bytes] of fixture.leaves) {
    const text = /^[\x20-\x7e]{4,200}(?=\n)/.exec(new TextDecoder().decode(bytes))?.[0];
    if (text !== undefined) return { path, text };
  }
  return undefined;
}
