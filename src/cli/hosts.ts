/** What to paste into a host so that it finds the server. */

/** For a server that is reached over HTTP. */
export function httpSnippets(name: string, url: string): string {
  const quoted = JSON.stringify(url);
  return [
    `  Claude Code      claude mcp add --transport http ${name} ${url}`,
    `  VS Code          .vscode/mcp.json      { "servers": { "${name}": { "type": "http", "url": ${quoted} } } }`,
    `  Cursor           .cursor/mcp.json      { "mcpServers": { "${name}": { "url": ${quoted} } } }`,
    `  Claude Desktop   Settings > Connectors reaches public servers only; for a local one start Vitrine over stdio`,
    `  Anything else    Streamable HTTP at ${url}`,
  ].join('\n');
}

/** For a server that a host starts by itself. */
export function stdioSnippets(name: string, args: readonly string[]): string {
  const entry = JSON.stringify({ command: 'npx', args: ['-y', 'vitrine', 'serve', ...args] });
  return [
    `  Claude Code      claude mcp add ${name} -- npx -y vitrine serve ${args.map(shellWord).join(' ')}`,
    `  Claude Desktop   claude_desktop_config.json   { "mcpServers": { "${name}": ${entry} } }`,
    `  VS Code          .vscode/mcp.json             { "servers": { "${name}": ${entry} } }`,
    `  Cursor           .cursor/mcp.json             { "mcpServers": { "${name}": ${entry} } }`,
  ].join('\n');
}

const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
