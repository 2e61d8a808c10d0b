/** The walk of a person with a keyboard through a museum of clocks: the same in each browser, with or without sign-in. */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Folder } from '../e2e/folders.ts';
import { ROOT } from '../e2e/harness.ts';
import type { Person } from './person.ts';

export const FILES = {
  'docs/clocks/index.md': '# Clocks\n\nThe *escapement* of a [carriage clock](winding.toml).\n\n<b onclick=x>raw</b>\n',
  'docs/clocks/winding.toml': 'keeper = "Joss Pell"\n',
  'docs/clocks/zeta.csv': 'name,age\n"Sixfold, the",211\nCuckoo,98\n',
  'docs/empty/': '',
  'docs/notes.json': '{"wound": true, "days": [1, 2, 8]}',
  'docs/sealed.txt': 'the combination is 1890',
};

export const CONFIG = {
  server: { name: 'clocks', title: 'A museum of clocks' },
  mounts: {
    docs: './docs',
    registrar: `${ROOT}examples/registrar.sqlite`,
    restoration: `${ROOT}examples/restoration.git`,
  },
};

/** Finds a file by search, reads it, and sees its change. */
export async function findsReadsAndSeesChange(person: Person, folder: Folder): Promise<void> {
  await person.visits('/');
  await person.presses('Control+k');
  await person.types('escapement');
  await person.sees('.found mark');
  await person.presses('Enter');
  expect(await person.focused()).toBe('index.md');
  await person.presses('Enter');
  await person.sees('#thing h1', 'index.md');
  await person.isAt(/\/view\/docs\+file\/clocks\/index\.md\?lines=\d+-\d+$/);
  await person.presses('Backspace');
  await person.isAt(/\/view\/docs\+file\/clocks$/);
  await person.sees('.sheet a:focus');
  await person.types('ind');
  await person.presses('Enter');
  await person.sees('#thing .prose em');
  await person.sees('#thing .prose', '<b onclick=x>');
  await person.missesNow('.prose b');
  await person.sees('#thing [data-live]');
  await writeFile(folder.at('docs/clocks/index.md'), '# Clocks\n\nNow they *strike*.\n');
  await person.sees('#thing em', 'strike');
  await person.sees('#thing .glow');
  await writeFile(folder.at('docs/clocks/index.md'), FILES['docs/clocks/index.md']);
  await person.sees('#thing em', 'escapement');
}

/** Calls a tool by its form, and sees its result. */
export async function callsATool(person: Person): Promise<void> {
  await person.visits('/?tool=describe');
  await person.tabsTo('.field input');
  await person.types('docs+file:///notes.json');
  await person.presses('Enter');
  await person.sees('.offer .case', 'application/json');
}

/** Fills a template with completion, and reads a row. */
export async function readsARow(person: Person): Promise<void> {
  await person.visits(`/?template=${encodeURIComponent('registrar+sqlite:///objects/{accession}')}`);
  await person.tabsTo('.field input');
  await person.types('VM.1931.00');
  await person.offered('VM.1931.001');
  await person.types('1');
  await person.presses('Enter');
  await person.isAt(/\/view\/registrar\+sqlite\/objects\/VM\.1931\.001$/);
  await person.sees('#thing .tree .key', 'accession');
}

/** Compares two revisions. */
export async function comparesRevisions(person: Person): Promise<void> {
  const template = 'restoration+git:///compare/branches/{base}/branches/{branch}';
  await person.visits(`/?template=${encodeURIComponent(template)}`);
  await person.tabsTo('.field input');
  await person.types('main');
  await person.presses('Tab');
  await person.types('try~2Fshorter-spring');
  await person.presses('Enter');
  await person.sees('.hljs-addition, .hljs-deletion');
}
