/** The kind `http`: pages, feeds and APIs of the web. */
import type { HttpConfig } from '../../providers/http/config.ts';
import { isUrl } from '../references.ts';
import type { MountKind } from './kind.ts';

export const httpKind: MountKind<HttpConfig> = {
  key: 'http',
  async recognises(source) {
    if (!isUrl(source) || !URL.canParse(source)) return false;
    const { isWebResourceOnce } = await import('./http-probe.ts');
    return await isWebResourceOnce(source);
  },
  nameOf: (source) => new URL(source).hostname.replace(/^www\./, ''),
  async open(name, block, { base, log }) {
    const { httpProvider } = await import('../../providers/http/index.ts');
    return await httpProvider({ ...block, name, base, log });
  },
};
