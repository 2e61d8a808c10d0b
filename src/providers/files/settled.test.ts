import { expect, it } from 'vitest';
import { versionOfFile } from './again.ts';
import { DIRECT } from './disk.ts';
import type { Folder, Found } from './folder.ts';
import { isSettled } from './settled.ts';

it.each([
  [1_000n, 1_000n, 1_051, true],
  [1_000n, 1_000n, 1_050, false],
  [1_000n, 1_001n, 1_051, false],
  [1_001n, 1_000n, 1_051, false],
  [2_000n, 1_000n, 1_051, false],
])('a change at %i (mtime) and %i (ctime), seen at %i, is settled: %j', (mtimeMs, ctimeMs, now, expected) => {
  expect(isSettled({ mtimeMs, ctimeMs }, now)).toBe(expected);
  const folder = { disk: DIRECT, device: 1n } as Folder;
  const stat = { dev: 1n, ino: 2n, size: 3n, mtimeMs, ctimeMs, mtimeNs: 0n, ctimeNs: 0n };
  const version = versionOfFile(folder, { opened: { stat } } as Found, now);
  expect(version !== undefined).toBe(expected);
});
