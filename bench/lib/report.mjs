/** Prints results: tables for people, or JSON. */
import { machine } from './system.mjs';

/** @param {number | undefined} bytes */
export const mib = (bytes) => (bytes === undefined ? 'n/a' : `${(bytes / 1024 ** 2).toFixed(1)} MiB`);

/** @param {number} milliseconds */
export const ms = (milliseconds) => `${milliseconds.toFixed(milliseconds < 10 ? 2 : 1)} ms`;

/** @param {number} ratio */
export const times = (ratio) => (Number.isNaN(ratio) ? 'n/a' : `${ratio.toFixed(2)} x`);

/** @param {number} value */
export const whole = (value) => Math.round(value).toLocaleString('en');

/**
 * Aligned columns that are a Markdown table as well; all but the first are numbers, to the right.
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
export function table(head, rows) {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column].length), 3));
  /** @param {readonly string[]} cells */
  const line = (cells) =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/**
 * Prints the results: JSON as it is, or the text below the machine.
 * @param {{json: boolean, quick: boolean}} how
 * @param {object} results
 * @param {string} text
 */
export function report(how, results, text) {
  if (how.json) console.log(JSON.stringify({ machine: machine(), quick: how.quick, ...results }, undefined, 2));
  else console.log(`${machine()}${how.quick ? '; a quick run' : ''}\n\n${text}`);
}

/**
 * Says what is going on, to people only.
 * @param {string} text
 */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
