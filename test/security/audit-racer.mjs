/** Opens the audit file that it is told on standard input, when it is told, and says whether it got it. */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { createVitrine } = await import(pathToFileURL(process.argv[2]).href);
let vitrine;
process.stdout.write('ready\n');
for await (const file of createInterface({ input: process.stdin })) {
  if (file === 'close') {
    await vitrine?.close();
    vitrine = undefined;
    process.stdout.write('closed\n');
    continue;
  }
  try {
    vitrine = createVitrine({ mounts: [], audit: { file } });
    process.stdout.write('writes\n');
  } catch (error) {
    process.stdout.write(`refused: ${error.message}\n`);
  }
}
