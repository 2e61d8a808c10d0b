/** What to paste into a host so that it finds the server. */

/** For a server that is reached over HTTP. */
export function httpSnippets(name: string, url: string): string {
  const key = JSON.stringify(name);
  const quoted = JSON.stringify(url);
  return [
    `  Claude Code      claude mcp add --transport http ${shellWord(name)} ${url}`,
    `  VS Code          .vscode/mcp.json      { "servers": { ${key}: { "type": "http", "url": ${quoted} } } }`,
    `  Cursor           .cursor/mcp.json      { "mcpServers": { ${key}: { "url": ${quoted} } } }`,
    `  Claude Desktop   Settings > Connectors reaches public servers only; for a local one start Vitrine over stdio`,
    `  Anything else    Streamable HTTP at ${url}`,
  ].join('\n');
}

/** For a server that a host starts by itself. */
export function stdioSnippets(name: string, args: readonly string[]): string {
  const [command, ...before] = startCommand(process.argv[1]);
  const words = [...before, 'serve', ...args];
  const key = JSON.stringify(name);
  const entry = JSON.stringify({ command, args: words });
  return [
    `  Claude Code      claude mcp add ${shellWord(name)} -- ${[command, ...words].map(shellWord).join(' ')}`,
    `  Claude Desktop   claude_desktop_config.json   { "mcpServers": { ${key}: ${entry} } }`,
    `  VS Code          .vscode/mcp.json             { "servers": { ${key}: ${entry} } }`,
    `  Cursor           .cursor/mcp.json             { "mcpServers": { ${key}: ${entry} } }`,
  ].join('\n');
}

/** What starts this very program again: from a clone its file, from npx's cache npx. */
function startCommand(script: string | undefined): readonly [string, ...string[]] {
  return script === undefined || /[\\/]_npx[\\/]/.test(script) ? ['npx', '-y', 'vitrine'] : ['node', script];
}

const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
