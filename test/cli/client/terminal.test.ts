/** The terminal gets colour and images, but no escape sequence of a server. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { abilitiesFor } from '../../../src/cli/client/answers.ts';
import { imageEscape, imageProtocol } from '../../../src/cli/client/printing/images.ts';
import { createOutput } from '../../../src/cli/client/printing/output.ts';
import { createSecrets } from '../../../src/config/secrets.ts';
import { CLI } from '../../e2e/harness.ts';
import { within } from '../../e2e/waiting.ts';
import { ODD } from './odd.ts';

const HAS_SCRIPT = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;
if (!HAS_SCRIPT && process.env.CI === 'true') throw new Error('There is no script(1) of util-linux to make a terminal');
if (!HAS_SCRIPT) console.warn('left out: there is no script(1) of util-linux to make a terminal');

/**
 * Runs commands on a terminal. Returns all that the terminal gets, with the status of each command.
 * @param answers the answers that the user types, by question
 */
async function onTerminal(
  commands: readonly string[],
  env: object = {},
  answers: readonly (readonly [question: string, answer: string])[] = [],
): Promise<string> {
  const line = commands.map((command) => `"${process.execPath}" "${CLI}" ${command}; echo "[$?]"`).join('; ');
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '', TMUX: '', TERM_PROGRAM: '', ...env },
  });
  let shown = '';
  const left = [...answers];
  child.stdout.on('data', (part: Buffer) => {
    shown += part.toString();
    const [next] = left;
    if (next === undefined || !shown.includes(next[0])) return;
    left.shift();
    child.stdin.write(`${next[1]}\n`);
  });
  await within(once(child, 'close'), 'the end of the terminal');
  return shown.replaceAll('\r\n', '\n');
}

/** Matches colours and the clearing of the progress line: the only escape sequences that these commands may send. */
const OWN = /\u001b\[(?:1|2|22|3[0-79])m|\r\u001b\[K/g;
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e]/;

describe.runIf(HAS_SCRIPT)('on a terminal', () => {
  it('output has colour, and no text of a server acts on the terminal', async () => {
    const odd = `'${ODD}'`;
    const commands = ['ls -l', 'stat --json', 'tools'].map((each) => {
      const [command, ...flags] = each.split(' ');
      return [command, odd, ...flags].join(' ');
    });
    const shown = await onTerminal([...commands, `cat ${odd} odd:///evil`, `cat ${odd} odd:///rude`]);
    expect(shown).toContain('\u001b[32m   14\u001b[39m');
    expect(shown.match(/\[0\]/g)).toHaveLength(4);
    expect(shown).toContain('before31m after\n');
    expect(shown).toMatch(/It broke.*\n\[1\]/);
    expect(shown.replace(OWN, '')).not.toMatch(HARMFUL);
  });

  it('NO_COLOR turns colour off; binary contents need --force; images are described, or shown if the terminal can', async () => {
    const odd = `'${ODD}'`;
    const commands = [
      `ls -l ${odd}`,
      `cat ${odd} odd:///bytes`,
      `cat ${odd} odd:///dot.png`,
      `cat ${odd} odd:///bytes --force`,
    ];
    const shown = await onTerminal(commands, { NO_COLOR: '1' });
    expect(shown).not.toContain('\u001b[3');
    expect(shown).toMatch(/odd:\/\/\/bytes: application\/octet-stream, 6 bytes that are not text; .* --force\n\[1\]/);
    expect(shown).toMatch(/image\/png, 1 x 1, 67 bytes\n\[0\]/);
    expect(shown).toContain('\u0000\u0001\u0002');
    expect(await onTerminal([`cat ${odd} odd:///dot.png`], { KITTY_WINDOW_ID: '1' })).toMatch(
      /\u001b_Ga=T,f=100,q=2,m=0;iVBORw0[A-Za-z0-9+/=]+\u001b\\\n\[0\]/,
    );
  });

  it('the user answers a question of the server', async () => {
    const shown = await onTerminal([`call '${ODD}' ask`], {}, [
      ['color (text): ', 'blue'],
      ['Send this? [y/N] ', 'y'],
    ]);
    expect(shown).toMatch(/asks: Which color\?evil/);
    expect(shown).toContain('{"action":"accept","content":{"color":"blue"}}');
    expect(shown.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '')).not.toContain('\u001b]0;');
  });
});

describe('images', () => {
  it.each<[Record<string, string>, string | undefined]>([
    [{}, undefined],
    [{ TERM: 'xterm-kitty' }, 'kitty'],
    [{ TERM_PROGRAM: 'ghostty' }, 'kitty'],
    [{ TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
    [{ TERM_PROGRAM: 'WezTerm', TMUX: '/tmp/x' }, undefined],
  ])('are sent to terminals of %j as %s', (env, protocol) => {
    expect(imageProtocol(env)).toBe(protocol);
  });

  it('whose bytes are no image are not sent', async () => {
    const data = Buffer.from('\u001b]0;owned\u0007').toString('base64');
    expect(await imageEscape({ mimeType: 'image/png', data }, { TERM: 'xterm-kitty' })).toBeUndefined();
    expect(await imageEscape({ mimeType: 'image/svg+xml', data }, { TERM: 'xterm-kitty' })).toBeUndefined();
  });
});

it('sampling is declared only if a user can answer [SEC-SAMP-1]', () => {
  const output = createOutput({}, createSecrets());
  const offered = (ask?: () => Promise<string>) =>
    abilitiesFor(output, { label: 'x', roots: [] }, ask).clientOptions?.capabilities;
  expect(offered(async () => 'y')).toHaveProperty('sampling');
  output.close();
});
