/** A mounted server lacks a resource. The error has the code of the client's era, and a hidden resource gets the same bytes. */
import { describe, expect, it } from 'vitest';
import { ERAS, MATRIX } from '../../e2e/harness.ts';
import { answer, connectToStranger, type StrangerWay } from './link.ts';

const MISSING = { legacy: -32_002, modern: -32_602 } as const;

const WAYS: readonly StrangerWay[] = ERAS.map((era) => ({ transport: 'http', era }));

describe.concurrent.each(MATRIX)('for a client over $transport, $era', (client) => {
  const code = MISSING[client.era];

  it.each(WAYS)(
    'the error for a missing resource has the code of the client’s era, whichever a server of the $era era sends [RES-6]',
    async (way) => {
      await using on = await connectToStranger(client, 'absent', way);
      await on.reachable;
      const methods = client.era === 'legacy' && way.era === 'legacy' ? ['read', 'subscribe'] : ['read'];
      for (const method of methods.map((each) => `resources/${each}`)) {
        expect(await answer(on, method, 'stranger+absent:/there')).toHaveProperty('result');
        for (const path of ['gone', 'of-the-other-era']) {
          const uri = `stranger+absent:/${path}`;
          expect(await answer(on, method, uri)).toMatchObject({
            error: { code, message: `There is no absent:/${path}`, data: { uri } },
          });
        }
        // Without the URI in its data, the error does not say that the resource is missing.
        expect(await answer(on, method, 'stranger+absent:/invalid')).toMatchObject({
          error: { code: -32_602, message: 'Not a URI of this server' },
        });
      }
    },
  );

  it.each(WAYS)(
    'a hidden resource of a server of the $era era has the answer of a missing one [SEC-RES-2]',
    async (way) => {
      const access = { rules: [{ effect: 'hide', uris: ['stranger+absent:/hidden'] }], default: 'allow' };
      await using on = await connectToStranger(client, 'absent', way, { around: { access } });
      await on.reachable;
      const methods = ['read', 'metadata', 'list', ...(client.era === 'legacy' ? ['subscribe'] : [])];
      for (const method of methods.map((each) => `resources/${each}`)) {
        const hidden = await answer(on, method, 'stranger+absent:/hidden');
        expect(hidden).toMatchObject({
          error: { code, data: { uri: 'stranger+absent:/hidden', reason: 'not-found' } },
        });
        for (const other of ['gone', 'of-the-other-era', 'invalid']) {
          const missing = await answer(on, method, `stranger+absent:/${other}`);
          expect(JSON.stringify(missing).replace(`/${other}`, '/hidden')).toBe(JSON.stringify(hidden));
        }
      }
    },
  );
});
