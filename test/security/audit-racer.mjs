/** Opens each audit file that a line of standard input names, and prints whether it may write the file. */
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
