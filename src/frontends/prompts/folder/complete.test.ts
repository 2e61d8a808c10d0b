import { describe, expect, it } from 'vitest';
import { createContext } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { wrapProvider } from '../../../core/layer.ts';
import { createCursorCodec } from '../../../core/lists/cursor.ts';
import { mountTree } from '../../../core/mounts.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { memoryProvider } from '../../../providers/memory/index.ts';
import { DEFAULT_LIMITS } from '../../resources/options.ts';
import { promptOfFile } from './file.ts';

const memory = memoryProvider({
  resources: Object.fromEntries(
    [
      'rooms/clocks/index.md',
      'rooms/clocks/tick.wav',
      'rooms/cellar/index.md',
      'rooms/100% brass.md',
      'rooms/café.md',
      'rooms/catalogue.json',
    ].map((path) => [path, { text: path }]),
  ),
});

async function complete(
  template: string,
  argument: string,
  value: string,
  known: Readonly<Record<string, string>> = {},
  provider: ResourceProvider = mountTree([{ name: 'm', provider: memory }]),
): Promise<readonly string[]> {
  const prompt = await promptOfFile(
    'p.md',
    `---\narguments: [{ name: room }, { name: file }, { name: tone, values: [Grave, gay, glum] }]\n---\n${template}`,
    {
      provider,
      cursors: createCursorCodec(),
      limits: DEFAULT_LIMITS,
      listing: 'walk',
      cacheHint: { ttlMs: 0, cacheScope: 'private' },
    },
  );
  return (await prompt.complete?.(argument, value, known, createContext())) ?? [];
}

describe('completion of an argument', () => {
  it('offers the values of the file, whatever the case of the typed letters', async () => {
    expect(await complete('{{tone}}', 'tone', 'g')).toEqual(['Grave', 'gay', 'glum']);
    expect(await complete('{{tone}}', 'tone', 'GA')).toEqual(['gay']);
  });

  it('offers names of files that match the template [SEC-UTIL-5]', async () => {
    const template = '{{resource m+memory:///rooms/{file}.md}}';
    expect(await complete(template, 'file', '')).toEqual(['100% brass', 'café']);
    expect(await complete(template, 'file', 'caf')).toEqual(['café']);
    expect(await complete(template, 'file', '100%')).toEqual(['100% brass']);
  });

  it('offers folders if the template continues below them', async () => {
    const template = '{{resource m+memory:///rooms/{room}/index.md}}';
    expect(await complete(template, 'room', '')).toEqual(['cellar', 'clocks']);
    expect(await complete(template, 'room', 'cl')).toEqual(['clocks']);
  });

  it('needs the arguments before it', async () => {
    const template = '{{resource m+memory:///rooms/{room}/{file}}}';
    expect(await complete(template, 'file', '')).toEqual([]);
    expect(await complete(template, 'file', '', { room: 'clocks' })).toEqual(['index.md', 'tick.wav']);
    expect(await complete(template, 'file', '', { room: '../rooms/clocks' })).toEqual([]);
  });

  it('offers nothing for a text that names no resource', async () => {
    expect(await complete('Hello {{room}}', 'room', '')).toEqual([]);
    expect(await complete('{{resource m+memory:///rooms/{room,file}}}', 'room', '')).toEqual([]);
    expect(await complete('{{resource other:///{file}}}', 'file', '')).toEqual([]);
  });

  it('offers nothing if the provider refuses, and passes other errors on', async () => {
    const failing = (error: Error) =>
      wrapProvider(memory, {
        complete: async () => {
          throw error;
        },
      });
    const ask = (error: Error) => complete('{{resource memory:///rooms/{file}}}', 'file', '', {}, failing(error));
    expect(await ask(new ResourceError('denied', 'no'))).toEqual([]);
    await expect(ask(new ResourceError('timeout', 'late'))).rejects.toThrow('late');
    await expect(ask(new Error('broken'))).rejects.toThrow('broken');
  });
});
