/** A stranger as a program over standard input and output: `node main.mjs <name> [--era legacy|modern|both]`. */
import { parseArgs } from 'node:util';
import { serveStdio } from '../fixture/serving.mjs';
import { createStrangerPeer } from './peer.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { era: { type: 'string', default: 'both' } },
});
const { stranger } = await import(`./${positionals[0]}.mjs`);
serveStdio({ close() {} }, /** @type {import('../fixture/peer.mjs').Era} */ (values.era), (_world, era, send) =>
  createStrangerPeer(stranger, era, send),
);
