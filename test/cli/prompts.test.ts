/** `vitrine check` of prompts, and of mounts that depend on the client. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { MUSEUM_CONFIG } from '../e2e/harness.ts';
import { vitrine } from './here.ts';

describe.concurrent('vitrine check of prompts', () => {
  let folder: Folder;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'good/a.md': '---\nname: first\n---\nA',
      'good/b.md': 'B',
      'bad/fine.md': 'Fine',
      'bad/label.md': '---\ntitle: Label\n---\nOne\n{{objekt}}',
      'twice/a.md': 'A',
      'twice/b.md': '---\nname: a\n---\nB',
      'docs/a.md': 'A',
    });
    for (const name of ['good', 'bad', 'twice', 'gone']) {
      await folder.write(`${name}.yaml`, `mounts:\n  docs: ./docs\nprompts: ./${name}\n`);
    }
    await folder.write('roots.yaml', 'mounts:\n  docs: { path: ./docs, roots: client }\n');
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  it('names the prompts', async () => {
    expect(await vitrine(['check', '--config', folder.at('good.yaml')])).toEqual({
      status: 0,
      stdout: 'ok  docs  docs+file:///  1 entries\nok  prompts  first, b\n',
      stderr: '',
    });
    expect((await vitrine(['check', '--config', MUSEUM_CONFIG])).stdout).toContain(
      'ok  prompts  compare-rooms, describe-object, plan-a-visit\n',
    );
  });

  it.each([
    ['bad', 'A prompt would be left out: label.md:5: "objekt" is not an argument of this prompt; it declares none'],
    ['twice', 'A prompt would be left out: a: two prompts have one name'],
  ])('says what is wrong: %s', async (name, line) => {
    const checked = await vitrine(['check', '--config', folder.at(`${name}.yaml`)]);
    expect(checked).toMatchObject({ status: 2, stderr: `vitrine: ${line}\n` });
  });

  it('says that the folder of prompts is missing', async () => {
    const checked = await vitrine(['check', '--config', folder.at('gone.yaml')]);
    expect(checked).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^vitrine: There is no file/),
    });
  });

  it('shows all of a mount that roots restrict', async () => {
    expect(await vitrine(['check', '--config', folder.at('roots.yaml')])).toMatchObject({
      status: 0,
      stdout: 'ok  docs  docs+file:///  1 entries\n',
    });
  });
});
