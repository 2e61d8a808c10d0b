/** Builds the host of apps (`host.ts`) for a browser. */
import { readdir, readFile } from 'node:fs/promises';
import { build } from 'tsdown';
import { temporaryFolder } from '../e2e/folders.ts';
import { ROOT } from '../e2e/harness.ts';

/** The script of the host, in one file. */
export async function hostScript(): Promise<string> {
  await using folder = await temporaryFolder();
  await build({
    config: false,
    cwd: ROOT,
    entry: { host: 'test/explorer/host.ts' },
    outDir: folder.path,
    platform: 'browser',
    format: 'iife',
    dts: false,
    clean: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/.*/], onlyBundle: false },
  });
  const [name = ''] = (await readdir(folder.path)).filter((file) => file.endsWith('.js'));
  return await readFile(folder.at(name), 'utf8');
}
