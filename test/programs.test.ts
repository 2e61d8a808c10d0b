/** The programs of the examples do what they show: each asserts it, and ends by itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDER = new URL('../examples/programs/', import.meta.url);
const PROGRAMS = readdirSync(FOLDER).sort();

/** The most lines of a program that somebody reads before writing one. */
const MAX_LINES = 40;

it.each(PROGRAMS)('%s is short', (name) => {
  const text = readFileSync(new URL(name, FOLDER), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES);
});

it.each(PROGRAMS.filter((name) => !name.endsWith('.test.ts')))('%s holds what it asserts', async (name) => {
  await import(new URL(name, FOLDER).href);
});
