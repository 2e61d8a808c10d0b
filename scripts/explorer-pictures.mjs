/**
 * Makes the pictures of the explorer in docs/assets: the main views of the museum, light and dark, in Chromium. Needs `dist`, the packages
 * of the tests, and `chromium` on the path.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PORT = 8939;

/** The name and the address of each view, and the selector of an element that must be there. */
const VIEWS = [
  ['image', '/view/museum+file/collection/clocks/carriage-clock.png', '.case img'],
  ['grid', '/view/museum+file/collection/clocks/hands.gif?layout=grid', '.tile img'],
  ['markdown', '/view/museum+file/collection/clocks/index.md?layout=columns', '.prose'],
  ['search', '/search?q=clock', '.found mark'],
  ['template', `/?template=${encodeURIComponent('registrar+sqlite:///objects/{accession}')}`, '.field input'],
];

const args = ['dist/cli/main.js', 'serve', 'examples/vitrine.yaml', '--http', String(PORT)];
const server = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
await once(server.stdout, 'data');
const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 720 } });
  for (const [name, path, ready] of VIEWS) {
    await page.goto(`http://127.0.0.1:${PORT}${path}`);
    await page.locator(ready).first().waitFor();
    await page.locator('.wire .state:not(.away)').waitFor();
    // A palette of a few colours is enough, and makes the file a third as large.
    const picture = sharp(await page.screenshot()).png({ palette: true, colours: 128, effort: 10 });
    await picture.toFile(`${ROOT}docs/assets/explorer-${name}-${colorScheme}.png`);
  }
}
await browser.close();
server.kill();
