/** Replaces a page of the explorer by the island as soon as it has something to show. Addresses stay the same. */
import { createClient } from './client/client.ts';
import type { Exchange } from './client/exchange.ts';
import { startExplorer } from './explorer.tsx';
import { questioner, type WaitingQuestion } from './forms/asked.ts';
import { cell } from './state/cell.ts';
import { recordExchange } from './state/store.ts';

/** Milliseconds after which the page is replaced even if the server has not answered. */
const PATIENCE_MS = 2_000;

const { endpoint = '/mcp', keyed } = document.querySelector<HTMLElement>('script[data-endpoint]')?.dataset ?? {};
const exchanges = cell<readonly Exchange[]>([]);
const asked = cell<readonly WaitingQuestion[]>([]);
const client = createClient({
  endpoint,
  ask: questioner(asked),
  wire: (exchange) => recordExchange(exchanges, exchange),
});
const root = document.createElement('div');
root.className = 'island';
const { store } = startExplorer(root, {
  client,
  exchanges,
  asked,
  server: document.querySelector('.crumbs a')?.textContent ?? document.title,
  endpoint: keyed === undefined ? endpoint : undefined,
});

/** Replaces the page of the server, and keeps the text that the user has typed into its search field. */
function takeOver(): void {
  // If the island could not be drawn, the page of the server stays.
  if (root.isConnected || root.childElementCount === 0) return;
  for (const unfollow of unfollows) unfollow();
  clearTimeout(timer);
  const typed = document.querySelector<HTMLInputElement>('input[name=q]');
  const hadFocus = typed !== null && document.activeElement === typed;
  document.body.replaceChildren(root);
  document.documentElement.classList.add('is-island');
  const field = document.querySelector<HTMLInputElement>('#search');
  if (field === null || typed === null) return;
  if (typed.value !== '') field.value = typed.value;
  if (hadFocus) field.focus();
}

// The page stays until the roots have come, so that it does not flash. Only a question to the user does not wait for them.
const unfollows = [store.roots.follow(() => requestAnimationFrame(takeOver)), asked.follow(takeOver)];
const timer = setTimeout(takeOver, PATIENCE_MS);
