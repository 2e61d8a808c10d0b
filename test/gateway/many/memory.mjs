/** Loaded into a server with `--expose-gc --import`: on a message it clears away what is not held and says what is left. */
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ held: heapUsed + external, resident: rss });
});
// The server ends when it has nothing else to do.
process.channel?.unref();
