/** Writes how to add the server to a host. */

/** The command for a server over HTTP. */
export const addOverHttp = (url: string): string => `${addedWith(['--url', url])}
  anything else that speaks MCP: Streamable HTTP at ${url}`;

/** The command for a server that a host starts itself. @param args of `vitrine serve` */
export const addedWith = (args: readonly string[]): string => {
  const [program, ...words] = startCommand(process.argv[1]);
  const line = [program === process.execPath ? 'node' : program, ...words, 'add', 'claude-code', ...args];
  return `  ${line.map(shellWord).join(' ')}
  or vs-code, cursor, codex, claude-desktop and others in the place of claude-code: vitrine add --help`;
};

/** Returns the command that starts this program again: node with its script, or npx if npx keeps the script in its cache. */
export function startCommand(script: string | undefined, platform = process.platform): readonly [string, ...string[]] {
  if (script !== undefined && !/[\\/]_npx[\\/]/.test(script)) return [process.execPath, script];
  // On Windows npx is a shell script, which some hosts cannot start by name.
  return platform === 'win32' ? ['cmd', '/c', 'npx', '-y', 'vitrine'] : ['npx', '-y', 'vitrine'];
}

const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
