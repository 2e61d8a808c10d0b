/** The kind `s3`: buckets of S3-compatible stores. */
import type { S3Config } from '../../providers/s3/config.ts';
import type { MountKind } from './kind.ts';

export const s3Kind: MountKind<S3Config> = {
  key: 's3',
  recognises: (source) => /^s3:\/\//i.test(source),
  nameOf: (source) => source.replace(/\/+$/, '').split('/').at(-1) ?? '',
  async open(name, block) {
    const { s3Provider } = await import('../../providers/s3/index.ts');
    return await s3Provider({ ...block, name });
  },
};
