/** A stranger as a program: `node main.mjs <name> [--era legacy|modern|both] [--http]`, which prints where it is over HTTP. */
import { parseArgs } from 'node:util';
import { serveHttp, serveStdio } from '../fixture/serving.mjs';
import { createStrangerPeer } from './peer.mjs';

/** @typedef {typeof import('../fixture/peer.mjs').createPeer} Make */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { era: { type: 'string', default: 'both' }, http: { type: 'boolean', default: false } },
});
const { stranger } = await import(`./${positionals[0]}.mjs`);
const era = /** @type {import('../fixture/peer.mjs').Era} */ (values.era);
/** @type {Make} */
const make = (_world, speaking, send) => createStrangerPeer(stranger, speaking, send);
if (values.http) console.log((await serveHttp({ close() {} }, era, make)).url);
else serveStdio({ close() {} }, era, make);
