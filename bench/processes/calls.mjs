/**
 * Loaded into a server with `--import`. Counts the calls of the server's functions since the last message, and sends them with
 * source file and name.
 */
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folder of the server's own code. Calls in its dependencies do not count. */
const BUILT = new URL('../', pathToFileURL(process.argv[1] ?? '')).href;

const session = new Session();
session.connect();

/** For each built file, a function from an offset to the file of the source. @type {Map<string, (offset: number) => string | undefined>} */
const built = new Map();

/** @param {string} url */
function sourceOf(url) {
  const cached = built.get(url);
  if (cached !== undefined) return cached;
  const file = fileURLToPath(url);
  // Helpers of the bundler have no source.
  if (!existsSync(`${file}.map`)) return () => undefined;
  const starts = [0, ...[...readFileSync(file, 'utf8').matchAll(/\n/g)].map(({ index }) => index + 1)];
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  /** @param {number} offset */
  const found = (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    const entry = map.findEntry(line, offset - (starts[line] ?? 0));
    const source = 'originalSource' in entry ? entry.originalSource : undefined;
    return source === undefined ? undefined : /(?:^|\/)src\/(.*)$/.exec(source)?.[1];
  };
  built.set(url, found);
  return found;
}

/** The functions that ran since the last message. */
async function calls() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const found = [];
  for (const { url, functions } of result) {
    if (!url.startsWith(BUILT)) continue;
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset }] = ranges;
      if (count === 0) continue;
      const file = sourceOf(url)(startOffset);
      if (file !== undefined) found.push({ file, name: functionName || '(anonymous)', at: startOffset, count });
    }
  }
  return found;
}

process.on('message', async (what) => {
  if (what === 'begin') {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await calls();
    process.send?.('begun');
  } else process.send?.(await calls());
});
// The server ends when it has nothing else to do.
process.channel?.unref();
