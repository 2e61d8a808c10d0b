/** Publishing a release with programs that only write down what they are asked: a second run publishes what the first one left. */
import { execFile } from 'node:child_process';
import { chmod, readFile, rm } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from './e2e/folders.ts';

const MODULE = new URL('../scripts/release/publish.mjs', import.meta.url).href;
const VERSION = '1.2.3';
const IMAGE = `ghcr.io/vitrine-mcp/vitrine:${VERSION}`;
const ORIGINAL = 'the bundle of the first run';

/** Each program notes what it publishes as an empty file, and fails as long as there is a file `broken/<program>`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  npm: `
case "$1" in
  view) test -e published/npm && echo ${VERSION}; test ! -e unknown ;;
  publish) publishes npm ;;
esac`,
  docker: `
case "$1" in
  manifest) test -e published/docker && echo '{}' ;;
  buildx) publishes docker ;;
esac`,
  gh: `
case "$2" in
  view) if test -e published/gh; then echo false; else test -e draft && echo true; fi ;;
  create) publishes gh ;;
  download) printf '${ORIGINAL}' > "$6" ;;
esac`,
  'mcp-publisher': 'publishes mcp-publisher; cp "$2" registered',
  curl: 'test -e published/mcp-publisher && echo "{}"',
};

const shell = (name: string, script: string): string => `#!/bin/sh
publishes() { echo "$1" >> run; test ! -e "broken/$1" || exit 1; : > "published/$1"; }
echo "${name} $*" >> asked
${script}
`;

async function world(): Promise<Folder> {
  const folder = await temporaryFolder({
    'published/': '',
    'broken/': '',
    '.release/': '',
    'b.mcpb': 'a bundle',
    ...Object.fromEntries(Object.entries(PROGRAMS).map(([name, script]) => [`bin/${name}`, shell(name, script)])),
  });
  for (const name of Object.keys(PROGRAMS)) await chmod(folder.at('bin', name), 0o755);
  return folder;
}

/** Publishes once. Returns whether that succeeded, what ran, and what was printed. */
async function publish(folder: Folder, dryRun = false, path = `${folder.at('bin')}${delimiter}${process.env.PATH}`) {
  await folder.write('run', '');
  await folder.write('asked', '');
  const script = `
    import { copyFileSync } from 'node:fs';
    import { publish } from ${JSON.stringify(MODULE)};
    const files = { tarball: 'a.tgz', bundle: 'b.mcpb', sbom: 'c.json' };
    const writeServer = () => copyFileSync(files.bundle, '.release/server.json');
    const names = { name: 'vitrine', version: '${VERSION}', image: '${IMAGE}', server: 'io.github.a/b' };
    publish({ root: process.cwd(), ...names, files, writeServer }, ${dryRun});`;
  const env = { ...process.env, PATH: path };
  const done = await new Promise<{ readonly failed: boolean; readonly stdout: string }>((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { cwd: folder.path, env }, (error, stdout) =>
      resolve({ failed: error !== null, stdout }),
    );
  });
  const lines = async (name: string) => (await readFile(folder.at(name), 'utf8')).split('\n').slice(0, -1);
  return { ...done, ran: await lines('run'), asked: await lines('asked') };
}

const ALL = ['npm', 'docker', 'gh', 'mcp-publisher'];

describe('publishing a release', () => {
  it('publishes everything once, in the order of dependencies', async () => {
    await using folder = await world();
    expect(await publish(folder)).toMatchObject({ failed: false, ran: ALL });
    const again = await publish(folder);
    expect(again).toMatchObject({ failed: false, ran: [] });
    expect(again.stdout).not.toContain('Running:');
    expect(again.stdout.match(/^Published already: /gm)).toHaveLength(ALL.length);
  });

  it.each(ALL)('goes on in a second run where %s failed in the first', async (broken) => {
    await using folder = await world();
    await folder.write(`broken/${broken}`, '');
    const at = ALL.indexOf(broken);
    expect(await publish(folder)).toMatchObject({ failed: true, ran: ALL.slice(0, at + 1) });
    await rm(folder.at('broken', broken));
    expect(await publish(folder)).toMatchObject({ failed: false, ran: ALL.slice(at) });
    expect(await publish(folder)).toMatchObject({ failed: false, ran: [] });
  });

  it('registers the bundle that is on the page, which a second run may make with other bytes', async () => {
    await using folder = await world();
    await folder.write('broken/mcp-publisher', '');
    await folder.write('b.mcpb', ORIGINAL);
    expect(await publish(folder)).toMatchObject({ failed: true });
    await rm(folder.at('broken/mcp-publisher'));
    await folder.write('b.mcpb', 'other bytes');
    expect(await publish(folder)).toMatchObject({ failed: false, ran: ['mcp-publisher'] });
    expect(await readFile(folder.at('registered'), 'utf8')).toBe(ORIGINAL);
  });

  it('takes neither a draft of the page nor other versions of the package for published', async () => {
    await using folder = await world();
    await folder.write('draft', '');
    // Then npm does not know the package at all, which is an error of `npm view`.
    await folder.write('unknown', '');
    expect(await publish(folder)).toMatchObject({ failed: false, ran: ALL });
  });

  it('asks for exactly this version of each part', async () => {
    await using folder = await world();
    const { asked } = await publish(folder);
    expect(asked).toEqual([
      `npm view vitrine@${VERSION} version`,
      'npm publish a.tgz',
      `docker manifest inspect ${IMAGE}`,
      expect.stringContaining(`--tag ${IMAGE} --push .`),
      `gh release view v${VERSION} --json isDraft --jq .isDraft`,
      expect.stringContaining(`gh release create v${VERSION} a.tgz b.mcpb c.json`),
      expect.stringContaining(`/v0.1/servers/io.github.a%2Fb/versions/${VERSION}`),
      'mcp-publisher publish .release/server.json',
    ]);
  });

  it('stops where a program is missing', async () => {
    await using folder = await world();
    await rm(folder.at('bin/docker'));
    const { failed, ran } = await publish(folder, false, folder.at('bin'));
    expect({ failed, ran }).toEqual({ failed: true, ran: ['npm'] });
  });

  it('asks and runs nothing in a dry run', async () => {
    await using folder = await world();
    const { failed, ran, asked, stdout } = await publish(folder, true);
    expect({ failed, ran, asked }).toEqual({ failed: false, ran: [], asked: [] });
    expect(stdout.match(/^Left out: /gm)).toHaveLength(ALL.length);
  });
});
