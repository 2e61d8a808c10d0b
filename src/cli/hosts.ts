/** How a host is told of the server: what to type. */

/** For a server that is reached over HTTP. */
export const addOverHttp = (url: string): string => `${addedWith(['--url', url])}
  anything else that speaks MCP: Streamable HTTP at ${url}`;

/** For a server that a host starts by itself. @param args of `vitrine serve` */
export const addedWith = (args: readonly string[]): string => {
  const [program, ...words] = startCommand(process.argv[1]);
  const line = [program === process.execPath ? 'node' : program, ...words, 'add', 'claude-code', ...args];
  return `  ${line.map(shellWord).join(' ')}
  or vs-code, cursor, codex, claude-desktop and others in the place of claude-code: vitrine add --help`;
};

/** Returns the command that starts this program again: from a clone node with its script, from npx's cache npx. */
export function startCommand(script: string | undefined, platform = process.platform): readonly [string, ...string[]] {
  if (script !== undefined && !/[\\/]_npx[\\/]/.test(script)) return [process.execPath, script];
  // There npx is a script of the shell, which not every host starts by its name.
  return platform === 'win32' ? ['cmd', '/c', 'npx', '-y', 'vitrine'] : ['npx', '-y', 'vitrine'];
}

const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
