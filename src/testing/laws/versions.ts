/** A law of versions of contents: two contents of a resource never have the same version. A provider may give no versions. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { versionOf } from '../../core/content-version.ts';
import { createContext } from '../../core/context.ts';
import { isContentVersion } from '../../protocol/content-version.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

/** How long to wait before a read, in milliseconds, because a provider may give a version only if nothing has changed for a moment. */
const SETTLING_MS = 60;

export const versionLaws: readonly ProviderLaw[] = [
  {
    name: 'a version is of one content: a resource that was replaced, or removed and made anew, has another one, or none',
    applies: canChange,
    async check({ provider, mutate, leaves, uriOf }) {
      const [path = ''] = leaves.keys();
      const seen = new Map<string, string>();
      const look = async (): Promise<void> => {
        for (const body of await provider.read(uriOf(path), EVERYTHING, createContext())) {
          const version = versionOf(body.content);
          const text = Buffer.from(await drainBody(body)).toString('base64');
          if (version === undefined) continue;
          assert.ok(isContentVersion(version), `${version} is no version`);
          assert.equal(seen.get(version) ?? text, text, `The contents of version ${version}`);
          seen.set(version, text);
        }
      };
      await mutate?.replace(path, 'one');
      await look();
      await pause(SETTLING_MS);
      await look();
      await mutate?.replace(path, 'two');
      await look();
      await mutate?.remove(path);
      await mutate?.create(path, 'ten');
      await look();
    },
  },
];
