import { expect, it } from 'vitest';
import type { AccessOutline } from '../../core/access.ts';
import { createContext } from '../../core/context.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { seenMount } from './schemas.ts';

it('a caller who may see no mount is told so, without names of mounts', () => {
  const mounts = [{ name: 'docs' }, { name: 'data' }] as Mount[];
  const access = { could: () => false } as unknown as AccessOutline;
  expect(() => seenMount({ mounts, access }, 'docs', createContext())).toThrow(
    'There is no mount named "docs"; you may see none',
  );
});
