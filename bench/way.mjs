/**
 * The way of one request through the server: the files and functions that it passes, counted by coverage of a live one.
 * Each is sent until the server is warm, and then once more, with nothing else under way.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { configuration, prose, temporaryFolder } from './lib/folders.mjs';
import { call, legacy, modern, openSession } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { processFile } from './lib/processes.mjs';

const how = options('way', 'the files and functions that a request passes, by coverage of a live one', {
  only: { type: 'string', help: 'one of the requests, by a part of its name' },
  list: { type: 'boolean', default: false, help: 'print each function, with its calls' },
});

const WARM = 200;

const folder = temporaryFolder();
for (let index = 0; index < 100; index++) writeFileSync(join(folder, `file-${index}.txt`), prose(1_024));

const child = spawn(
  process.execPath,
  [
    '--import',
    pathToFileURL(processFile('calls')).href,
    how.cli,
    'serve',
    '--config',
    configuration(folder, {}),
    '--http',
    '0',
  ],
  { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
);
process.once('exit', () => child.kill('SIGKILL'));
/** @type {string} */
const url = await new Promise((resolve, reject) => {
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
    const found = /Endpoint: (\S+)/.exec(output)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
});

/** @param {'begin' | 'end'} what @returns {Promise<any>} */
async function ask(what) {
  child.send(what);
  return (await once(child, 'message'))[0];
}

const session = await openSession(url);
const uri = 'file:///file-7.txt';
const REQUESTS = {
  'read, 2026': modern('resources/read', { uri }),
  'read with a progress token, 2026': modern('resources/read', { uri, _meta: { progressToken: 1 } }),
  'read, 2025 session': legacy(session, 'resources/read', { uri }),
  'the read tool, 2026': modern('tools/call', { name: 'read', arguments: { uri } }),
  'list of 100, 2026': modern('resources/list', { uri: 'file:///' }),
};

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const rows = [];
for (const [name, request] of Object.entries(REQUESTS)) {
  if (how.only !== undefined && !name.includes(how.only)) continue;
  for (let count = 0; count < WARM; count++) await call(url, request, agent);
  await ask('begin');
  await call(url, request, agent);
  /** @type {readonly {file: string, name: string, at: number, count: number}[]} */
  const passed = await ask('end');
  rows.push({
    request: name,
    files: new Set(passed.map(({ file }) => file)).size,
    functions: passed.length,
    calls: passed.reduce((sum, { count }) => sum + count, 0),
    passed,
  });
}
agent.destroy();
child.kill('SIGTERM');

if (how.json) console.log(JSON.stringify(rows, undefined, 2));
else {
  console.table(rows.map(({ passed: _passed, ...row }) => row));
  if (how.list) {
    for (const { request, passed } of rows) {
      console.log(`\n${request}`);
      const files = grouped(passed);
      for (const [file, functions] of files) {
        console.log(`  ${file}: ${functions.map(({ name, count }) => `${name} ${count}`).join(', ')}`);
      }
    }
  }
}

/** @param {readonly {file: string, name: string, count: number}[]} passed */
function grouped(passed) {
  /** @type {Map<string, {file: string, name: string, count: number}[]>} */
  const files = new Map();
  for (const each of passed) files.set(each.file, [...(files.get(each.file) ?? []), each]);
  return files;
}
