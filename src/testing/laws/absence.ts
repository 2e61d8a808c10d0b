/** Checks that a provider does not contradict a feature that it declares as absent (SEC-CAP-1). */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import type { ProviderFixture } from '../fixture.ts';
import type { OptionalFeature } from '../law.ts';
import { listTree, readLeaf, refusal } from '../observe.ts';
import { listTemplates } from './templates.ts';

export const ABSENCE: Readonly<Record<OptionalFeature, (fixture: ProviderFixture) => Promise<void>>> = {
  /** No resource says that it can be subscribed to, and none can be watched. */
  async watch(fixture) {
    const { provider } = fixture;
    for (const { uri, capabilities } of await listTree(fixture)) {
      assert.equal(capabilities?.subscribe, false, `${uri} says that it can be subscribed to`);
      const { watch } = provider;
      if (watch === undefined) continue;
      await refusal(() => watch.call(provider, uri, () => {}, createContext()), 'any', `Watching ${uri}`);
    }
  },

  /** No template is listed. */
  async templates({ provider }) {
    assert.deepEqual(await listTemplates(provider, 100), []);
  },

  /** No variable of a template gets a value for an empty text. */
  async completion({ provider }) {
    for (const { uriTemplate } of await listTemplates(provider, 100)) {
      for (const variable of parseUriTemplate(uriTemplate).variables) {
        const request = { uriTemplate, variable, value: '', known: {}, limit: 100 };
        const outcome = await provider.complete?.(request, createContext()).catch((error: unknown) => error);
        if (outcome instanceof ResourceError || outcome === undefined) continue;
        assert.deepEqual(outcome, { values: [], hasMore: false }, `${uriTemplate} completes ${variable}`);
      }
    }
  },

  async search({ provider }) {
    assert.equal(provider.search, undefined, 'The provider declares that it cannot search, but has `search`');
  },

  /** A read of a window gives the whole content, not marked as a window, or the right window. */
  async ranges(fixture) {
    for (const [path, whole] of fixture.leaves) {
      if (whole.byteLength < 3) continue;
      const { bytes, window } = await readLeaf(fixture.provider, fixture.uriOf(path), { offset: 1, length: 1 });
      const expected = window === undefined ? whole : whole.slice(1, 2);
      assert.deepEqual(bytes, new Uint8Array(expected), `The bytes of ${path}`);
    }
  },
};
