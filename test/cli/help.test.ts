/** The help of the command. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { vitrine } from './run.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe.concurrent('help', () => {
  it.each([[['--help']], [['-h']], [['help']], [[]]])('is printed by vitrine %j', async (args) => {
    const { status, stdout, stderr } = await vitrine(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: vitrine/);
    expect(stdout).toMatch(/serve .*serve folders, files and other MCP servers/);
    expect(stdout).toMatch(/check .*without serving/);
  });

  it.each([[['serve', '--help']], [['help', 'serve']]])('of serve is printed by vitrine %j', async (args) => {
    const { status, stdout, stderr } = await vitrine(args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const option of [
      '--http [address]',
      '--name <name>',
      '--config <file>',
      '--mcp-config <file>',
      '--allow-remote',
      '--allow-host',
      '--allow-origin',
      '--log-level',
    ])
      expect(stdout).toContain(option);
    expect(stdout).toContain('Examples:\n  vitrine ./docs ');
    expect(stdout).toContain('127.0.0.1:8931');
  });

  it('of check is printed by vitrine check --help', async () => {
    const { status, stdout } = await vitrine(['check', '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('--config <file>');
    expect(stdout).toContain('--mcp-config <file>');
  });

  it('fits a terminal of 120 columns', async () => {
    for (const args of [['--help'], ['serve', '--help'], ['check', '--help']]) {
      const { stdout } = await vitrine(args);
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    }
  });

  it.each(['--version', '-V'])('prints the version of the package with %s', async (flag) => {
    expect(await vitrine([flag])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});
