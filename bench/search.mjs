/**
 * All that is measured of search, one after the other: lines by pattern beside ripgrep, the speed of ranked search beside its
 * rivals, and what it finds beside them. Arguments, such as `--quick`, go to each.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startNode } from './lib/processes.mjs';

for (const name of ['lines', 'ranked', 'finding']) {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const child = startNode([file, ...process.argv.slice(2)]);
  child.stdout.pipe(process.stdout, { end: false });
  const [status] = await once(child, 'close');
  if (status !== 0) process.exitCode = 1;
  process.stdout.write('\n');
}
