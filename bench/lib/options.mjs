/** Reads the flags of a benchmark: those that all benchmarks take, and its own. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const COMMON = {
  cli: { type: 'string', default: CLI, help: 'another build of the command line, to compare builds' },
  json: { type: 'boolean', default: false, help: 'print JSON' },
  quick: { type: 'boolean', default: false, help: 'a short run, to see that it works; its numbers say little' },
  help: { type: 'boolean', default: false, help: 'this text' },
};

/**
 * Reads flags. Flags of type `number` are checked; `quick` gives the defaults of a short run.
 *
 * @param {string} name of the program
 * @param {string} about what it measures, in one line
 * @param {Record<string, {type: 'number' | 'boolean' | 'string', default?: number | boolean, quick?: number, help: string}>} own
 * @returns {any}
 */
export function options(name, about, own) {
  const all = { ...own, ...COMMON };
  const { values } = parseArgs({
    options: Object.fromEntries(
      Object.entries(all).map(([flag, { type }]) => [flag, { type: type === 'boolean' ? 'boolean' : 'string' }]),
    ),
  });
  if (values.help) {
    console.log(`node bench/${name}.mjs\n\n${about}\n`);
    for (const [flag, { help, default: value }] of Object.entries(all)) {
      const shown = value === undefined || value === false || flag === 'cli' ? '' : ` (${value})`;
      console.log(`  --${flag.padEnd(14)} ${help}${shown}`);
    }
    process.exit(0);
  }
  /** @type {any} */
  const read = Object.fromEntries(
    Object.entries(all).map(([flag, option]) => {
      const given = values[flag];
      if (given === undefined) return [flag, values.quick && 'quick' in option ? option.quick : option.default];
      if (option.type !== 'number') return [flag, given];
      const number = Number(given);
      if (!Number.isInteger(number) || number < 1) fail(`--${flag} takes a whole number of at least 1, not "${given}"`);
      return [flag, number];
    }),
  );
  read.cli = resolve(read.cli);
  if (!existsSync(read.cli)) fail(`There is no ${read.cli}; build it with npm ci, or with npm run build`);
  return read;
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(2);
}
