/** The example of the guide runs as printed, with the hostile server. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ERAS, ROOT } from '../../e2e/harness.ts';

const SERVER = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));

interface Example {
  look(command: string, args: string[], say: (line: string) => void): Promise<void>;
}

it.each(ERAS)('the example of docs/guide/client-safety.md runs at a server of the %s era', async (era) => {
  const guide = await readFile(join(ROOT, 'docs/guide/client-safety.md'), 'utf8');
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
  const here = code.replace(/from '([^']+)'/g, (_all, name: string) => `from '${placeOf(name)}'`);
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-guide-'));
  try {
    const file = join(folder, 'example.ts');
    await writeFile(file, here);
    const example = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Example;
    const lines: string[] = [];
    await example.look(process.execPath, [SERVER, era], (line) => lines.push(line));
    expect(lines).toEqual([
      expect.stringContaining('<h1>Tides</h1>'),
      'tools: allowed approved',
      'tools: allowed called',
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Loads this package from its source, and others as installed. */
function placeOf(name: string): string {
  const own = /^vitrine\/(client\/\w+)$/.exec(name)?.[1];
  return own === undefined ? import.meta.resolve(name) : pathToFileURL(join(ROOT, 'src', own, 'index.ts')).href;
}
