/**
 * Measures a search through the `search` tool beside ripgrep's own command in the same folder with flags that
 * make it look into the same files. One command, one run, interleaved; both run on all cores.
 */
import { spawn } from 'node:child_process';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { configuration } from './lib/folders.mjs';
import { call, modern } from './lib/mcp.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';

const how = options('lines', 'The search tool over node_modules, to the own command of ripgrep.', {
  // Divisible by two and by three, so that each side goes first equally often.
  rounds: { type: 'number', default: 12, quick: 6, help: 'measurements of each, interleaved; medians are shown' },
  matches: { type: 'number', default: 2_000, quick: 200, help: 'matches after which paging through ends' },
});
const FOLDER = fileURLToPath(new URL('../node_modules', import.meta.url));
/** How many times as long as ripgrep a search of the whole tree may take. */
const BUDGET = 1.5;

/** Searches of the whole tree go to the end, and must find as many matches as ripgrep. */
const CASES = [
  { name: 'no match', pattern: 'zzqqxxjj', literal: true, scan: true },
  { name: 'rare literal', pattern: 'quasiquote', literal: true, scan: true },
  { name: 'regex, few matches', pattern: 'catastrophic\\s+back\\w+', literal: false, scan: true },
  { name: 'regex, many pages to the end', pattern: 'interface \\w{30,} extends', literal: false, scan: true },
  { name: 'frequent word, first page', pattern: 'function', literal: true, pages: 1 },
  { name: 'frequent word, paged through', pattern: 'function', literal: true },
];

const config = configuration(FOLDER, { timeoutSeconds: 120 });
const server = await startServer([how.cli, 'serve', '--config', config, '--http', '0'], {});
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const measured = CASES.map(() => ({ tool: [], ripgrep: [], part: [] }));
const counts = CASES.map(() => ({ tool: 0, ripgrep: 0 }));
try {
  // Round 0 fills the page cache, and is not counted.
  for (let round = 0; round <= how.rounds; round++) {
    for (const [at, each] of CASES.entries()) {
      progress(`round ${round} of ${how.rounds}: ${each.name}`);
      const sides = [
        ['tool', () => searchByTool(each)],
        ['ripgrep', () => searchByCommand(each, Number.POSITIVE_INFINITY)],
        // A search that stops before the end is compared with a command that stops there too.
        ...(each.scan ? [] : [['part', () => searchByCommand(each, counts[at].tool)]]),
      ];
      // In round 0 the tool goes first, and counts the matches for `part`.
      const first = round % sides.length;
      for (const [side, run] of [...sides.slice(first), ...sides.slice(0, first)]) {
        const start = performance.now();
        const found = await run();
        if (round > 0) measured[at][side].push(performance.now() - start);
        if (side !== 'part') counts[at][side] = found;
      }
      if (each.scan && counts[at].tool !== counts[at].ripgrep)
        throw new Error(`${each.name}: ${counts[at].tool} matches, and ${counts[at].ripgrep} by ripgrep`);
    }
  }
} finally {
  agent.destroy();
  await server.stop();
  progress('');
}

const results = CASES.map(({ name, scan }, at) => {
  const { tool, ripgrep, part } = measured[at];
  return {
    name,
    scan: scan === true,
    matches: counts[at],
    milliseconds: { tool: median(tool), ripgrep: median(ripgrep), ...(part.length > 0 && { part: median(part) }) },
    ratio: medianRatio(tool, ripgrep),
  };
});
const worst = Math.max(...results.filter(({ scan }) => scan).map(({ ratio }) => ratio));
report(
  how,
  { rounds: how.rounds, results, worst, budget: BUDGET },
  `${how.rounds} rounds, node_modules of this repository\n\n${table(
    ['', 'matches', 'of', 'search tool', 'ripgrep', 'ripgrep, as many matches', 'tool to ripgrep'],
    results.map(({ name, matches, milliseconds, ratio }) => [
      name,
      whole(matches.tool),
      whole(matches.ripgrep),
      ms(milliseconds.tool),
      ms(milliseconds.ripgrep),
      milliseconds.part === undefined ? '' : ms(milliseconds.part),
      times(ratio),
    ]),
  )}\n\nSearches of the whole tree: at most ${times(worst)} ripgrep, ${worst <= BUDGET ? 'within' : 'OVER'} the budget of ${times(BUDGET)}.`,
);
if (worst > BUDGET) process.exitCode = 1;

/**
 * Searches page by page, and says how many matches there were.
 * @param {{pattern: string, literal: boolean, scan?: boolean, pages?: number}} search
 */
async function searchByTool({ pattern, literal, scan, pages = Number.POSITIVE_INFINITY }) {
  const most = scan ? Number.POSITIVE_INFINITY : how.matches;
  let found = 0;
  let page = 0;
  let cursor;
  do {
    const args = { pattern, literal, ...(cursor && { cursor }) };
    const result = await call(server.url, modern('tools/call', { name: 'search', arguments: args }), agent);
    if (result.isError) throw new Error(result.content[0].text);
    found += result.structuredContent.matches.length;
    cursor = result.structuredContent.nextCursor;
    page++;
  } while (cursor !== undefined && page < pages && found < most);
  return found;
}

/**
 * Runs ripgrep as one would by hand, into a pipe, and counts lines. Ends it after `limit` lines.
 * @param {{pattern: string, literal: boolean}} search
 * @param {number} limit
 */
async function searchByCommand({ pattern, literal }, limit) {
  const flags = ['--no-config', '--no-ignore', '-n', ...(literal ? ['-F'] : []), '-e', pattern, '.'];
  const child = spawn(rgPath, flags, { cwd: FOLDER, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  let lines = 0;
  for await (const chunk of child.stdout) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    if (lines >= limit) break;
  }
  child.kill();
  await closed;
  return lines;
}
