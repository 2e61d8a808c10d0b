/** A plug-in for the build: writes the licences of all packages with code in a bundle to a file beside the bundle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rolldown } from 'tsdown';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export const LICENSES = 'LICENSES.txt';

/** Finds the folder and the name of a package in the path of a file. */
const PACKAGE = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/;

export function bundledLicenses(): Rolldown.Plugin {
  return {
    name: 'bundled-licenses',
    generateBundle(_options, bundle) {
      const folders = new Map<string, string>();
      for (const chunk of Object.values(bundle)) {
        for (const file of chunk.type === 'chunk' ? chunk.moduleIds : []) {
          const [, folder, name] = PACKAGE.exec(file.replace(/^\0/, '')) ?? [];
          if (folder !== undefined && name !== undefined) folders.set(folder, name);
        }
      }
      const texts = [...folders].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([folder]) => licenceOf(folder));
      const first = 'This folder has parts of these packages, under the licences that follow.\n';
      this.emitFile({ type: 'asset', fileName: LICENSES, source: [first, ...texts].join('\n') });
    },
  };
}

/** Returns the text of a package's licences, under the name of the package. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (files.length === 0) throw new Error(`${name} has no licence that could be passed on`);
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `\n==== ${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
