/** The alternatives layer makes each conversion once, stops those that are not needed, and shares them with other processes. */
import { getEventListeners } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  closeLayers,
  MARKDOWN,
  observed,
  openLayer,
  PDF,
  pdf,
  read,
  removeProgram,
  source,
  typesOf,
  URI,
  writeProgram,
} from '../../../test/forms/converted.ts';
import { refuseStarts } from '../../../test/processes.ts';
import { createContext } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { streaming } from '../../testing/memory-fixture.ts';
import { mimeLayer } from '../mime/index.ts';
import type { AlternativesOptions } from './options.ts';
import { converterVersions, PACKAGES } from './versions.ts';

beforeAll(writeProgram);
afterAll(removeProgram);
afterEach(closeLayers);

describe('conversions', () => {
  it('are made once for concurrent and for later requests', async () => {
    const { provider } = observed();
    const all = await Promise.all([1, 2, 3].map(() => read(provider, URI, { accept: [MARKDOWN] })));
    const later = await read(provider, URI);
    const texts = [...all, later].map((given) => given.at(-1)?.text);
    expect(new Set(texts).size).toBe(1);
    // The same content under another name has the same format.
    expect((await read(provider, 'memory:///copy.pdf')).at(-1)?.text).toBe(texts[0]);
  });

  it.each(['EMFILE', 'ENOMEM'] as const)(
    'are refused while the system starts no process, and are made after it: %s',
    async (reason) => {
      const { provider } = observed();
      const caller = new AbortController();
      const ctx = createContext({ signal: caller.signal });
      {
        using _refusing = refuseStarts(reason);
        for (let times = 0; times < 3; times++)
          await expect(read(provider, URI, { accept: [MARKDOWN] }, ctx)).rejects.toMatchObject({
            code: 'unavailable',
            message: expect.stringContaining('no process can be started; try again'),
          });
      }
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
      expect((await read(provider, URI, { accept: [MARKDOWN] }, ctx)).at(-1)?.type).toBe(MARKDOWN);
    },
  );

  it('are not made again for a known version, and its content is not read', async () => {
    const { provider } = observed({}, streaming);
    await read(provider, URI);
    let opened = 0;
    const counting = (inner: ResourceProvider): ResourceProvider =>
      wrapProvider(inner, {
        read: async (uri, want, ctx) =>
          (await inner.read(uri, want, ctx)).map((body) => {
            const { content } = body;
            if (content.kind === 'bytes') return body;
            const open = (): AsyncIterable<Uint8Array> => {
              opened++;
              return content.open();
            };
            return { ...body, content: { ...content, open } };
          }),
      });
    const layered = openLayer().layer(counting(streaming(source)));
    await read(layered, URI, { accept: [MARKDOWN] });
    expect(opened).toBe(1);
    await read(layered, URI, { accept: [MARKDOWN] });
    expect(opened).toBe(1);
    // Another caller may see another content, so it is read, and then found to be the same.
    await read(layered, URI, { accept: [MARKDOWN] }, createContext({ principal: { id: 'other' } }));
    expect(opened).toBe(2);
  });

  it('that take too long are ended, and the next one runs', async () => {
    const { provider } = observed({ timeoutMs: 2_000, maxConcurrent: 1 });
    const hanging = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] });
    await expect(hanging).rejects.toMatchObject({ code: 'timeout' });
    // On a busy machine a good conversion may take too long, too.
    await expect
      .poll(() => read(provider, URI).then(typesOf, (error) => error.code), { timeout: 60_000 })
      .toEqual([PDF, MARKDOWN]);
  });

  it('that no caller waits for any more are ended [RES-7]', async () => {
    const { provider } = observed({ maxConcurrent: 1 });
    const caller = new AbortController();
    const gone = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] }, createContext({ signal: caller.signal }));
    // It has the only process, until its caller leaves.
    const next = read(provider, URI, { accept: [MARKDOWN] });
    setTimeout(() => caller.abort(new Error('The caller is gone')), 100);
    await expect(gone).rejects.toThrow('The caller is gone');
    expect(typesOf(await next)).toEqual([MARKDOWN]);
  });

  it('are refused if too many are waiting', async () => {
    const { provider } = observed({ maxConcurrent: 1, maxWaiting: 0 });
    const caller = new AbortController();
    const first = read(
      provider,
      'memory:///hang.pdf',
      { accept: [MARKDOWN] },
      createContext({ signal: caller.signal }),
    );
    first.catch(() => {});
    await expect
      .poll(() => read(provider, URI, { accept: [MARKDOWN] }).catch((error) => error.code), { timeout: 60_000 })
      .toBe('limited');
    caller.abort(new Error('Enough'));
    await expect(first).rejects.toThrow('Enough');
  });

  it('end with the layer', async () => {
    const { provider } = observed();
    const hanging = read(provider, 'memory:///hang.pdf', { accept: [MARKDOWN] });
    hanging.catch(() => {});
    await read(provider, URI);
    await closeLayers();
    await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
    await expect(read(provider, 'memory:///folder/inside.pdf', { accept: [MARKDOWN] })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

/** Shared answers within this process. */
function sharedAnswers() {
  const kept = new Map<string, Uint8Array>();
  const answers: SharedAnswers = {
    get: async (key) => kept.get(key.join()),
    put: (key, answer) => void kept.set(key.join(), answer),
    async make(key, _maxBytes, work) {
      const answer = await work();
      kept.set(key.join(), answer);
      return answer;
    },
    state: () => ({ found: 0, missing: 0, failed: 0, kept: kept.size, lost: 0, damaged: 0, whole: true }),
    close: async () => {},
  };
  return { answers, kept };
}

describe('shared conversions', () => {
  const { answers, kept } = sharedAnswers();
  afterEach(() => kept.clear());

  /** Makes a layer that has made nothing yet, like that of a process that has just started. */
  function started(options: AlternativesOptions = {}) {
    const alternatives = openLayer(options, { answers });
    const provider = alternatives.layer(mimeLayer()(source));
    return { text: async (uri = URI) => (await read(provider, uri)).at(-1)?.text, alternatives };
  }

  it('are made once by all processes for the same content, whatever its name', async () => {
    const [first, second] = [started(), started()];
    const text = await first.text();
    expect(text).toMatch(/^conversion /);
    expect(await second.text('memory:///copy.pdf')).toBe(text);
    expect(await second.text('memory:///copy.pdf')).toBe(text);
    expect([first.alternatives.conversions(), second.alternatives.conversions()]).toEqual([1, 0]);
  });

  it('differ for another content, and for other limits', async () => {
    const before = await started().text();
    expect(await started().text('memory:///folder/inside.pdf')).not.toBe(before);
    expect(await started({ maxOutputBytes: 1_000 }).text()).not.toBe(before);
    expect(await started({ maxUnpackedBytes: 1_000 }).text()).not.toBe(before);
    expect(await started({ timeoutMs: 1_000, cacheBytes: 1_024 }).text()).toBe(before);
  });

  it('do not include failures, because another process may succeed', async () => {
    for (const name of ['fail', 'large', 'crash']) {
      const one = started();
      expect(await one.text(`memory:///${name}.pdf`)).toBe(pdf(name));
      expect(one.alternatives.conversions()).toBe(1);
    }
    expect(kept.size).toBe(0);
  });

  it('depend on all packages that converters load, and their versions', async () => {
    const loaded = new Set<string>();
    for (const folder of ['src/layers/alternatives/converters', 'plug-ins/media', 'plug-ins/rtf']) {
      for (const name of await readdir(folder)) {
        if (!/(?<!\.test)\.ts$/.test(name)) continue;
        const code = await readFile(join(folder, name), 'utf8');
        for (const [, module = ''] of code.matchAll(/(?:import\(|^import (?!type ).* from )'([^'.][^']*)'/gm))
          if (!/^(?:node:|vitrine)/.test(module)) loaded.add(/^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? '');
      }
    }
    expect([...loaded].sort()).toEqual(PACKAGES);
    const versions = JSON.parse(converterVersions()) as readonly string[];
    expect(versions).toHaveLength(PACKAGES.length + 1);
    for (const each of versions) expect(each).toMatch(/^\d+\.\d+\.\d+/);
  });
});
