/** Processes that share the texts of documents in a folder: each text is made once, and given only to callers who may have it. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Skill, SkillResource } from '../../src/protocol/skills.ts';
import { scene } from '../../src/testing/git-scene.ts';
import { failure } from '../e2e/answers.ts';
import type { Folder } from '../e2e/folders.ts';
import {
  type AnsweringServer,
  LETTER,
  LETTER_WORD,
  officeFolder,
  PLAIN,
  REPORT,
  REPORT_WORD,
  startAnswering,
} from './answering.ts';

/** Makes settings. Servers with the same settings share their answers; another call makes another key. */
const sharing = () => ({ keys: [randomBytes(32).toString('base64')], answers: { folder: './cache' } });

const found = { vitrine_answers_result: 'found' };

async function answersIn(folder: Folder): Promise<readonly string[]> {
  const names = await readdir(folder.at('cache'));
  // Leases come and go.
  return names.filter((name) => name.endsWith('.answer')).map((name) => folder.at('cache', name));
}

describe('servers over one folder of answers', () => {
  it('convert a document once, even after a restart, and a changed one again', async () => {
    await using folder = await officeFolder();
    const shared = sharing();
    await using one = await startAnswering(folder, shared);
    await using other = await startAnswering(folder, shared);
    const conversions = () => Promise.all([one, other].map((each) => each.metric('vitrine_forms_conversions_total')));
    const report = await one.text(REPORT);
    expect(report).toContain(REPORT_WORD);
    await one.kept(1);
    expect(await other.text(REPORT)).toBe(report);
    expect(await conversions()).toEqual([1, 0]);
    expect(await other.metric('vitrine_answers_asked_total', found)).toBe(1);

    const letter = await other.text(LETTER);
    expect(letter).toContain('Tuesday');
    await other.kept(1);
    expect(await one.text(LETTER)).toBe(letter);
    expect(await conversions()).toEqual([1, 1]);
    const written = await readFile(folder.at('office', 're-the-clock.eml'), 'utf8');
    // The number of bytes is the same as before.
    await folder.write('office/re-the-clock.eml', written.replace('Tuesday', 'Sundays'));
    for (const each of [one, other]) expect(await each.text(LETTER)).toContain('Sundays');

    await one.serving.kill();
    await using again = await startAnswering(folder, shared);
    expect(await again.text(REPORT)).toBe(report);
    expect(await again.text(LETTER)).toContain('Sundays');
    expect(await again.metric('vitrine_forms_conversions_total')).toBe(0);
    expect(await again.metric('vitrine_answers_state', { vitrine_answers_state: 'whole' })).toBe(1);
  });

  it('convert a document once if all of them need it at the same moment', async () => {
    await using folder = await officeFolder();
    const shared = sharing();
    await using one = await startAnswering(folder, shared);
    await using other = await startAnswering(folder, shared);
    const documents = ['conservation-report.pdf', 'loan-agreement.docx', 'visitors.xlsx', 'a-short-history.epub'];
    const uris = documents.map((name) => `office+file:///${name}`);
    const texts = await Promise.all([one, other].map((each) => Promise.all(uris.map((uri) => each.text(uri)))));
    expect(texts[0]).toEqual(texts[1]);
    const conversions = await Promise.all([one, other].map((each) => each.metric('vitrine_forms_conversions_total')));
    expect((conversions[0] ?? 0) + (conversions[1] ?? 0)).toBe(documents.length);
  });

  it('store nothing readable, in files of one user, and share nothing with a server that has another key', async () => {
    await using folder = await officeFolder();
    await using one = await startAnswering(folder, sharing());
    expect(await one.text(REPORT)).toContain(REPORT_WORD);
    expect(await one.text(LETTER)).toContain(LETTER_WORD);
    await one.kept(2);
    const files = await answersIn(folder);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(file.slice(folder.at('cache').length)).not.toMatch(PLAIN);
      expect(await readFile(file, 'latin1')).not.toMatch(PLAIN);
      if (process.platform !== 'win32') expect((await stat(file)).mode & 0o077).toBe(0);
    }
    if (process.platform !== 'win32') expect((await stat(folder.at('cache'))).mode & 0o077).toBe(0);
    await using stranger = await startAnswering(folder, sharing());
    expect(await stranger.text(REPORT)).toContain(REPORT_WORD);
    expect(await stranger.metric('vitrine_forms_conversions_total')).toBe(1);
  });

  it('share the digests of skills in git, by the hash of each file', async () => {
    await using work = await scene();
    await mkdir(`${work.directory}/winding`);
    await work.write('winding/SKILL.md', '---\nname: winding\ndescription: Winds clocks\n---\n');
    await work.write('winding/drawing.bin', Buffer.alloc(300_000, 'first'));
    work.commit('A skill');
    await using folder = await officeFolder();
    const config = { ...sharing(), mounts: { work: { git: work.directory, skills: ['HEAD/*'] } } };
    const digestAt = async (server: AnsweringServer): Promise<unknown> => {
      const { skills } = await server.request<{ skills: readonly Skill[] }>('skills/list');
      return skills
        .flatMap(({ resources }) => resources as readonly SkillResource[])
        .find(({ size }) => size === 300_000)?.digest;
    };
    await using one = await startAnswering(folder, config);
    const first = await digestAt(one);
    expect(first).toBe(`sha256:${createHash('sha256').update(Buffer.alloc(300_000, 'first')).digest('hex')}`);
    await one.kept(1);
    await using other = await startAnswering(folder, config);
    expect(await digestAt(other)).toBe(first);
    expect(await other.metric('vitrine_answers_asked_total', found)).toBe(1);
    await work.write('winding/drawing.bin', Buffer.alloc(300_000, 'other'));
    work.commit('Another drawing');
    await using again = await startAnswering(folder, config);
    const changed = await digestAt(again);
    expect(changed).toBe(`sha256:${createHash('sha256').update(Buffer.alloc(300_000, 'other')).digest('hex')}`);
  });

  it('make a truncated answer again, and count it as damaged', async () => {
    await using folder = await officeFolder();
    const shared = sharing();
    await using one = await startAnswering(folder, shared);
    const report = await one.text(REPORT);
    await one.kept(1);
    for (const file of await answersIn(folder)) await truncate(file, 100);
    await using other = await startAnswering(folder, shared);
    expect(await other.text(REPORT)).toBe(report);
    expect(await other.metric('vitrine_answers_damaged_total')).toBe(1);
    await other.kept(1);
  });

  it('give nothing that their own rules forbid, and cover what their own settings cover', async () => {
    await using folder = await officeFolder();
    const shared = sharing();
    const letter = await readFile(folder.at('office', 're-the-clock.eml'), 'utf8');
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    await folder.write('office/re-the-clock.eml', letter.replace('The curator', `The curator, with ${secret}`));
    await using open = await startAnswering(folder, shared);
    expect(await open.text(REPORT)).toContain(REPORT_WORD);
    expect(await open.text(LETTER)).toContain(secret);
    await open.kept(2);
    const rules = [{ effect: 'allow', who: 'anyone', uris: ['office+file:///*.eml'] }];
    await using strict = await startAnswering(folder, { ...shared, access: { rules }, redact: 'on' });
    expect((await failure(strict.text(REPORT))).message).not.toContain(REPORT_WORD);
    expect(await strict.metric('vitrine_answers_asked_total')).toBe(0);
    const covered = await strict.text(LETTER);
    expect(covered).toContain('The curator, with');
    expect(covered).not.toContain(secret);
    expect(await strict.metric('vitrine_answers_asked_total', found)).toBe(1);
    expect(await strict.metric('vitrine_forms_conversions_total')).toBe(0);
  });
});
