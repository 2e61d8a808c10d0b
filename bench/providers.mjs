/**
 * Each provider beside the native client that does the same in the same process: a page of 100 entries, and one resource of
 * about 1 KiB. Both sides work on the same data, `AT_A_TIME` calls at once, in short turns one after the other.
 */
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { options } from './lib/options.mjs';
import { progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';
import { AT_A_TIME, BYTES, ENTRIES, rate } from './lib/turns.mjs';

const PROVIDERS = ['files', 'memory', 'sqlite', 'postgres', 'mysql', 's3', 'command', 'git', 'http'];

const how = options('providers', 'How many lists and reads each provider and its native client make per second.', {
  rounds: { type: 'number', default: 15, quick: 2, help: 'turns of each side, interleaved; medians are shown' },
  ms: { type: 'number', default: 250, quick: 40, help: 'milliseconds of one turn, at least' },
  only: { type: 'string', help: `some of ${PROVIDERS.join(',')}` },
});

const wanted = how.only?.split(',') ?? PROVIDERS;
const unknown = wanted.filter((/** @type {string} */ name) => !PROVIDERS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there are ${PROVIDERS.join(', ')}`);
  process.exit(2);
}

/** Imports from the build that is measured. */
const load = (/** @type {string} */ path) => import(pathToFileURL(join(dirname(how.cli), '..', path)).href);

/** The fewest and the most entries or bytes that a call may return: some providers generate a little text around the content. */
const LIMITS = { list: { least: ENTRIES, most: ENTRIES }, read: { least: BYTES, most: BYTES + 256 } };

const results = [];
const leftOut = [];
for (const name of wanted) {
  const program = await found(name);
  const reason = typeof program === 'string' ? program : program.missing?.();
  if (reason === undefined) results.push(...(await measured(name, program)));
  else leftOut.push(`${name}: ${reason}`);
}
progress('');

const lines = table(
  ['per second', 'Vitrine', 'native', 'Vitrine to native'],
  results.map(({ name, what, client, ours, native, ratio }) => [
    `${name}: ${what}${client === undefined ? '' : `, beside ${client}`}`,
    whole(ours),
    native === undefined ? '' : whole(native),
    ratio === undefined ? '' : times(ratio),
  ]),
);
const missing = leftOut.map((line) => `\nLeft out. ${line}`).join('');
report(
  how,
  { rounds: how.rounds, ms: how.ms, atATime: AT_A_TIME, results, leftOut },
  `${how.rounds} rounds of turns of ${how.ms} ms, ${AT_A_TIME} at a time; list: ${ENTRIES} entries, read: about ${BYTES} bytes\n\n${lines}${missing && `\n${missing}`}`,
);

/** The program of a provider, or why there is none: its client may not be installed. */
async function found(name) {
  try {
    return await import(`./providers/${name}.mjs`);
  } catch (error) {
    const reason = /^Cannot find package '[^']*'/.exec(error.message)?.[0];
    if (reason === undefined) throw error;
    return reason;
  }
}

async function measured(name, { open, client }) {
  progress(`${name}: is made ready`);
  const { turns, close } = await open(load);
  try {
    const rows = [];
    for (const [what, { before, ours, native }] of Object.entries(turns)) {
      const limits = { ms: how.ms, ...LIMITS[what.startsWith('list') ? 'list' : 'read'] };
      const sides = [
        { before, work: ours, rates: [] },
        { work: native, rates: [] },
      ];
      // The first time warms both up.
      for (let round = -1; round < how.rounds; round++) {
        progress(`${name}: ${what}, round ${round + 1} of ${how.rounds}`);
        // Neither is always the first.
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          if (side.work === undefined) continue;
          await side.before?.();
          const perSecond = await rate(side.work, limits);
          if (round >= 0) side.rates.push(perSecond);
        }
      }
      const [mine, theirs] = sides.map(({ rates }) => rates);
      const beside = native && { client, native: median(theirs), ratio: medianRatio(mine, theirs) };
      rows.push({ name, what, ours: median(mine), ...beside });
    }
    return rows;
  } finally {
    await close();
  }
}
