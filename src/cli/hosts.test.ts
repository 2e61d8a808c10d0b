import { describe, expect, it } from 'vitest';
import { addedWith, addOverHttp, startCommand } from './hosts.ts';

describe('the command for a host', () => {
  it('is split by a shell into the same words', () => {
    const url = 'http://127.0.0.1:1/mcp';
    expect(addOverHttp(url)).toMatch(/^ {2}\S+ \S+ add claude-code --url http:\/\/127\.0\.0\.1:1\/mcp$/m);
    expect(addOverHttp(url)).toContain(`Streamable HTTP at ${url}`);
    expect(addedWith(['/plain/path', "/it's here"])).toMatch(/ add claude-code \/plain\/path '\/it'\\''s here'$/m);
  });

  it('starts this program again: with its file from a clone, with npx from the cache of npx, and through cmd on Windows', () => {
    expect(startCommand('/clone/dist/cli/main.js')).toEqual([process.execPath, '/clone/dist/cli/main.js']);
    expect(startCommand('/h/.npm/_npx/1/node_modules/.bin/vitrine', 'linux')).toEqual(['npx', '-y', 'vitrine']);
    expect(startCommand('C:\\npm-cache\\_npx\\1\\main.js', 'win32')).toEqual(['cmd', '/c', 'npx', '-y', 'vitrine']);
  });
});
