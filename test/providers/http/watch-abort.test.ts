/** A watch whose first look waits for a slow server ends with its caller. */
import { expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import { until } from '../../e2e/waiting.ts';
import { serveWeb } from './looking.ts';

it('is not left behind when its caller leaves, and is refused after the end', async () => {
  let left = 0;
  await using web = await serveWeb(
    ({ origin }) => ({ http: `${origin}/slow`, head: false }),
    (_request, response) => void response.on('close', () => left++),
  );
  const caller = new AbortController();
  const uri = `${web.site.origin}/slow`;
  const watch = web.provider.watch?.(uri, () => {}, createContext({ signal: caller.signal }));
  await until(() => web.site.asked.length === 1, 'the first look');
  caller.abort(new Error('the caller left'));
  await expect(watch).rejects.toThrow('the caller left');
  await until(() => left === 1, 'the end of the request');
  await web.provider.close?.();
  await expect(web.provider.watch?.(uri, () => {}, createContext())).rejects.toMatchObject({ code: 'unavailable' });
});
