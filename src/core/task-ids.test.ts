import { expect, it } from 'vitest';
import { createTaskIds, type TaskRef } from './task-ids.ts';

const SECRET = new Uint8Array(32).fill(7);
const TASK: TaskRef = { mount: 'up', name: 'up_slow "ä\u0000', taskId: '786512e2 \u{1f5ff} [",]' };

it('gives the same id for the same task each time, which names its mount and leads back to it', () => {
  const ids = createTaskIds([SECRET]);
  const id = ids.seal(TASK, 'anna');
  expect(id).toMatch(/^up_[\w-]+$/);
  expect(ids.seal(TASK, 'anna')).toBe(id);
  expect(createTaskIds([SECRET]).open(id, 'anna')).toEqual(TASK);
});

it('gives ids that are of no use to others, and reveal only the mount', () => {
  const ids = createTaskIds([SECRET]);
  const id = ids.seal(TASK, 'anna');
  expect(ids.seal(TASK, 'berta')).not.toBe(id);
  expect(Buffer.from(id.slice(3), 'base64url').toString('latin1')).not.toContain('786512e2');
  const altered = [
    `other${id.slice(2)}`,
    id.slice(3),
    `${id}A`,
    id.slice(0, -1),
    `${id}=`,
    `up_${'A'.repeat(80)}`,
    '',
    '_',
  ];
  for (const each of altered) expect(() => ids.open(each, 'anna')).toThrow('There is no such task');
  expect(() => ids.open(id, 'berta')).toThrow('There is no such task');
  expect(() => createTaskIds().open(id, 'anna')).toThrow('There is no such task');
});
