/** `vitrine tools`, `call` and `prompts`. */
import { describe, expect, it } from 'vitest';
import { ODD, UNSAFE } from './odd.ts';
import { run } from './run.ts';

/** A reference to an environment variable. Biome would report it in a plain string. */
const REFERENCE = ['$', '{ODD_SECRET}'].join('');

describe('tools', () => {
  it('are listed with their arguments, from all pages, and described', async () => {
    const [all, one, data, missing] = await Promise.all([
      run(['tools', ODD]),
      run(['tools', ODD, 'echo']),
      run(['tools', ODD, '--json']),
      run(['tools', ODD, 'ecko']),
    ]);
    expect(all).toMatchObject({ status: 0, stderr: '' });
    expect(all.stdout).toMatch(/^echo\(text, count\?, tags\?\) {2}Says what it is told\./);
    expect(all.stdout).toMatch(/^fail\(\)$/m);
    expect(all.stdout + one.stdout + data.stdout).not.toMatch(UNSAFE);
    expect(one.stdout).toContain('The server says of it: readOnlyHint: yes');
    expect(one.stdout).toContain('text string\n      The words');
    expect(JSON.parse(data.stdout)).toHaveLength(4);
    expect(missing).toMatchObject({ status: 3, stdout: '' });
    expect(missing.stderr).toContain('did you mean "echo"?');
  });
});

describe('call', () => {
  it('converts arguments to the types of the tool, and prints every kind of block', async () => {
    const args = [
      '--arg',
      'text=1',
      '--arg',
      'count=2',
      '--arg',
      'tags=a',
      '--arg',
      'tags=b',
      '--arg',
      'other={"x":1}',
    ];
    const { status, stdout, stderr } = await run(['call', ODD, 'echo', ...args]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).not.toMatch(UNSAFE);
    const [given = '', image, link, resource, first, second, unheard] = stdout.split('\n');
    expect(JSON.parse(given)).toEqual({ text: '1', count: 2, tags: ['a', 'b'], other: { x: 1 } });
    expect(image).toBe('[image/png, 67 bytes; --json has them]');
    expect(link).toMatch(/^odd:\/\/\/plain\.txt {2}evil/);
    expect([resource, first, second]).toEqual(['odd:///plain.txt', 'one', 'two']);
    expect(unheard).toBe('{"type":"unheard-of","value":1}');
  });

  it('names the missing arguments, with their types and descriptions', async () => {
    const [none, other] = await Promise.all([
      run(['call', ODD, 'echo', '--arg', 'count=1']),
      run(['call', ODD, 'echo', '--input', '{"__proto__": {"text": "x"}}']),
    ]);
    for (const { status, stdout, stderr } of [none, other]) {
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toBe('vitrine: The tool "echo" needs text (string: The words); give it as in --arg text=...\n');
    }
  });

  it('takes arguments as JSON, and prints the whole answer unchanged', async () => {
    const { status, stdout } = await run(['call', ODD, 'echo', '--input', '{"text": "given"}', '--json']);
    expect(status).toBe(0);
    const { content } = JSON.parse(stdout) as { readonly content: readonly { readonly text?: string }[] };
    expect(content[0]?.text).toBe('{"text":"given"}\u001b[5m');
    expect(content).toHaveLength(5);
  });

  it('declines questions of the server without a terminal [SEC-SAMP-1]', async () => {
    const { status, stdout, stderr } = await run(['call', ODD, 'ask']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '{"action":"decline"}\n' });
    expect(stderr).toMatch(/^vitrine: .*a question was declined: no-consent\n$/);
  });

  it('says that a tool failed, and what is wrong with the arguments', async () => {
    const [failed, wrong, type, pair] = await Promise.all([
      run(['call', ODD, 'fail']),
      run(['call', ODD, 'echo', '--input', '[1]']),
      run(['call', ODD, 'echo', '--arg', 'count=many']),
      run(['call', ODD, 'echo', '--arg', 'count']),
    ]);
    expect(failed).toMatchObject({ status: 1, stdout: 'It cannot be done\n' });
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(type.stderr).toBe('vitrine: --arg count: the tool wants integer, and "many" is none\n');
    expect([type.status, pair.status]).toEqual([2, 2]);
  });

  it('gives a program only the environment that was meant for it', async () => {
    const asked = (name: string, ...more: string[]) =>
      run(['call', ODD, 'environment', '--arg', `name=${name}`, ...more], { ODD_SECRET: 'not for all' });
    const [none, given, referred] = await Promise.all([
      asked('ODD_SECRET'),
      asked('ODD_GIVEN', '--env', 'ODD_GIVEN=a=b'),
      asked('ODD_GIVEN', '--env', `ODD_GIVEN=${REFERENCE}`),
    ]);
    expect([none.stdout, given.stdout, referred.stdout]).toEqual(['undefined\n', 'a=b\n', 'not for all\n']);
  });
});

it('prompts are listed, and got with their arguments [SEC-PROMPT-4]', async () => {
  const [all, one, data, missing, unknown] = await Promise.all([
    run(['prompts', ODD]),
    run(['prompts', ODD, 'greet', '--arg', 'who=you']),
    run(['prompts', ODD, 'greet', '--arg', 'who=you', '--json']),
    run(['prompts', ODD, 'greet']),
    run(['prompts', ODD, 'greed']),
  ]);
  expect(all.stdout).toMatch(/^greet\(who\) {2}evil/);
  expect(one.stdout).toBe('user:\nHello you\n');
  expect(all.stdout + one.stdout).not.toMatch(UNSAFE);
  expect(JSON.parse(data.stdout)).toMatchObject({ messages: [{ role: 'user' }] });
  expect(missing).toMatchObject({ status: 2, stderr: 'vitrine: The prompt "greet" needs --arg who=...\n' });
  expect(unknown.status).toBe(3);
});
