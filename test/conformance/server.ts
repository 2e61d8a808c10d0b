/**
 * The server that the official conformance suite is run against, made of nothing but what the package exports.
 * `node test/conformance/server.ts` (Node 22.18 or newer) prints its endpoint; `npm run conformance` starts it and runs the
 * suite. With `BUS` and `KEYS` in the environment it is one of several replicas.
 */
import { createVitrine, type Log, redisBus, serveHttp } from 'vitrine';
import { askingTools } from './asking-tools.ts';
import { prompts, promptTrigger } from './prompts.ts';
import { resources } from './resources.ts';
import { skills } from './skills.ts';
import { tools } from './tools.ts';

const say =
  (level: string): Log['info'] =>
  (message, facts) =>
    process.stderr.write(`${level} ${message} ${JSON.stringify(facts ?? {}, (_, value) => shown(value))}\n`);

const shown = (value: unknown): unknown => (value instanceof Error ? (value.stack ?? value.message) : value);

const log: Log = { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error') };

const { BUS, KEYS = '', PORT = '0' } = process.env;
const keys = BUS === undefined ? undefined : [Buffer.from(KEYS, 'base64')];
const bus = BUS === undefined || keys === undefined ? undefined : await redisBus({ url: BUS, keys, log });

const vitrine = createVitrine({
  server: { name: 'vitrine-conformance', title: 'Vitrine under test' },
  mounts: [
    { name: 'conformance', provider: resources, prefix: 'none' },
    { name: 'skills', provider: skills, prefix: 'none', skills: true },
  ],
  tools: [...tools, ...askingTools, promptTrigger],
  prompts: [prompts],
  keys,
  bus,
});

const serving = await serveHttp(vitrine, { port: Number(PORT), resume: { retryMs: 500 }, log });
process.stdout.write(`${serving.url}\n`);

const stop = async (): Promise<void> => {
  await serving.close();
  await vitrine.close();
  await bus?.close();
};
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
