/**
 * Measures lists of the skills of a folder, all pages, as a client does: the first time, again at once, again after the catalogue
 * has to be looked over, and after one file has changed. Also measures the time from that change until `skills/get` has another
 * digest.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { prose, temporaryFolder } from './lib/folders.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { ms, progress, report, table } from './lib/report.mjs';
import { median } from './lib/stats.mjs';

const how = options('skills', 'Lists of skills: cold, warm, and after a change.', {
  skills: { type: 'number', default: 1_000, quick: 50, help: 'skills in the folder' },
  files: { type: 'number', default: 10, help: 'files of each, SKILL.md included' },
  rounds: { type: 'number', default: 5, quick: 2, help: 'measurements of each; medians are shown' },
});

/** After this a catalogue is looked over again, in milliseconds. */
const AGED_MS = 1_200;

const folder = temporaryFolder();
for (let skill = 0; skill < how.skills; skill++) {
  const name = `skill-${skill}`;
  mkdirSync(join(folder, name, 'references'), { recursive: true });
  writeFileSync(
    join(folder, name, 'SKILL.md'),
    `---\nname: ${name}\ndescription: Does the task ${skill}\n---\n\n# ${name}\n`,
  );
  for (let file = 1; file < how.files; file++)
    writeFileSync(join(folder, name, 'references', `${file}.md`), prose(2_000 + file));
}
const config = join(temporaryFolder(), 'vitrine.json');
writeFileSync(config, JSON.stringify({ mounts: { bench: { path: folder, prefix: 'none', skills: 'on' } } }));

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const ask = (url, method, params = {}) => call(url, modern(method, params), agent);

const measured = {
  cold: [],
  'warm, at once': [],
  'warm, looked over': [],
  'after one byte': [],
  'one byte, in skills/get': [],
};
for (let round = 0; round < how.rounds; round++) {
  progress(`round ${round + 1} of ${how.rounds}`);
  const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0'], {});
  try {
    await ask(server.url, 'resources/templates/list');
    await timed('cold', () => listAll(server.url));
    await timed('warm, at once', () => listAll(server.url));
    await pause(AGED_MS);
    await timed('warm, looked over', () => listAll(server.url));
    await pause(AGED_MS);
    const changed = join(folder, 'skill-7', 'references', '1.md');
    const uri = 'file:///skill-7/SKILL.md';
    const before = JSON.stringify((await ask(server.url, 'skills/get', { uri })).skill);
    const bytes = readFileSync(changed);
    bytes[0] ^= 1;
    writeFileSync(changed, bytes);
    await timed('one byte, in skills/get', async () => {
      while (JSON.stringify((await ask(server.url, 'skills/get', { uri })).skill) === before);
    });
    await pause(AGED_MS);
    await timed('after one byte', () => listAll(server.url));
  } finally {
    await server.stop();
  }
}
agent.destroy();

report(
  how,
  measured,
  table(
    ['list', 'median', 'longest'],
    Object.entries(measured).map(([name, all]) => [name, ms(median(all)), ms(Math.max(...all))]),
  ),
);

async function timed(name, run) {
  const start = performance.now();
  await run();
  measured[name].push(performance.now() - start);
}

async function listAll(url) {
  let cursor;
  let count = 0;
  do {
    const page = await ask(url, 'skills/list', cursor === undefined ? {} : { cursor });
    count += page.skills.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  if (count !== how.skills) throw new Error(`${count} skills are listed, and there are ${how.skills}`);
}
