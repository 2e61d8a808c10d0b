/** Vitrine with a tool that takes its time. Argument, in JSON: `{library, capacity, workMs}`. Prints its URL. */
import { setTimeout as pause } from 'node:timers/promises';

const { library, capacity, workMs } = JSON.parse(process.argv[2]);
const { createVitrine, defineTool, serveHttp } = await import(library);

const work = defineTool({
  name: 'work',
  inputSchema: { type: 'object' },
  async run() {
    await pause(workMs);
    return 'done';
  },
});
const vitrine = createVitrine({ mounts: [], tools: [work], resourceTools: false, limits: { maxConcurrent: capacity } });
const serving = await serveHttp(vitrine, { port: 0 });
console.log(serving.url);
process.once('SIGTERM', async () => {
  await serving.close();
  await vitrine.close();
});
