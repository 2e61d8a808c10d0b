import { describe, expect, it } from 'vitest';
import { createContext, type Log } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { detached } from '../../../core/invocation.ts';
import { wrapProvider } from '../../../core/layer.ts';
import { createCursorCodec } from '../../../core/lists/cursor.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { type MemoryProvider, memoryProvider } from '../../../providers/memory/index.ts';
import { DEFAULT_LIMITS, type ResourceOptions } from '../../resources/options.ts';
import { MAX_PROMPT_BYTES, promptFolder } from './index.ts';
import { MAX_PROMPT_FILES } from './list.ts';

const FOLDER = 'memory:///prompts';

const resourcesOf = (provider: ResourceProvider): ResourceOptions => ({
  provider,
  cursors: createCursorCodec(),
  limits: DEFAULT_LIMITS,
  listing: 'walk',
  cacheHint: { ttlMs: 0, cacheScope: 'private' },
});

interface Warning {
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
}

/** A context that keeps its warnings. */
function listening(principal = 'somebody') {
  const warnings: Warning[] = [];
  const ignore = (): void => {};
  const warn: Log['warn'] = (message, facts) => void warnings.push({ message, facts });
  const ctx = createContext({
    principal: { id: principal },
    log: { debug: ignore, info: ignore, warn, error: ignore },
  });
  return { ctx, warnings };
}

/** Counts the reads of a provider. */
function counted(inner: MemoryProvider): { readonly provider: ResourceProvider; readonly reads: string[] } {
  const reads: string[] = [];
  const provider = wrapProvider(inner, {
    read(uri, want, ctx) {
      reads.push(uri);
      return inner.read(uri, want, ctx);
    },
  });
  return { provider, reads };
}

const memoryWith = (files: Readonly<Record<string, string>>): MemoryProvider =>
  memoryProvider({ resources: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, { text }])) });

describe('a folder of prompts', () => {
  it('is used in part if its pages are empty and endless, and says so', async () => {
    const { ctx, warnings } = listening();
    let asked = 0;
    const endless = wrapProvider(memoryWith({ 'prompts/a.md': 'A' }), {
      async list() {
        if (++asked > 6_000) throw new Error('the list does not end');
        return { resources: [], nextCursor: String(asked) };
      },
    });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(endless));
    expect(await source.list(ctx)).toEqual([]);
    expect(warnings.map(({ message }) => message)).toContain('a folder of prompts is used in part');
  });

  it('has a prompt for each Markdown file in it, and for no other file', async () => {
    const provider = memoryWith({
      'prompts/b.md': 'B',
      'prompts/a.md': '---\nname: first\n---\nA',
      'prompts/notes.txt': 'no',
      'prompts/.md': 'no',
      'prompts/deep/c.md': 'no',
      'other.md': 'no',
    });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const prompts = await source.list(createContext());
    expect(prompts.map(({ name }) => name)).toEqual(['first', 'b']);
  });

  it('leaves out broken files, with name and line in the log, once for each version', async () => {
    const provider = memoryWith({ 'prompts/good.md': 'Good', 'prompts/bad.md': 'One\n{{two}}' });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const { ctx, warnings } = listening();
    for (let times = 0; times < 3; times++) {
      expect((await source.list(ctx)).map(({ name }) => name)).toEqual(['good']);
    }
    expect(warnings).toEqual([
      {
        message: 'a prompt is left out',
        facts: { file: 'bad.md', line: 2, problem: '"two" is not an argument of this prompt; it declares none' },
      },
    ]);
    provider.set('prompts/bad.md', { text: 'Mended now' });
    expect((await source.list(ctx)).map(({ name }) => name)).toEqual(['bad', 'good']);
    expect(warnings).toHaveLength(1);
  });

  it('leaves out files that are too large or not text [SEC-PROMPT-3]', async () => {
    const provider = memoryWith({ 'prompts/large.md': 'x'.repeat(MAX_PROMPT_BYTES + 1) });
    provider.set('prompts/fits.md', { text: 'x'.repeat(MAX_PROMPT_BYTES) });
    provider.set('prompts/bytes.md', { bytes: Buffer.from([0xff, 0xfe]) });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const { ctx, warnings } = listening();
    expect((await source.list(ctx)).map(({ name }) => name)).toEqual(['fits']);
    expect(warnings.map(({ facts }) => facts?.file).sort()).toEqual(['bytes.md', 'large.md']);
  });

  it('has a limited number of prompts [SEC-PROMPT-3]', async () => {
    const names = Array.from({ length: MAX_PROMPT_FILES + 1 }, (_, index) => `prompts/${index}.md`);
    const provider = memoryWith(Object.fromEntries(names.map((name) => [name, 'x'])));
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const { ctx, warnings } = listening();
    expect(await source.list(ctx)).toHaveLength(MAX_PROMPT_FILES);
    expect(warnings.map(({ message }) => message)).toEqual(['a folder of prompts is used in part']);
  });

  it('has no prompts while it does not exist', async () => {
    const provider = memoryWith({ 'other.md': 'x' });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const { ctx, warnings } = listening();
    expect(await source.list(ctx)).toEqual([]);
    expect(warnings.map(({ facts }) => facts?.problem)).toEqual(['Resource not found']);
    provider.set('prompts/new.md', { text: 'New' });
    expect(await source.list(ctx)).toHaveLength(1);
  });

  it('reads a file again after a change, and for each caller [SEC-PROMPT-2]', async () => {
    const memory = memoryWith({ 'prompts/a.md': 'One' });
    const { provider, reads } = counted(memory);
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    await source.list(createContext());
    await source.list(createContext());
    expect(reads).toHaveLength(1);
    await source.list(listening('another').ctx);
    expect(reads).toHaveLength(2);
    memory.set('prompts/a.md', { text: 'Two!' });
    await source.list(createContext());
    expect(reads).toHaveLength(3);
  });

  it('leaves out files that this caller may not read, and tries again the next time', async () => {
    const memory = memoryWith({ 'prompts/a.md': 'A', 'prompts/b.md': 'B' });
    let closed = true;
    const provider = wrapProvider(memory, {
      async read(uri, want, ctx) {
        if (closed && uri.endsWith('a.md')) throw new ResourceError('denied', 'not now', { uri });
        return memory.read(uri, want, ctx);
      },
    });
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const { ctx, warnings } = listening();
    expect((await source.list(ctx)).map(({ name }) => name)).toEqual(['b']);
    expect(warnings).toEqual([{ message: 'a prompt is left out', facts: { file: 'a.md', problem: 'not now' } }]);
    closed = false;
    expect((await source.list(ctx)).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('does not embed resources of its own provider, which is not mounted', async () => {
    const own = memoryWith({ 'prompts/a.md': '{{resource memory:///own.md}}', 'own.md': 'own' });
    const source = promptFolder({ uri: FOLDER, provider: own }, resourcesOf(memoryWith({ 'served.md': 'x' })));
    const [prompt] = await source.list(createContext());
    const reading = prompt?.get({}, detached(createContext()));
    await expect(reading).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('watching a folder of prompts', () => {
  /** A memory provider that counts its open watches. */
  function watched(files: Readonly<Record<string, string>>) {
    const memory = memoryWith(files);
    const open = new Set<string>();
    const provider = wrapProvider(memory, {
      async watch(uri, onChange, ctx) {
        const handle = await memory.watch?.(uri, onChange, ctx);
        open.add(String(uri));
        return {
          async [Symbol.asyncDispose]() {
            open.delete(String(uri));
            await handle?.[Symbol.asyncDispose]();
          },
        };
      },
    });
    let told = 0;
    let wake = (): void => {};
    const source = promptFolder({ uri: FOLDER }, resourcesOf(provider));
    const onChange = (): void => {
      told++;
      wake();
    };
    const untilTold = async (from: number): Promise<void> => {
      while (told <= from) await new Promise<void>((resolve) => (wake = resolve));
    };
    return { memory, open, source, onChange, untilTold, count: () => told };
  }

  it('reports added, changed and removed files', async () => {
    const { memory, open, source, onChange, untilTold, count } = watched({ 'prompts/a.md': 'A' });
    const handle = await source.watch?.(onChange, createContext());
    expect([...open].sort()).toEqual([FOLDER, `${FOLDER}/a.md`]);

    let before = count();
    memory.set('prompts/a.md', { text: 'changed' });
    await untilTold(before);

    before = count();
    memory.set('prompts/b.md', { text: 'B' });
    await untilTold(before + 1);
    expect(open).toContain(`${FOLDER}/b.md`);

    before = count();
    memory.set('prompts/b.md', { text: 'B, changed' });
    await untilTold(before);

    before = count();
    memory.delete('prompts/a.md');
    await untilTold(before);

    await handle?.[Symbol.asyncDispose]();
    expect([...open]).toEqual([]);
    before = count();
    memory.set('prompts/b.md', { text: 'unheard' });
    expect(count()).toBe(before);
  });

  it('waits for a folder that does not exist yet', async () => {
    const { memory, source, onChange, untilTold, open } = watched({ 'other.md': 'x' });
    const handle = await source.watch?.(onChange, createContext());
    memory.set('prompts/a.md', { text: 'A' });
    await untilTold(0);
    await handle?.[Symbol.asyncDispose]();
    expect([...open]).toEqual([]);
  });

  it('is not offered if the provider does not watch, or if it is off', () => {
    const memory = memoryWith({ 'prompts/a.md': 'A' });
    const still = { ...memory, features: { ...memory.features, watch: false } };
    expect(promptFolder({ uri: FOLDER }, resourcesOf(memory)).watch).toBeDefined();
    expect(promptFolder({ uri: FOLDER }, resourcesOf(still)).watch).toBeUndefined();
    expect(promptFolder({ uri: FOLDER, watch: false }, resourcesOf(memory)).watch).toBeUndefined();
  });
});
