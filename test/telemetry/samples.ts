/** Reads `/metrics` as Prometheus does. */
import { expect } from 'vitest';
import type { Observed } from './engine.ts';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The text format, version 0.0.4. Fails at an invalid line. */
function parse(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line): Sample[] => {
    if (line === '' || /^# (HELP|TYPE|UNIT) [a-zA-Z_:]/.test(line)) return [];
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) throw new Error(`no line of the format: ${line}`);
    const labels = [...(found[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [
      {
        name: found[1] ?? '',
        labels: Object.fromEntries(labels.map(([, key, value]) => [key, value])),
        value: Number(found[3]),
      },
    ];
  });
}

export async function samplesOf(on: Pick<Observed, 'get'>): Promise<readonly Sample[]> {
  const response = await on.get('/metrics');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return parse(await response.text());
}

export function total(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found.reduce((sum, { value }) => sum + value, 0);
}
