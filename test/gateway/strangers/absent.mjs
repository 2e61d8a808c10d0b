/** A server that says of a missing resource what each era has for it, and sometimes what the other one has. */
import { WireError } from '../fixture/protocol.mjs';

/** @type {Record<string, string>} */
const NOTES = { 'absent:/there': 'here', 'absent:/hidden': 'hidden' };

/** @param {string} uri @param {boolean} modern */
function missing(uri, modern) {
  if (uri.endsWith('/invalid')) return new WireError(-32_602, 'Not a URI of this server');
  const other = uri.endsWith('/of-the-other-era');
  return new WireError(modern !== other ? -32_602 : -32_002, `There is no ${uri}`, { uri });
}

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'absent', version: '1.0.0' },
  capabilities: { resources: { subscribe: true } },
  methods: {
    'resources/list': () => ({ resources: Object.keys(NOTES).map((uri) => ({ uri, name: uri })) }),
    'resources/read': ({ params: { uri }, modern }) => {
      if (!Object.hasOwn(NOTES, uri)) throw missing(uri, modern);
      return { contents: [{ uri, text: NOTES[uri] }] };
    },
    'resources/subscribe': ({ params: { uri }, modern }) => {
      if (!Object.hasOwn(NOTES, uri)) throw missing(uri, modern);
      return {};
    },
    'resources/unsubscribe': () => ({}),
  },
};
