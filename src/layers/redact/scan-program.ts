/**
 * The program of the threads that scan for secrets. It is a text, so that it is the same wherever Vitrine runs from:
 * its sources, the package, or somebody's bundle. It takes bytes, and answers with places and kinds, never with secrets.
 */
import { KEYS_PROGRAM, MAX_KEY_LENGTH } from './scan-keys.ts';
import { WIDE_PROGRAM } from './scan-wide.ts';

/**
 * Characters before and behind a block that are scanned together with it. Every secret that the rules know is shorter; the
 * longest are private keys.
 */
const MARGIN = 16 * 1024;

/** The same in bytes: a character of UTF-16 has two. */
export const MARGIN_BYTES = 2 * MARGIN;

/** Bytes that the library gets at once: with many secrets in a text, its work grows faster than the length of the text. */
const BLOCK_BYTES = 128 * 1024;

/** Names of the kinds of findings, by the id of the message that a rule gives. */
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
 * The program takes every byte for one character, so that a place in the text is a place in the bytes, whatever the encoding.
 * A byte outside of ASCII is no letter, and joins nothing. Text with a NUL beside every character (UTF-16) is scanned a
 * second time without the NULs.
 *
 * Comments by which the author of a text turns rules off have no effect. Account numbers are no secrets. Rules do not learn
 * the name of a file, so they look for the same things in every file. Some rules report where their whole match begins, and
 * not where the secret begins: the program looks for the secret from there on. The library takes all of a line behind
 * `_authToken=` for a token, however long it is; here a token ends with its quote, or at the first space. The library notes
 * the time of every step and never forgets one; here it takes no notes, or the thread would grow with each text.
 */
export const SCAN_PROGRAM = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { performance } = require('node:perf_hooks');
const { core, preset, kinds, margin, block, keyLength } = workerData;
const FILTER = '@secretlint/secretlint-rule-filter-comments';
const AWS = '@secretlint/secretlint-rule-aws';
const AUTH_TOKEN = /_authToken= {0,8}("(?!\\$)[^"\\n]{1,4096}"|'(?!\\$)[^'\\n]{1,4096}'|[^$\\s"'][^\\s"']{0,4095})/g;

performance.mark = performance.measure = () => undefined;
${KEYS_PROGRAM}${WIDE_PROGRAM}
const loaded = Promise.all([import(core), import(preset)]).then(([{ lintSource }, { rules }]) => {
  const used = rules.filter(({ meta }) => meta.id !== FILTER).map((rule) => ({
    id: rule.meta.id,
    rule,
    options: rule.meta.id === AWS ? { enableIDScanRule: true } : {},
  }));
  return async (content) => {
    const { messages } = await lintSource({
      source: { content, filePath: 'package.json', ext: '.txt', contentType: 'text' },
      options: { config: { rules: used }, noPhysicFilePath: true },
    });
    return messages;
  };
});

function placeOf(text, { range, data = {} }) {
  const secret = [data.KEY, data.TOKEN, data.ID, data.CREDENTIAL, data.URI, data.URL].find(
    (each) => typeof each === 'string' && each.length > 0,
  );
  const at = secret === undefined ? -1 : text.indexOf(secret, range[0]);
  return at === -1 ? range : [at, at + secret.length];
}

/** Finds secrets that the library does not find, or finds otherwise. */
function* foundHere(text) {
  for (const place of keysIn(text, keyLength)) yield { place, kind: kinds.PrivateKey };
  for (const { index, 0: { length }, 1: token } of text.matchAll(AUTH_TOKEN))
    yield { place: [index + length - token.length, index + length], kind: kinds.Npmrc_authToken };
}

async function findIn(text) {
  const lint = await loaded;
  const found = [];
  for (let at = 0; at < text.length; at += block) {
    const from = Math.max(0, at - margin);
    const part = text.slice(from, at + block + margin);
    const inPart = [...foundHere(part)];
    for (const message of await lint(part)) {
      if (message.messageId === 'AWSAccountID') continue;
      inPart.push({ place: placeOf(part, message), kind: kinds[message.messageId] ?? 'secret' });
    }
    for (const { place, kind } of inPart) {
      const start = from + place[0];
      const end = from + place[1];
      // At the ends of a part, something can look like a secret that is none in the whole text.
      if (start < at + block && end > at) found.push({ start, end, kind });
    }
  }
  return found;
}

parentPort.on('message', async (bytes) => {
  try {
    const ascii = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < ascii.length; at++) if (ascii[at] > 127) ascii[at] = 0xa4;
    const text = ascii.toString('latin1');
    const found = await findIn(text);
    for (const { dense, places } of wideTexts(ascii))
      for (const { start, end, kind } of await findIn(dense))
        found.push({ start: places[start], end: places[end - 1] + 1, kind });
    parentPort.postMessage({ found });
  } catch (error) {
    parentPort.postMessage({ failed: String(error && error.name) });
  }
});
`;

/** Returns the data that the program starts with. @param core URL of the library @param preset URL of its rules */
export const scanProgramData = (core: string, preset: string): object => ({
  core,
  preset,
  kinds: KINDS,
  margin: MARGIN,
  block: BLOCK_BYTES,
  keyLength: MAX_KEY_LENGTH,
});
