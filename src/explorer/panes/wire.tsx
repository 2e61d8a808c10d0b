/** The drawer with the requests of this page and their answers. */

import { useState } from 'preact/hooks';
import { shellWord } from '../../frontends/explorer/address.ts';
import { sizeText } from '../../frontends/explorer/figures.ts';
import { headersOf } from '../client/client.ts';
import type { Exchange } from '../client/exchange.ts';
import { visible } from '../previews/plain-text.tsx';
import { useCell } from '../state/cell.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Copied } from './copied.tsx';

/** How many exchanges the closed and the open drawer show. */
const SHOWN = { closed: 3, open: 60 } as const;

export function Wire({ endpoint }: { readonly endpoint: string | undefined }) {
  const store = useStore();
  const exchanges = useCell(store.exchanges);
  const isLive = useCell(store.live.isOpen);
  const [isOpen, setOpen] = useState(false);
  const [chosen, choose] = useState<number>();
  const last = exchanges.slice(isOpen ? -SHOWN.open : -SHOWN.closed).reverse();
  const exchange = exchanges.find(({ id }) => id === chosen);
  return (
    <footer class={isOpen ? 'wire open' : 'wire'}>
      <div class="line">
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {TEXTS.wire}
        </button>
        {!isOpen &&
          last.map((each) => (
            <span key={each.id} class="brief">
              <code>{each.method}</code> <span class="soft">{timing(each)}</span>
            </span>
          ))}
        <span
          class={isLive ? 'state' : 'state away'}
          role="img"
          aria-label={isLive ? TEXTS.live : TEXTS.notLive}
          title={isLive ? TEXTS.live : TEXTS.notLive}
        />
      </div>
      {isOpen && (
        <div class="exchanges">
          <ul>
            {last.map((each) => (
              <li key={each.id}>
                <button
                  type="button"
                  class="quiet"
                  aria-pressed={each.id === chosen}
                  onClick={() => choose(each.id === chosen ? undefined : each.id)}
                >
                  <code>{each.method}</code> <span class="soft">{timing(each)}</span>
                </button>
              </li>
            ))}
          </ul>
          {exchange !== undefined && <Pair exchange={exchange} endpoint={endpoint} />}
        </div>
      )}
    </footer>
  );
}

const timing = ({ ms, bytes }: Exchange): string =>
  ms === undefined
    ? TEXTS.underWay
    : `${TEXTS.ms(ms < 10 ? ms.toFixed(1) : String(Math.round(ms)))}${bytes === undefined ? '' : `  ${sizeText(bytes)}`}`;

function Pair({ exchange, endpoint }: { readonly exchange: Exchange; readonly endpoint: string | undefined }) {
  return (
    <div class="pair">
      <section aria-label={TEXTS.request}>
        <h2>{TEXTS.request}</h2>
        {endpoint !== undefined && <Copied name={TEXTS.asCurl} text={curl(exchange, endpoint)} />}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre tabIndex={0}>{visible(exchange.request)}</pre>
      </section>
      <section aria-label={TEXTS.answer}>
        <h2>{TEXTS.answer}</h2>
        <Copied name={TEXTS.copy} text={exchange.answer ?? ''} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre tabIndex={0}>{exchange.answer === undefined ? TEXTS.noAnswer : visible(pretty(exchange.answer))}</pre>
      </section>
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function curl({ method, request }: Exchange, endpoint: string): string {
  const { params } = JSON.parse(request) as { readonly params: Readonly<Record<string, unknown>> };
  const headers = Object.entries(headersOf(method, params)).map(
    ([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`,
  );
  const url = shellWord(new URL(endpoint, location.href).href);
  return ['curl', url, ...headers, '-d', shellWord(JSON.stringify(JSON.parse(request)))].join(' ');
}
