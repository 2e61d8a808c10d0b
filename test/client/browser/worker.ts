/** A worker that uses the server whose URL it gets. */
import { toSafeHtml } from 'vitrine/client/safety';
import { type Era, look } from './look.ts';

self.onmessage = async ({ data }: MessageEvent<{ readonly url: string; readonly era: Era }>): Promise<void> => {
  try {
    const sight = await look(data.url, data.era);
    // Workers have no DOM, so no other function is safe there.
    const sanitised = await toSafeHtml('<b>').catch((error: { readonly code?: unknown }) => error.code);
    self.postMessage({ sight, sanitised, window: typeof window });
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};
