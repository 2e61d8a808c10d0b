/** A `SKILL.md` gives its front matter as it was written, or says what is wrong with it. */
import { describe, expect, it } from 'vitest';
import { skillFrontmatterOf } from './skill.ts';
import { SkillFault, skillFolderOf } from './skill-entry.ts';

const URI = 'file:///skills/refunds/SKILL.md';
const read = (text: string, uri = URI) => skillFrontmatterOf(uri, new TextEncoder().encode(text));
const head = (yaml: string): string => `---\n${yaml}\n---\n\n# Text\n`;

describe('a SKILL.md', () => {
  it('gives every field as its author wrote it', async () => {
    const text = head(
      'name: refunds\ndescription: Pays back\nlicense: Apache-2.0\nsince: 2026-01-02\nmetadata:\n  version: "2.1"\n  steps: [1, two, null, true, 1.5]',
    );
    const expected = {
      name: 'refunds',
      description: 'Pays back',
      license: 'Apache-2.0',
      since: '2026-01-02',
      metadata: { version: '2.1', steps: [1, 'two', null, true, 1.5] },
    };
    expect(await read(text)).toEqual(expected);
    expect(await read(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual(expected);
  });

  it.each([
    ['# Text', /does not begin with front matter/],
    ['---\nname: refunds\n', /no end/],
    [head('name: [refunds'), /line 2/],
    [head('- refunds'), /not a mapping/],
    [head('description: Pays back'), /no name/],
    [head('name: 7\ndescription: Pays back'), /no name/],
    [head('name: a/refunds\ndescription: Pays back'), /is not one/],
    [head('name: Refunds\ndescription: Pays back'), /is not one/],
    [head('name: re--funds\ndescription: Pays back'), /is not one/],
    [head('name: payments\ndescription: Pays back'), /its folder is called "refunds"/],
    [head('name: refunds'), /no description/],
    [head('name: refunds\ndescription: " "'), /no description/],
    [head(`name: refunds\ndescription: ${'x'.repeat(1_025)}`), /more than 1024 characters/],
    [head('name: refunds\nname: refunds\ndescription: Pays back'), /there twice/],
    [head('name: refunds\ndescription: Pays back\nrate: .inf'), /"rate" has a value that JSON does not have/],
    [head('name: refunds\ndescription: Pays back\nrate: &rate [*rate, *rate]'), /"rate" has .* more than 64 levels/],
    [head(`name: refunds\ndescription: Pays back\nrate: ${'['.repeat(400)}1${']'.repeat(400)}`), /more than 64 levels/],
    [head('name: refunds\ndescription: Pays back\nrate: !!binary aGk='), /"rate" has a value that JSON does not have/],
    [head('name: refunds\ndescription: Pays back\nrate: !!set {x}'), /"rate" has a value that JSON does not have/],
    [head(`name: refunds\ndescription: Pays back\nx: ${'[a, '.repeat(5_000)}`), /more than 16384 characters/],
  ])('is refused with what is wrong: %j', async (text, reason) => {
    const error: unknown = await read(text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SkillFault);
    expect((error as SkillFault).message).toMatch(reason);
  });

  it('is refused where it is not UTF-8', async () => {
    await expect(skillFrontmatterOf(URI, Uint8Array.of(0x2d, 0x2d, 0x2d, 0xff))).rejects.toThrow('it is not UTF-8');
  });

  it('has a folder, whose URI ends without a slash', () => {
    expect(skillFolderOf('docs+file:///a/b/SKILL.md')).toBe('docs+file:///a/b');
    expect(skillFolderOf('file:///a/skill.md')).toBeUndefined();
    expect(skillFolderOf('file:///a/b/notSKILL.md')).toBeUndefined();
  });
});
