import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/e2e/folders.ts';
import { knownServers } from './known-servers.ts';

const NAMES = 'mcpServers, servers, context_servers, mcp, mcp_servers, extensions';

describe('a file of --mcp-config', () => {
  it.each([
    ['mine.json', '{"mcpServers": {"one": {"command": "x"}}}'],
    ['mcp.json', '{"servers": {"one": {"type": "stdio", "command": "x"}}}'],
    ['settings.json', '{"context_servers": {"one": {"command": "x"}}}'],
    ['opencode.jsonc', '{"mcp": {"one": {"type": "local", "command": ["x"]}}} // opencode'],
    ['config.toml', '[mcp_servers.one]\ncommand = "x"\n'],
    ['config.yaml', 'extensions:\n  one: { type: stdio, cmd: x }\n'],
  ])('%s may be written as its host writes it', async (name, text) => {
    await using folder = await temporaryFolder({ [name]: text });
    expect(await knownServers(folder.at(name))).toMatchObject([{ name: 'one', kind: 'stdio', scope: 'named' }]);
  });

  it.each(['{}', '[]', '{"server": {"one": {"command": "x"}}}', '{"mcpServers": []}', '{"mcpServers": "one"}'])(
    'with the text %s is refused with the sections that it may have',
    async (text) => {
      await using folder = await temporaryFolder({ 'mine.json': text });
      await expect(knownServers(folder.at('mine.json'))).rejects.toThrow(
        `mine.json: it has no section in which a host keeps its servers: ${NAMES}`,
      );
    },
  );
});
