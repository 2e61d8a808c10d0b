/** Serves the skills of the folder in the first argument over standard input and output, by the official SDK. */
import { McpServer } from '@modelcontextprotocol/server';
import { loadSkills } from '@modelcontextprotocol/server/ext/skills/node';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const skills = await loadSkills(process.argv[2] ?? '.');
serveStdio(() => {
  const mcp = new McpServer({ name: 'catalogue', version: '1' });
  skills.attach(mcp);
  return mcp;
});
