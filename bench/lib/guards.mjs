/** Settings that guard a server in benchmarks: access rules, rates and an audit. None of them refuses a request. */
import { join } from 'node:path';
import { temporaryFolder } from './folders.mjs';

/** So high that nothing is refused, and everything is counted. */
const RATE = '999999999/min';

/**
 * Ten rules; a request is looked at by each of them, and allowed by the last.
 * @param {readonly string[]} [uris] globs of the URIs that the last rule allows. Default: everything
 */
export const tenRules = (uris) => ({
  access: {
    rules: [
      ...['private', 'drafts', 'payroll', 'keys'].map((name) => ({ effect: 'hide', uris: [`file:///${name}/**`] })),
      ...['*.pem', '*.key'].map((glob) => ({ effect: 'deny', operations: ['read'], uris: [`file:///**/${glob}`] })),
      { effect: 'ask', operations: ['read'], uris: ['file:///contracts/**'] },
      { effect: 'deny', who: 'anonymous', operations: ['call'], tools: ['delete_*'] },
      { effect: 'allow', uris: ['file:///public/**'] },
      { effect: 'allow', mounts: ['bench'], ...(uris !== undefined && { uris }) },
    ],
  },
});

/** Rates that count each request twice: for its caller, and for its method. */
export const twoRates = () => ({
  limits: {
    rates: {
      principal: RATE,
      anonymous: RATE,
      methods: { 'resources/read': RATE, 'resources/list': RATE },
    },
  },
});

/** An audit in a file of its own. */
export const audited = () => ({ audit: { file: join(temporaryFolder(), 'audit.jsonl') } });
