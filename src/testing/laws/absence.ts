/** Checks that a provider which says it does without a feature is without it in fact (SEC-CAP-1). */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import type { ProviderFixture } from '../fixture.ts';
import type { OptionalFeature } from '../law.ts';
import { listTree, readLeaf, refusal } from '../observe.ts';
import { listTemplates } from './templates.ts';

export const ABSENCE: Readonly<Record<OptionalFeature, (fixture: ProviderFixture) => Promise<void>>> = {
  /** Nothing says that it can be subscribed to, and nothing can. */
  async watch(fixture) {
    const { provider } = fixture;
    for (const { uri, capabilities } of await listTree(fixture)) {
      assert.equal(capabilities?.subscribe, false, `${uri} says that it can be subscribed to`);
      const { watch } = provider;
      if (watch === undefined) continue;
      await refusal(() => watch.call(provider, uri, () => {}, createContext()), 'any', `Watching ${uri}`);
    }
  },

  /** None is listed. */
  async templates({ provider }) {
    assert.deepEqual(await listTemplates(provider, 100), []);
  },

  /** No template has a value to offer. */
  async completion({ provider }) {
    for (const { uriTemplate } of await listTemplates(provider, 100)) {
      const [variable = ''] = parseUriTemplate(uriTemplate).variables;
      const request = { uriTemplate, variable, value: '', known: {}, limit: 100 };
      const outcome = await provider.complete?.(request, createContext()).catch((error: unknown) => error);
      if (outcome instanceof ResourceError || outcome === undefined) continue;
      assert.deepEqual(outcome, { values: [], hasMore: false }, `${uriTemplate} completes`);
    }
  },

  async search({ provider }) {
    assert.equal(provider.search, undefined, 'The provider says that it cannot search, and has `search`');
  },

  /** A window that is asked for gives the whole without saying that it is a window, or the true one. */
  async ranges(fixture) {
    for (const [path, whole] of fixture.leaves) {
      if (whole.byteLength < 3) continue;
      const { bytes, window } = await readLeaf(fixture.provider, fixture.uriOf(path), { offset: 1, length: 1 });
      const expected = window === undefined ? whole : whole.slice(1, 2);
      assert.deepEqual(bytes, new Uint8Array(expected), `The bytes of ${path}`);
    }
  },
};
