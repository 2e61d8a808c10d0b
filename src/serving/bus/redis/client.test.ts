import { expect, it } from 'vitest';
import { loadClient } from './client.ts';

it('the clients of all servers share one class, because the package takes long to make a class', async () => {
  const open = await loadClient(undefined);
  const [first, second] = ['redis-1.internal', 'redis-2.internal'].map((host) =>
    open({ host, port: 6379, user: host, password: host, tls: false }),
  );
  expect(second?.constructor).toBe(first?.constructor);
});
