/** `vitrine serve` prints where it serves, and reads its configuration. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { MUSEUM, startHttp } from '../e2e/harness.ts';
import { startProgram } from '../e2e/programs.ts';
import { http } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { vitrine } from './run.ts';

/** A kind of data whose module does something when it is loaded. */
const kindThat = (statement: string): string => `
${statement};
const list = async () => ({ resources: [] });
const create = () => ({ name: 'odd', features: { schemes: ['odd'] }, list, metadata: list, read: list });
export default { name: 'odd', settings: { type: 'object' }, create };
`;

const withKind = async (statement: string) => {
  const folder = await temporaryFolder({ 'odd.mjs': kindThat(statement) });
  return { folder, config: await writeConfig(folder, { kinds: ['./odd.mjs'], mounts: { it: { kind: 'odd' } } }) };
};

describe('vitrine serve --http', () => {
  it('prints what is served, where, and what to type for each host', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': '', 'my data/b.md': '' });
    await using server = await startHttp([folder.at('docs'), folder.at('my data'), '--name', 'team']);
    const text = server.output();
    expect(text).toContain('serves "team"');
    expect(text).toMatch(/^ {2}docs {5}docs\+file:\/\/\/$/m);
    expect(text).toMatch(/^ {2}my-data {2}my-data\+file:\/\/\/$/m);
    expect(text).toContain(`Endpoint: ${server.url}`);
    expect(text).toContain(` add claude-code --url ${server.url}\n`);
    for (const host of ['vs-code', 'cursor', 'codex', 'claude-desktop', 'Streamable HTTP'])
      expect(text).toContain(host);
    expect(text).toContain('Ctrl+C stops it.');
  });

  it('sends no path of the machine to clients', async () => {
    await using server = await startHttp([MUSEUM]);
    const { text } = await http(new URL('/healthz', server.url).href, { method: 'GET' });
    expect(text).not.toContain('/museum');
  });

  it('takes hosts and origins from the configuration and from the command line together', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': '' });
    const server = { allowHosts: ['one.example'], allowOrigins: ['https://one.example'] };
    const config = await writeConfig(folder, { server, mounts: { docs: './docs' } });
    const flags = [
      '--allow-host',
      'two.example',
      '--allow-host',
      'three.example',
      '--allow-origin',
      'https://two.example',
    ];
    await using listening = await startHttp(['--config', config, ...flags]);
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await http(listening.url, { method: 'GET', headers })).status;
    for (const host of ['one.example', 'two.example', 'three.example']) expect(await status({ host })).not.toBe(403);
    expect(await status({ host: 'four.example' })).toBe(403);
    for (const origin of ['https://one.example', 'https://two.example']) expect(await status({ origin })).not.toBe(403);
    expect(await status({ origin: 'https://three.example' })).toBe(403);
  });
});

describe('vitrine serve --workers', () => {
  it('passes on the output of another worker when the one that printed has ended', async () => {
    const { folder, config } = await withKind(
      "setInterval(() => console.log('printed by ' + process.pid), 20).unref()",
    );
    await using _ = folder;
    await using server = await startProgram(['--config', config, '--workers', '2']);
    const printers = (): ReadonlySet<string> => new Set(server.output().match(/(?<=printed by )\d+/g));
    const [first] = await until(() => printers().size > 0 && printers(), 'the output of a worker');
    process.kill(Number(first), 'SIGKILL');
    await until(() => printers().size > 1, 'the output of another worker');
  });

  it('fails if a signal ends the first worker before it serves', async () => {
    const { folder, config } = await withKind("process.kill(process.pid, 'SIGKILL')");
    await using _ = folder;
    const { status, stdout, stderr } = await vitrine(['serve', '--config', config, '--http', '0', '--workers', '2']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ msg: 'the first worker was ended before it served', signal: 'SIGKILL' });
  });
});
