/**
 * The program of the thread that looks for secrets. It is a text, so that it is the same wherever Vitrine runs from:
 * its sources, the package, or somebody's bundle. It takes bytes, and answers with places and kinds, never with secrets.
 */

/**
 * Bytes before and behind a place that are looked at with it. Every secret that the rules know is shorter, the longest of
 * them private keys, at about 10,100.
 */
export const MARGIN_BYTES = 16 * 1024;

/** What is given to the library at once: its work for one text grows faster than the text where there are many secrets. */
const BLOCK_BYTES = 128 * 1024;

/** What the findings of the rules are called, by the id of their message. */
const KINDS = {
  AWSAccessKeyID: 'aws-key',
  AWSSecretAccessKey: 'aws-secret-key',
  PrivateKey: 'private-key',
  PackageJSON_xOauthToken: 'github-token',
  Npmrc_authToken: 'npm-token',
  NPM_ACCESS_TOKEN: 'npm-token',
  BasicAuth: 'basic-auth',
  SLACK_TOKEN: 'slack-token',
  IncomingWebhook: 'slack-webhook',
  SENDGRID_KEY: 'sendgrid-key',
  SHOPIFY_KEY: 'shopify-key',
  GITHUB_TOKEN: 'github-token',
  OPENAI_TOKEN: 'openai-key',
  ANTHROPIC_API_KEY: 'anthropic-key',
  LINEAR_API_TOKEN: 'linear-key',
  OPS_TOKEN: '1password-token',
  MongoDBConnection: 'database-url',
  MySQLConnection: 'database-url',
  PostgreSQLConnection: 'database-url',
} as const;

/**
 * Every byte is one character, so that places are places in the bytes whatever the encoding; one outside of ASCII is no
 * letter, and joins nothing. Text with a NUL in every other byte, which is UTF-16, is looked at without them too.
 *
 * Comments in a text by which its author turns the rules off are not obeyed. Account numbers are no secrets. No rule is
 * told a name: it looks for the same things in every file. What a rule says of where the secret begins is the beginning
 * of its whole match for some, so the secret itself is looked for from there. The library notes the time of every step and
 * forgets none: here it takes no notes, or the thread would grow with each text.
 */
export const SCAN_PROGRAM = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { performance } = require('node:perf_hooks');
const { core, preset, kinds, margin, block } = workerData;
const FILTER = '@secretlint/secretlint-rule-filter-comments';
const AWS = '@secretlint/secretlint-rule-aws';
const NPM = '@secretlint/secretlint-rule-npm';

performance.mark = performance.measure = () => undefined;

const loaded = Promise.all([import(core), import(preset)]).then(([{ lintSource }, { rules }]) => {
  const used = rules.filter(({ meta }) => meta.id !== FILTER).map((rule) => ({
    id: rule.meta.id,
    rule,
    options: rule.meta.id === AWS ? { enableIDScanRule: true } : {},
  }));
  const npm = used.filter(({ id }) => id === NPM);
  const lint = (content, filePath, rules) =>
    lintSource({
      source: { content, filePath, ext: '.txt', contentType: 'text' },
      options: { config: { rules }, noPhysicFilePath: true },
    });
  return async (content) => {
    const results = [await lint(content, 'package.json', used)];
    if (content.includes('_authToken=')) results.push(await lint(content, '.npmrc', npm));
    return results.flatMap(({ messages }) => messages);
  };
});

function placeOf(text, { range, data = {} }) {
  const secret = [data.KEY, data.TOKEN, data.ID, data.CREDENTIAL, data.URI, data.URL].find(
    (each) => typeof each === 'string' && each.length > 0,
  );
  const at = secret === undefined ? -1 : text.indexOf(secret, range[0]);
  return at === -1 ? range : [at, at + secret.length];
}

async function findIn(text, found, placed) {
  const lint = await loaded;
  for (let at = 0; at < text.length; at += block) {
    const from = Math.max(0, at - margin);
    const part = text.slice(from, at + block + margin);
    for (const message of await lint(part)) {
      if (message.messageId === 'AWSAccountID') continue;
      const [start, end] = placeOf(part, message);
      found.push({ start: placed(from + start), end: placed(from + end - 1) + 1, kind: kinds[message.messageId] ?? 'secret' });
    }
  }
}

parentPort.on('message', async (bytes) => {
  try {
    const ascii = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let nuls = 0;
    for (let at = 0; at < ascii.length; at++) {
      if (ascii[at] === 0) nuls++;
      else if (ascii[at] > 127) ascii[at] = 0xa4;
    }
    const found = [];
    await findIn(ascii.toString('latin1'), found, (at) => at);
    if (nuls * 8 > ascii.length) {
      const places = new Uint32Array(ascii.length - nuls);
      const dense = Buffer.alloc(ascii.length - nuls);
      let to = 0;
      for (let at = 0; at < ascii.length; at++) {
        if (ascii[at] === 0) continue;
        places[to] = at;
        dense[to++] = ascii[at];
      }
      await findIn(dense.toString('latin1'), found, (at) => places[at]);
    }
    parentPort.postMessage({ found });
  } catch (error) {
    parentPort.postMessage({ failed: String(error && error.name) });
  }
});
`;

/** What the program is started with. @param core URL of the library @param preset URL of its rules */
export const scanProgramData = (core: string, preset: string): object => ({
  core,
  preset,
  kinds: KINDS,
  margin: MARGIN_BYTES,
  block: BLOCK_BYTES,
});
