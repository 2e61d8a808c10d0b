import { expect, it } from 'vitest';
import { postgresError } from './errors.ts';

it.each([
  ['after the limit', 2_000, 'The database took longer than 2 s'],
  ['without a limit of Vitrine', undefined, 'The database stopped the statement'],
])('a statement that PostgreSQL stops %s is reported as a timeout', (_, timeoutMs, message) => {
  const error = Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' });
  expect(postgresError(error, timeoutMs)).toMatchObject({ code: 'timeout', message });
});
