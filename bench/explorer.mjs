/**
 * Measures the explorer in Chromium: how many bytes are loaded until it can be used, and how long that takes, compared with the
 * web client of the MCP Inspector; a folder of very many entries; and the end of a very large log. Needs the `chromium` of the
 * system; the Inspector is fetched into a temporary folder.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { configuration, temporaryFolder } from './lib/folders.mjs';
import { options } from './lib/options.mjs';
import { startServer } from './lib/processes.mjs';
import { ms, progress, report, table, times, whole } from './lib/report.mjs';
import { median, medianRatio } from './lib/stats.mjs';

const how = options('explorer', 'The explorer in Chromium, compared with the web client of the MCP Inspector.', {
  rounds: { type: 'number', default: 9, quick: 2, help: 'loads of each, interleaved; medians are shown' },
  entries: { type: 'number', default: 100_000, quick: 10_000, help: 'files of the large folder' },
  mebibytes: { type: 'number', default: 1_024, quick: 64, help: 'size of the log' },
});
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** The most milliseconds that this program waits for an element of a page. */
const PATIENCE = 120_000;
/** The height of a row of the explorer, and the way of one turn of the wheel, in pixels. */
const ROW = 32;
const TURN = 4_000;
/** The turns of the wheel from the first row of the large folder to the last. */
const TURNS = Math.ceil((how.entries * ROW) / TURN);
const LAST_LINE = 'all clocks wound';

const folder = temporaryFolder();
makeFiles();
const server = await startServer([how.cli, 'serve', '--config', configuration(folder), '--http', '0'], {});
const origin = new URL(server.url).origin;
const inspector = await serveInspector();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});

/** @type {{ ours: Load[], theirs: Load[] }} @typedef {{ usable: number, bytes: number, parts: number }} Load */
const loads = { ours: [], theirs: [] };
const many = [];
const ends = [];
let scrolled;
try {
  for (let round = 0; round <= how.rounds; round++) {
    progress(`round ${round} of ${how.rounds}`);
    const sides = [
      ['ours', () => load(`${origin}/view/file/few`, '.island .row a')],
      ['theirs', () => load(inspector.url, '#root button')],
    ];
    for (const [side, run] of round % 2 === 0 ? sides : sides.toReversed()) {
      const loaded = await run();
      // The first round fills the caches of the system.
      if (round > 0) loads[side].push(loaded);
    }
    const rows = await firstRows();
    const end = await endOfLog();
    if (round === 0) continue;
    many.push(rows);
    ends.push(end);
  }
  scrolled = await scroll();
} finally {
  await browser.close();
  inspector.close();
  await server.stop();
  progress('');
}

const of = (side, what) => loads[side].map((each) => each[what]);
const results = {
  load: {
    bytes: {
      ours: median(of('ours', 'bytes')),
      theirs: median(of('theirs', 'bytes')),
      ratio: medianRatio(of('ours', 'bytes'), of('theirs', 'bytes')),
    },
    usable: {
      ours: median(of('ours', 'usable')),
      theirs: median(of('theirs', 'usable')),
      ratio: medianRatio(of('ours', 'usable'), of('theirs', 'usable')),
    },
  },
  folder: {
    entries: how.entries,
    afterAnswer: median(many.map(({ afterAnswer }) => afterAnswer)),
    sinceOpened: median(many.map(({ sinceOpened }) => sinceOpened)),
    elements: scrolled.elements,
    longest: scrolled.longest,
  },
  log: { mebibytes: how.mebibytes, end: median(ends) },
};
const { load: loaded, folder: large, log } = results;
report(
  how,
  results,
  [
    table(
      ['first load', 'explorer', 'MCP Inspector', 'ratio'],
      [
        [
          'gzipped',
          `${whole(loaded.bytes.ours)} bytes`,
          `${whole(loaded.bytes.theirs)} bytes`,
          times(loaded.bytes.ratio),
        ],
        ['until it can be used', ms(loaded.usable.ours), ms(loaded.usable.theirs), times(loaded.usable.ratio)],
      ],
    ),
    table(
      [`a folder of ${whole(large.entries)} entries`, ''],
      [
        ['first rows after the answer', ms(large.afterAnswer)],
        ['first rows after it was opened', ms(large.sinceOpened)],
        ['elements of the page, at most', whole(large.elements)],
        ['longest task while it is scrolled through', large.longest === 0 ? 'none of 50 ms' : ms(large.longest)],
      ],
    ),
    table([`a log of ${whole(log.mebibytes)} MiB`, ''], [['its end is shown after', ms(log.end)]]),
  ].join('\n\n'),
);

function makeFiles() {
  for (const name of ['few', 'many', 'logs']) mkdirSync(join(folder, name));
  for (let at = 0; at < 100; at++) writeFileSync(join(folder, 'few', `note-${at}.md`), `# ${at}\n`);
  for (let at = 0; at < how.entries; at++)
    writeFileSync(join(folder, 'many', `entry-${String(at).padStart(6, '0')}.txt`), '');
  const path = join(folder, 'logs', 'turnstile.log');
  writeFileSync(path, '');
  truncateSync(path, how.mebibytes * 1024 ** 2);
  const file = openSync(path, 'r+');
  // Only the end of the file, which the explorer shows, has lines. The rest is a hole (zero bytes).
  const lines = Array.from(
    { length: 50_000 },
    (_, at) => `2026-07-28T09:${at % 60}:00Z visitor ${at} by the north gate\n`,
  );
  const last = `\n${lines.join('')}2026-07-28T18:00:00Z ${LAST_LINE}\n`;
  writeSync(file, last, how.mebibytes * 1024 ** 2 - last.length);
}

/** Serves the files of the Inspector, as any web server would. The Inspector is not connected to an MCP server. */
async function serveInspector() {
  progress(`fetching ${INSPECTOR}`);
  const prefix = temporaryFolder();
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', prefix, INSPECTOR], {
    stdio: 'ignore',
  });
  const files = join(prefix, 'node_modules/@modelcontextprotocol/inspector/clients/web/dist');
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = join(files, pathname === '/' ? 'index.html' : pathname);
    if (!existsSync(path)) return void response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' });
    createReadStream(path).pipe(response);
  });
  await new Promise((listens) => http.listen(0, '127.0.0.1', listens));
  return { url: `http://127.0.0.1:${http.address().port}/`, close: () => http.close(), files };
}

/** Loads a page in a new browser context, without any cache, and measures it. @returns {Promise<Load>} */
async function load(address, selector) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const bodies = [];
  page.on('response', (response) => {
    if (['document', 'script', 'stylesheet'].includes(response.request().resourceType()))
      bodies.push(response.body().catch(() => Buffer.alloc(0)));
  });
  await page.goto(address);
  await page.locator(selector).first().waitFor({ timeout: PATIENCE });
  const usable = await page.evaluate(() => performance.now());
  const bytes = (await Promise.all(bodies)).map((body) => gzipSync(body, { level: 9 }).byteLength);
  await context.close();
  return { usable, bytes: bytes.reduce((sum, each) => sum + each, 0), parts: bytes.length };
}

/**
 * Measures the milliseconds until the first rows of the large folder are shown: since the last answer before them, and since the
 * page was opened.
 */
async function firstRows() {
  const page = await started();
  await page.goto(`${origin}/view/file/many`);
  await page.locator('.island .row', { hasText: 'entry-000000.txt' }).waitFor({ timeout: PATIENCE });
  const seen = await page.evaluate(() => ({
    shown: globalThis.shown,
    answers: performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('/mcp'))
      .map(({ responseEnd }) => responseEnd),
  }));
  await page.context().close();
  const before = seen.answers.filter((each) => each > 0 && each <= seen.shown);
  return { sinceOpened: seen.shown, afterAnswer: seen.shown - Math.max(...before) };
}

/** Scrolls from the first row of the large folder to the last with the wheel. */
async function scroll() {
  const page = await started();
  await page.goto(`${origin}/view/file/many`);
  await page
    .locator('.foot', { hasText: `${whole(how.entries)} entries` })
    .filter({ hasNotText: 'coming' })
    .waitFor({ timeout: PATIENCE });
  await page
    .locator('.island .sheet')
    .first()
    .hover({ position: { x: 100, y: 100 } });
  let elements = 0;
  const begun = await page.evaluate(() => performance.now());
  for (let turn = 0; turn < TURNS; turn++) {
    await page.mouse.wheel(0, TURN);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    elements = Math.max(elements, await page.evaluate(() => document.querySelectorAll('*').length));
  }
  const tasks = await page.evaluate(() => globalThis.tasks);
  await page.context().close();
  const longest = Math.max(0, ...tasks.filter(({ startTime }) => startTime >= begun).map(({ duration }) => duration));
  return { elements, longest };
}

async function endOfLog() {
  const page = await started();
  await page.goto(`${origin}/view/file/logs/turnstile.log`);
  await page.locator('#thing pre', { hasText: LAST_LINE }).waitFor({ timeout: PATIENCE });
  const shown = await page.evaluate(() => performance.now());
  await page.context().close();
  return shown;
}

/** A page that notes when the first row is drawn by the script, and tasks of 50 ms and more. */
async function started() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) =>
      globalThis.tasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration }))),
    ).observe({ type: 'longtask', buffered: true });
    new MutationObserver(() => {
      if (globalThis.shown === undefined && document.querySelector('.island .row a') !== null)
        globalThis.shown = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
  return page;
}
