/** The files of `examples/deploy` name existing things, and fit each other. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';

const read = (name: string): Promise<string> =>
  readFile(new URL(`../../examples/deploy/${name}`, import.meta.url), 'utf8');

it('the composition gives the configuration its references, and the proxy the served port', async () => {
  const compose = parse(await read('compose.yaml'));
  const { vitrine } = compose.services;
  expect(vitrine.deploy.replicas).toBe(3);
  const env = {
    VITRINE_KEYS: randomBytes(32).toString('base64'),
    BUS_PASSWORD: 'abc',
    METRICS_TOKEN: 'a-token-for-the-scraper',
  };
  expect(Object.keys(vitrine.environment)).toEqual([...Object.keys(env), 'XDG_CACHE_HOME']);
  const config = parseConfig(await read('vitrine.yaml'), 'vitrine.yaml', { env });
  expect(config.bus).toBe('redis://:abc@valkey:6379');
  expect(vitrine.command.join(' ')).toContain(':8931');
  expect(await read('Caddyfile')).toContain('vitrine 8931');
  expect(await read('vitrine.service')).toContain('--workers auto');
});
