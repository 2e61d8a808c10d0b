/** Laws of layers about versions of contents: a layer keeps a version only for bytes that it does not change. */
import assert from 'node:assert/strict';
import { type BodyContent, bytesOf } from '../../core/body.ts';
import { versioned, versionOf } from '../../core/content-version.ts';
import { type Context, createContext } from '../../core/context.ts';
import type { Layer } from '../../core/layer.ts';
import { innerProvider, type LayerLaw, RESOURCE, URI } from '../layer-law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

const VERSION = '"inner"';
const CALLERS: readonly Context[] = [createContext(), createContext({ principal: { id: 'somebody' } })];

/** Two ways to give the same bytes: in memory, and as a stream. */
const FORMS: readonly ((bytes: Uint8Array) => BodyContent)[] = [
  bytesOf,
  (bytes) => ({
    kind: 'stream',
    size: bytes.byteLength,
    async *open() {
      yield bytes;
    },
  }),
];

export const layersVersionLaws: readonly LayerLaw[] = [
  {
    name: 'the version of the inner provider stands for its bytes, and is lost where the layer gives others',
    async check(layer) {
      for (const given of await readAll(layer, ['hello', 'other']))
        if (given.version === VERSION) assert.equal(given.text, given.inner, 'The bytes of the inner version');
    },
  },
  {
    name: 'a version that the layer makes itself is of the same bytes for every caller',
    async check(layer) {
      const seen = new Map<string, string>();
      for (const { version, text } of await readAll(layer, ['hello', 'other'])) {
        if (version === undefined || version === VERSION) continue;
        assert.equal(seen.get(version) ?? text, text, `The bytes of version ${version}`);
        seen.set(version, text);
      }
    },
  },
];

interface GivenText {
  readonly inner: string;
  readonly text: string;
  readonly version: string | undefined;
}

/** Reads each text in both ways for each caller. */
async function readAll(layer: Layer, texts: readonly string[]): Promise<readonly GivenText[]> {
  const all: GivenText[] = [];
  for (const inner of texts)
    for (const form of FORMS)
      for (const ctx of CALLERS) {
        const content = (): BodyContent => versioned(form(Buffer.from(inner)), VERSION);
        const layered = layer(innerProvider({ bodies: () => [{ resource: RESOURCE, content: content() }] }));
        for (const body of await layered.read(URI, EVERYTHING, ctx)) {
          const version = versionOf(body.content);
          all.push({ inner, text: Buffer.from(await drainBody(body)).toString(), version });
        }
      }
  return all;
}
