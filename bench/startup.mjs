/**
 * How long a host waits: from starting `vitrine serve <folder>` to its first answer over stdio, beside a bare SDK server,
 * one after the other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prose, temporaryFolder } from './lib/folders.mjs';
import { INITIALIZE, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { processFile, startNode, stop } from './lib/processes.mjs';
import { ms, progress, report, table, times } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';

const how = options('startup', 'Time from the start of the process to the first answer on stdio.', {
  rounds: { type: 'number', default: 21, quick: 3, help: 'starts of each, interleaved; medians are shown' },
});

const folder = temporaryFolder();
for (let index = 0; index < 100; index++) writeFileSync(join(folder, `note-${index}.md`), prose(1_024));

const CASES = [
  { name: 'initialize, 2025-11-25', message: INITIALIZE },
  { name: 'server/discover, 2026-07-28', message: modern('server/discover').message },
];
const TARGETS = [
  { name: 'Vitrine', args: [how.cli, 'serve', folder] },
  { name: 'bare SDK', args: [processFile('sdk-stdio')] },
  { name: 'Node alone', args: [processFile('node-stdio')] },
];

/** @type {number[][][]} by case, target and round; milliseconds */
const measured = CASES.map(() => TARGETS.map(() => []));
// The first start of each finds cold file caches, which is another question: it is not counted.
for (let round = -1; round < how.rounds; round++) {
  for (const [at, { name, message }] of CASES.entries()) {
    for (const [index, target] of TARGETS.entries()) {
      progress(`round ${round + 1} of ${how.rounds}: ${name}, ${target.name}`);
      const milliseconds = await firstAnswer(target.args, message);
      if (round >= 0) measured[at][index].push(milliseconds);
    }
  }
}
progress('');

const results = CASES.map(({ name }, at) => {
  const [vitrine, sdk, node] = measured[at];
  return {
    name,
    vitrine: median(vitrine),
    sdk: median(sdk),
    node: median(node),
    ratio: medianRatio(vitrine, sdk),
  };
});
report(
  how,
  { rounds: how.rounds, results },
  `${how.rounds} rounds\n\n${table(
    ['to the first answer', 'Vitrine', 'bare SDK', 'Node alone', 'Vitrine to bare SDK'],
    results.map(({ name, vitrine, sdk, node, ratio }) => [name, ms(vitrine), ms(sdk), ms(node), times(ratio)]),
  )}`,
);

/**
 * Starts a server, asks it something at once, and gives the milliseconds until the answer.
 * @param {readonly string[]} args
 * @param {object} message
 * @returns {Promise<number>}
 */
async function firstAnswer(args, message) {
  const start = performance.now();
  const child = startNode(args, { stdin: 'pipe' });
  child.stdin.write(`${JSON.stringify(message)}\n`);
  let output = '';
  try {
    await new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('\n')) resolve(undefined);
      });
      child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code} before it answered`)));
    });
    const milliseconds = performance.now() - start;
    if (JSON.parse(output).result === undefined) throw new Error(`${args[0]} refused: ${output}`);
    return milliseconds;
  } finally {
    await stop(child);
  }
}
