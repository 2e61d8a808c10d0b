/** The server of others whose tools become tasks, over Streamable HTTP: there is none with what the suite's scenarios ask for. */
import { serveHttp } from '../../test/gateway/fixture/serving.mjs';
import { createStrangerPeer } from '../../test/gateway/strangers/peer.mjs';
import { stranger } from '../../test/gateway/strangers/tasks.mjs';

const { url } = await serveHttp({ close() {} }, 'both', (_world, era, send) => createStrangerPeer(stranger, era, send));
console.log(url);
