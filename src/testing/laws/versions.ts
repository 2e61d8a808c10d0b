/** A law of versions of contents: no two contents of a resource have the same one. Without versions it holds. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { versionOf } from '../../core/content-version.ts';
import { createContext } from '../../core/context.ts';
import { isContentVersion } from '../../protocol/content-version.ts';
import { canChange, type ProviderLaw } from '../law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

/** A provider may want what it reads to have been left alone for a moment: this long, in milliseconds. */
const SETTLING_MS = 60;

export const versionLaws: readonly ProviderLaw[] = [
  {
    name: 'a version is of one content: what was replaced, or removed and made anew, has another one, or none',
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
