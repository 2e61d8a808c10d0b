// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how references are written
import { describe, expect, it } from 'vitest';
import { ConfigError } from './error.ts';
import { hostServersOf } from './host-servers.ts';
import { type LoadOptions, parseConfig, parseHostFile } from './load.ts';
import { createSecrets } from './secrets.ts';

const ENV = { TOKEN: 'a-very-secret-token', EMPTY: '', HOST: 'api.example' };
const parse = (text: string, options: LoadOptions = { env: ENV }) => parseConfig(text, 'vitrine.yaml', options);
const parseFile = (value: unknown) => parseHostFile(JSON.stringify(value, null, 2), 'mcp.json', { env: ENV });

/** The message of the mistake. */
function mistake(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('this is valid, and should not be');
}

describe('mounts that are servers', () => {
  it('are blocks with a command or a url, or a text that is a URL', () => {
    const { mounts } = parse(`mounts:
  time: { command: uvx, args: [time-server], env: { TZ: UTC }, cwd: ./x, start: lazy, maxConnections: 3, schemes: [memo] }
  api: { url: "https://api.example/mcp", headers: { X-Key: k }, prefix: none, connections: shared, timeoutSeconds: 0.5 }
  web: https://web.example/mcp
`);
    expect(mounts.time).toEqual({
      command: 'uvx',
      args: ['time-server'],
      env: { TZ: 'UTC' },
      cwd: './x',
      start: 'lazy',
      maxConnections: 3,
      schemes: ['memo'],
    });
    expect(mounts.api).toMatchObject({ url: 'https://api.example/mcp', headers: { 'X-Key': 'k' }, prefix: 'none' });
    expect(mounts.web).toBe('https://web.example/mcp');
  });

  it.each<[string, string, string]>([
    ['a key of a program', 'command: node, arg: [x]', '2:19: unknown key "arg" in mounts.a; did you mean "args"?'],
    ['not a key of a folder', 'command: node, hiden: true', '2:19: unknown key "hiden" in mounts.a'],
    [
      'a key of an endpoint',
      'url: "http://x", header: {}',
      '2:21: unknown key "header" in mounts.a; did you mean "headers"?',
    ],
    [
      'a key that both have',
      'url: "http://x", strat: lazy',
      '2:21: unknown key "strat" in mounts.a; did you mean "start"?',
    ],
    [
      'the key that it needs',
      'comand: node, args: []',
      '2:8: unknown key "comand" in mounts.a; did you mean "command"?',
    ],
    [
      'the other one',
      'ur: "http://x", auth: {type: bearer, token: t}',
      '2:8: unknown key "ur" in mounts.a; did you mean "url"?',
    ],
    ['a key of the other kind', 'url: "http://x", args: []', '2:21: unknown key "args" in mounts.a'],
    [
      'a key of one kind of auth',
      'url: "http://x", auth: { type: client-credentials, clientID: a, clientSecret: b }',
      '2:48: unknown key "clientID" in mounts.a.auth; did you mean "clientId"?',
    ],
    [
      'two sources',
      'path: ., command: node',
      '2:14: mounts.a has path and command; a mount has one of path, command and url',
    ],
    [
      'a program and a URL',
      'url: "http://x", command: node',
      '2:21: mounts.a has command and url; a mount has one of path, command and url',
    ],
  ])('name the line and the nearest key of their own: %s', (_, block, message) => {
    const text = `mounts:\n  a: {${block}}\n`;
    expect(mistake(() => parse(text)).replace(/^vitrine\.yaml:(\d+):\d+/, '$1')).toBe(
      message.replace(/^(\d+):\d+/, '$1'),
    );
    expect(mistake(() => parse(text))).toMatch(/^vitrine\.yaml:2:\d+: /);
  });

  it.each<[string, string, RegExp]>([
    ['a scheme that is not spoken', 'url: "ftp://x/mcp"', /mounts\.a\.url: is not an http: or https: URL$/],
    ['a password in the URL', 'url: "https://me:secret@x/mcp"', /mounts\.a\.url: has a user or a password in it/],
    ['a kind of auth', 'url: "http://x", auth: { type: oath }', /mounts\.a\.auth\.type: .*/],
    [
      'authorization twice',
      'url: "http://x", headers: { authorization: a }, auth: { type: bearer, token: b }',
      /mounts\.a\.auth: The headers have an Authorization too/,
    ],
    [
      'a header with a line feed',
      'url: "http://x", headers: { a: "b\\nc" }',
      /mounts\.a\.headers\.a: has a character in it that a header cannot have$/,
    ],
    ['a start', 'command: x, start: later', /mounts\.a\.start: .*"eager"\|"lazy"/],
    ['a scheme', 'command: x, schemes: [File]', /mounts\.a\.schemes\.0: is no URI scheme/],
    ['an argument that is no text', 'command: x, args: [1]', /mounts\.a\.args\.0: .*string/],
  ])('refuse %s', (_, block, message) => {
    expect(mistake(() => parse(`mounts:\n  a: {${block}}\n`))).toMatch(message);
  });
});

describe('references to the environment', () => {
  const one = (text: string, options?: LoadOptions) =>
    (parse(`mounts:\n  a: { command: x, args: [${JSON.stringify(text)}] }\n`, options).mounts.a as { args: string[] })
      .args[0];

  it.each([
    ['${TOKEN}', 'a-very-secret-token'],
    ['Bearer ${TOKEN}!', 'Bearer a-very-secret-token!'],
    ['${env:TOKEN}', 'a-very-secret-token'],
    ['${NONE:-other}', 'other'],
    ['${EMPTY:-other}', 'other'],
    ['${EMPTY}', ''],
    ['${TOKEN:-other}', 'a-very-secret-token'],
    ['$${TOKEN}', '${TOKEN}'],
    ['$TOKEN $$ ${', '$TOKEN $$ ${'],
  ])('%s is %j', (text, value) => expect(one(text)).toBe(value));

  it('stand in every text of a server, and nowhere else', () => {
    const { mounts, server } = parse(`server: { title: "\${TOKEN}" }
mounts:
  a: { command: "\${HOST}", args: ["\${HOST}"], env: { X: "\${HOST}" }, cwd: "\${HOST}" }
  b: { url: "https://\${HOST}/mcp", headers: { X: "\${HOST}" }, auth: { type: client-credentials, clientId: "\${HOST}", clientSecret: "\${TOKEN}" } }
  c: https://\${HOST}/mcp
  d: ./\${HOST}
`);
    const { HOST } = ENV;
    expect(mounts.a).toEqual({ command: HOST, args: [HOST], env: { X: HOST }, cwd: HOST });
    expect(mounts.b).toEqual({
      url: `https://${HOST}/mcp`,
      headers: { X: HOST },
      auth: { type: 'client-credentials', clientId: HOST, clientSecret: ENV.TOKEN },
    });
    expect(mounts.c).toBe(`https://${HOST}/mcp`);
    expect(mounts.d).toBe('./${HOST}');
    expect(server?.title).toBe('${TOKEN}');
  });

  it('may be in telemetry, which has tokens too', () => {
    const { telemetry } = parse(`mounts: { a: ./a }
telemetry:
  traces: { endpoint: "https://\${HOST}/v1/traces", headers: { x-api-key: "\${TOKEN}" } }
  metrics: { prometheus: { token: "\${TOKEN}" } }
`);
    expect(telemetry).toMatchObject({
      traces: { endpoint: `https://${ENV.HOST}/v1/traces`, headers: { 'x-api-key': ENV.TOKEN } },
      metrics: { prometheus: { token: ENV.TOKEN } },
    });
  });

  it('stand in the sign-in of the explorer, which may have a secret', () => {
    const { explorer } = parse('mounts: { a: ./a }\nexplorer: { clientId: web, clientSecret: "${TOKEN}" }');
    expect(explorer).toEqual({ clientId: 'web', clientSecret: ENV.TOKEN });
  });

  it.each([
    [
      '${NONE}',
      /^vitrine\.yaml:2:\d+: mounts\.a\.args\.0: the environment variable NONE is not set; .*\$\{NONE:-default\}$/,
    ],
    ['${input:key}', /\$\{input:key\} asks the user of a host/],
    ['${workspace folder}', /is no reference to the environment/],
  ])('that lead nowhere are refused: %s', (text, message) => {
    expect(mistake(() => one(text))).toMatch(message);
  });

  it('are passed on to be hidden, and no error contains their values', () => {
    const secrets = createSecrets();
    one('${TOKEN}', { env: ENV, secrets });
    expect(secrets.hide(`Bearer ${ENV.TOKEN}, again ${ENV.TOKEN}`)).toBe('Bearer ${TOKEN}, again ${TOKEN}');
    expect(secrets.hideIn({ a: [ENV.TOKEN, 1, null], [ENV.TOKEN]: true })).toEqual({
      a: ['${TOKEN}', 1, null],
      '${TOKEN}': true,
    });
    for (const block of [
      'url: "${TOKEN}"',
      'url: "http://x", headers: { "a b": "${TOKEN}" }',
      'url: "http://x", headers: { a: "${TOKEN}\\n" }',
      'url: "https://u:${TOKEN}@x/"',
      'command: "${TOKEN}", arg: ["${TOKEN}"]',
      'command: ["${TOKEN}"]',
      'url: "http://x", auth: { type: "${TOKEN}" }',
      'url: "http://x", auth: { type: bearer, token: ["${TOKEN}"] }',
      'command: "${TOKEN}\\0"',
    ])
      expect(mistake(() => parse(`mounts:\n  a: {${block}}\n`))).not.toContain(ENV.TOKEN);
  });
});

describe('servers as hosts write them', () => {
  it('are taken from Claude Desktop, Cursor and Cline', () => {
    const { mcpServers = {} } = parseFile({
      globalShortcut: 'x',
      mcpServers: {
        'My Files': { command: 'npx', args: ['-y', 'files'], env: { A: '${TOKEN}' } },
        '@team/API': {
          type: 'http',
          url: 'https://api.example/mcp',
          headers: { Authorization: 'Bearer ${env:TOKEN}' },
        },
        cline: {
          type: 'streamableHttp',
          url: 'https://b.example/mcp',
          alwaysAllow: ['x'],
          timeout: 60,
          disabled: false,
        },
        plain: { url: 'https://c.example/mcp', prefix: 'none', start: 'lazy' },
        off: { command: '${NONE}', type: 'sse', disabled: true },
      },
    });
    expect(hostServersOf(mcpServers, '/base')).toEqual([
      {
        name: 'my-files',
        base: '/base',
        block: { command: 'npx', args: ['-y', 'files'], env: { A: ENV.TOKEN } },
        ignored: [],
      },
      {
        name: 'team-api',
        base: '/base',
        block: { url: 'https://api.example/mcp', headers: { Authorization: `Bearer ${ENV.TOKEN}` } },
        ignored: [],
      },
      { name: 'cline', base: '/base', block: { url: 'https://b.example/mcp' }, ignored: ['alwaysAllow', 'timeout'] },
      {
        name: 'plain',
        base: '/base',
        block: { url: 'https://c.example/mcp', prefix: 'none', start: 'lazy' },
        ignored: [],
      },
    ]);
  });

  it("are taken from VS Code's servers, with the comments of its files", () => {
    const text = `{
  // what people write
  "inputs": [{ "id": "key", "type": "promptString" }],
  "servers": { /* one */ "a": { "type": "stdio", "command": "x", "args": ["http://y//z", "/* no comment */"] }, },
}`;
    const { servers = {} } = parseHostFile(text, 'mcp.json', { env: ENV });
    expect(hostServersOf(servers, '/')[0]?.block).toEqual({ command: 'x', args: ['http://y//z', '/* no comment */'] });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'the transport that is gone',
      { a: { type: 'sse', url: 'https://x/sse' } },
      /^mcp\.json:4:\d+: mcpServers\.a\.type: The transport "sse" was taken out of the protocol/,
    ],
    [
      'a type that is none',
      { a: { type: 'websocket', url: 'https://x' } },
      /mcpServers\.a\.type: An entry with a url has the type http or streamable-http/,
    ],
    [
      'a type that does not fit',
      { a: { type: 'http', command: 'x' } },
      /mcpServers\.a\.type: An entry with a command has the type stdio$/,
    ],
    [
      'nothing to reach',
      { a: { comand: 'x' } },
      /^mcp\.json:3:5: mcpServers\.a: .*neither command nor url, .*"comand"; did you mean "command"\?$/,
    ],
    ['no block', { a: 'npx' }, /^mcp\.json:3:5: mcpServers\.a: .*object/],
    [
      'two names that become one',
      { 'My Files': { command: 'x' }, my_files: { command: 'y' } },
      /^mcp\.json:6:5: mcpServers\.my_files: "My Files" and "my_files" both become the mount "my-files"; rename one$/,
    ],
    [
      'a name without letters',
      { 日本: { command: 'x' } },
      /mcpServers\.日本: A mount name starts with a lower-case letter.*; rename the server$/,
    ],
    [
      'a variable that is not set',
      { a: { command: 'x', env: { K: '${NONE}' } } },
      /^mcp\.json:6:9: mcpServers\.a\.env\.K: the environment variable NONE is not set/,
    ],
    ['nothing but disabled ones', { a: { command: 'x', disabled: true } }, /mcpServers: There is no server under/],
  ])('are refused: %s', (_, mcpServers, message) => {
    expect(mistake(() => parseFile({ mcpServers }))).toMatch(message);
  });

  it('stand in a configuration too, beside mounts or alone', () => {
    expect(parse('mcpServers:\n  a: { command: x, autoApprove: [y] }\n').mounts).toEqual({});
    expect(mistake(() => parse('mounts: { a: . }\nmcpServers:\n  A: { command: x }\n'))).toBe(
      'vitrine.yaml:3:3: mcpServers.A: The server becomes the mount "a", and there already is a mount of that name; rename one of them',
    );
    expect(mistake(() => parse('mcpServers: {}\n'))).toMatch(/mounts: Say what to serve/);
  });
});
