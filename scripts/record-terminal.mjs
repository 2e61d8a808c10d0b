/**
 * Draws docs/assets/terminal.svg: runs the commands below in examples/, and draws their output. With `--check` it only compares the
 * picture with the output. Run `npm run build` before.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const PICTURE = fileURLToPath(new URL('../docs/assets/terminal.svg', import.meta.url));
/** The port that the picture shows. The commands really use a free port. */
const PORT = 8931;
/** The most milliseconds that one command may run. */
const TIME_LIMIT = 60_000;

/** The arguments of each command, and the number of shown lines of its output. */
const COMMANDS = [
  { args: ['./museum', './registrar.sqlite'], prompt: 'npx vitrine', until: /^Endpoint: / },
  { args: ['cat', './museum', 'office/conservation-report.pdf', '--accept', 'text/markdown'], lines: 8 },
  { args: ['cat', './registrar.sqlite', 'makers/1', '--accept', 'text/markdown'], lines: 7 },
  { args: ['grep', './museum', 'Pencilled'], lines: 1 },
];

const lines = [];
for (const { args, prompt = 'vitrine', until, lines: shown } of COMMANDS) {
  if (lines.length > 0) lines.push({ text: '' });
  lines.push({ prompt: '$ ', text: `${prompt} ${args.join(' ')}` });
  const printed = until === undefined ? output(args).slice(0, shown) : await beginning(args, until);
  if (printed.length === 0) throw new Error(`vitrine ${args.join(' ')} printed nothing`);
  lines.push(...printed.map((text) => ({ text, answer: true })));
}
const picture = draw(lines);
if (!process.argv.includes('--check')) writeFileSync(PICTURE, picture);
else if (readFileSync(PICTURE, 'utf8') !== picture) {
  console.error('docs/assets/terminal.svg is not what the commands print; npm run picture draws it again');
  process.exitCode = 1;
}

function output(args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    cwd: EXAMPLES,
    encoding: 'utf8',
    timeout: TIME_LIMIT,
  });
  if (status !== 0) throw new Error(`vitrine ${args.join(' ')} failed: ${stderr}`);
  return stdout.trimEnd().split('\n');
}

/** Runs a server. @returns its output up to a line */
async function beginning(args, until) {
  const server = spawn(process.execPath, [CLI, 'serve', ...args, '--port', '0'], {
    cwd: EXAMPLES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => server.kill('SIGKILL'), TIME_LIMIT);
  const printed = [];
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      printed.push(line.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${PORT}`));
      if (until.test(line)) return printed;
    }
    throw new Error('The server ended before it was there');
  } finally {
    clearTimeout(timer);
    server.kill('SIGINT');
  }
}

function draw(rows) {
  const [left, top, height, width] = [24, 60, 20, 860];
  const text = rows.map(({ prompt, text, answer }, row) => {
    const start = prompt === undefined ? '' : `<tspan fill="#d1a851">${prompt}</tspan>`;
    const colour = answer ? '#a9bac6' : '#f4efe4';
    return `  <text x="${left}" y="${top + row * height}" fill="${colour}" xml:space="preserve">${start}${escaped(text)}</text>`;
  });
  const whole = top + rows.length * height + 8;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" role="img" aria-labelledby="title" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">`,
    '  <title id="title">Vitrine serves a folder and a database, and reads a PDF, a row and a line of them in a terminal</title>',
    `  <rect width="${width}" height="${whole}" rx="10" fill="#18222c"/>`,
    ...['#d1765f', '#d1a851', '#7fa87a'].map(
      (fill, at) => `  <circle cx="${28 + at * 20}" cy="24" r="6" fill="${fill}"/>`,
    ),
    ...text,
    '</svg>',
    '',
  ].join('\n');
}

function escaped(text) {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);
}
