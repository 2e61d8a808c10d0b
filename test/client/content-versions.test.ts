/** The client library and the gateway ask only servers with versions whether contents are unchanged, and check the answers. */
import { describe, expect, it } from 'vitest';
import { createResourceClient } from '../../src/client/index.ts';
import { createContext } from '../../src/core/context.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { drainBody, EVERYTHING } from '../../src/testing/observe.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { eraOf, type Params, type Scripted, scripted } from './scripted.ts';

const URI = 'doc:///one';
const OURS = { resources: {}, extensions: { 'vitrine/resource-metadata': {} } };
const SAME = { contents: [], _meta: { 'vitrine/notModified': true } };

/** Reads the text of the resource repeatedly, as a client or through a mount. */
interface Reader extends AsyncDisposable {
  read(): Promise<string | undefined>;
}

const READERS: Readonly<Record<string, (server: Scripted, era: Era) => Reader>> = {
  'the client library'(server, era) {
    const resources = createResourceClient({ url: server.url, ...eraOf[era] });
    return {
      read: async () => (await resources.read(URI)).primary?.text(),
      [Symbol.asyncDispose]: () => resources.close(),
    };
  },
  'the gateway'(server, era) {
    const mount = upstream({ name: 'm', target: { url: server.url }, era: era === 'legacy' ? '2025' : '2026' });
    return {
      async read() {
        const [body] = await mount.provider.read(URI, EVERYTHING, createContext());
        return body && Buffer.from(await drainBody(body)).toString();
      },
      [Symbol.asyncDispose]: () => mount.close(),
    };
  },
};

/** A server with a queue of answers to reads, and the conditions in the requests. */
async function answering(answers: readonly ((count: number) => object)[], capabilities: Params) {
  const conditions: unknown[] = [];
  const server = await scripted(
    {
      'resources/read'({ _meta }) {
        conditions.push((_meta as Params | undefined)?.['vitrine/ifVersion']);
        const at = Math.min(conditions.length, answers.length) - 1;
        return { ttlMs: 0, cacheScope: 'private', ...answers[at]?.(conditions.length) };
      },
    },
    capabilities,
  );
  return { server, conditions, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const item = (text: string, version: unknown) => ({
  contents: [{ uri: URI, name: 'one', text, _meta: { 'vitrine/version': version } }],
});

describe.each(ERAS.flatMap((era) => Object.entries(READERS).map(([who, reader]) => ({ era, who, reader }))))(
  '$who, in the $era era',
  ({ era, reader }) => {
    it('asks a server with versions whether contents are unchanged, and trusts its answer', async () => {
      const answers = [() => item('one', '"1"'), () => SAME, () => item('two', 'W/"2"'), () => SAME];
      await using given = await answering(answers, OURS);
      await using reading = reader(given.server, era);
      const texts = [await reading.read(), await reading.read(), await reading.read(), await reading.read()];
      expect(texts).toEqual(['one', 'one', 'two', 'two']);
      expect(given.conditions).toEqual([undefined, ['"1"'], ['"1"'], ['W/"2"']]);
    });

    it('sends no condition to a server that declares no versions', async () => {
      await using given = await answering([(count) => item(`read ${count}`, '"1"')], { resources: {} });
      await using reading = reader(given.server, era);
      expect([await reading.read(), await reading.read()]).toEqual(['read 1', 'read 2']);
      expect(given.conditions).toEqual([undefined, undefined]);
    });

    it.each([['"'], ['a'], ['"a b"'], [7], [null], [`"${'x'.repeat(300)}"`], [['"1"']]])(
      'does not use %j as a version',
      async (version) => {
        await using given = await answering([(count) => item(`read ${count}`, version)], OURS);
        await using reading = reader(given.server, era);
        expect([await reading.read(), await reading.read()]).toEqual(['read 1', 'read 2']);
        expect(given.conditions).toEqual([undefined, undefined]);
      },
    );

    it('gives no contents for an answer of "unchanged" that it did not ask for', async () => {
      await using given = await answering([() => SAME], OURS);
      await using reading = reader(given.server, era);
      expect([await reading.read(), await reading.read()]).toEqual([undefined, undefined]);
      expect(given.conditions).toEqual([undefined, undefined]);
    });
  },
);
