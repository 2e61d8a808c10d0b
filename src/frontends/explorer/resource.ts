/** The page of one resource: its preview, its metadata, and how to use it elsewhere. */
import { essenceOf, formatsOf } from '../../core/formats/formats.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { windowIn } from '../../protocol/window.ts';
import type { LineRange } from '../resources/line-uri.ts';
import { addressOf, shellWord, withQuery } from './address.ts';
import { countText, shownText, sizeText, timeText } from './figures.ts';
import { historyOf } from './history.ts';
import { type Html, html } from './html.ts';
import { typeText } from './kinds.ts';
import { page, type Shell } from './layout.ts';
import { PROBLEMS, TEXTS } from './texts.ts';

/** Bytes of a preview. */
export const PREVIEW_BYTES = 32 * 1_024;

/** Bytes that a preview of binary contents shows. */
const HEX_BYTES = 512;

/** Image types that browsers show in an `img` element without running scripts in them. */
const DRAWN = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;

export interface Shown {
  readonly resource: Resource;
  /** The contents of the preview, or the reason why they could not be read. */
  readonly contents: readonly ResourceContents[] | { readonly reason: string };
  /** The requested format. */
  readonly as: string | undefined;
  /** The first byte of the preview. */
  readonly from: number;
  /** The lines that the preview shows; undefined where it shows a window of bytes. */
  readonly lines?: LineRange | undefined;
  /** The server's origin, such as `http://127.0.0.1:8931`. */
  readonly origin: string;
  /** The server's MCP endpoint; undefined where only this browser has access. */
  readonly endpoint: string | undefined;
}

export function resourcePage(shell: Shell, shown: Shown): string {
  const { resource } = shown;
  const title = resource.title ?? resource.name;
  const main = html`<h1 dir="auto">${title}</h1>${resource.description !== undefined && html`<p dir="auto" class="soft">${resource.description}</p>`}
<div class="thing"><section aria-label="${TEXTS.preview}">${preview(shown)}</section><aside class="label" aria-label="${TEXTS.label}">${label(shown)}${use(shown)}</aside></div>`;
  return page(shell, title, resource.uri, main);
}

function preview(shown: Shown): Html {
  const { contents, as, resource } = shown;
  const raw = withQuery(addressOf('raw', resource.uri), { as });
  if ('reason' in contents)
    return html`<div class="case"><p>${PROBLEMS[contents.reason]?.what ?? TEXTS.noPreview}</p></div>`;
  const [item, ...others] = contents;
  if (item === undefined) return html`<div class="case"><p>${TEXTS.noPreview}</p></div>`;
  const type = essenceOf(item.mimeType);
  return html`${others.length > 0 && html`<p>${TEXTS.parts}</p>`}<div class="case">${thing(item, type, raw)}</div>${ways(shown, item)}`;
}

function thing(item: ResourceContents, type: string, raw: string): Html {
  if (DRAWN.test(type)) return html`<img src="${raw}" alt="${item.title ?? item.name}">`;
  if (type.startsWith('audio/')) return html`<audio controls preload="metadata" src="${raw}"></audio>`;
  if (type.startsWith('video/')) return html`<video controls preload="metadata" src="${raw}"></video>`;
  if ('text' in item) return html`<pre dir="auto">${shownText(item.text)}</pre>`;
  return html`<p class="soft">${TEXTS.binary}</p><pre dir="ltr">${hex(Buffer.from(item.blob, 'base64'))}</pre>`;
}

function hex(bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(HEX_BYTES, bytes.byteLength); at += 16) {
    const part = bytes.subarray(at, Math.min(at + 16, HEX_BYTES));
    const pairs = part.toString('hex').match(/../g) ?? [];
    const letters = part.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${pairs.join(' ').padEnd(47)}  ${letters}`);
  }
  return lines.join('\n');
}

/** Tells which part of the whole the preview shows, with links to the other parts. */
function ways({ resource, as, lines }: Shown, contents: ResourceContents): Html | undefined {
  if (lines !== undefined)
    return html`<p class="soft">${TEXTS.lines(lines.first, lines.last)} <a href="${withQuery(addressOf('view', resource.uri), { as })}">${TEXTS.start}</a></p>`;
  const window = windowIn(contents);
  if (window === undefined || (window.offset === 0 && window.length === window.total)) return undefined;
  const end = window.offset + window.length;
  const total = window.total === undefined ? undefined : countText(window.total);
  const address = addressOf('view', resource.uri);
  const goesOn = window.length > 0 && end !== window.total;
  return html`<p class="soft">${TEXTS.window(countText(window.offset), countText(end), total)} ${window.offset > 0 && html`<a href="${withQuery(address, { as })}">${TEXTS.start}</a> `}${goesOn && html`<a rel="next" href="${withQuery(address, { as, from: String(end) })}">${TEXTS.later}</a>`}</p>`;
}

function label({ resource, as }: Shown): Html {
  const time = timeText(resource.annotations?.lastModified);
  const { capabilities, size } = resource;
  const can = [capabilities?.list && TEXTS.listed, capabilities?.subscribe && TEXTS.subscribed].filter(Boolean);
  const formats = formatsOf(resource);
  const history = historyOf(resource);
  const type = typeText(resource);
  return html`<h2>${TEXTS.label}</h2><dl>${type !== '' && html`<dt>${TEXTS.type}</dt><dd>${type}${resource.mimeType !== undefined && resource.mimeType !== type && html` <span class="soft">${resource.mimeType}</span>`}</dd>`}${typeof size === 'number' && html`<dt>${TEXTS.size}</dt><dd>${sizeText(size)} <span class="soft">${TEXTS.bytes(countText(size))}</span></dd>`}${time !== undefined && html`<dt>${TEXTS.changed}</dt><dd><time datetime="${time.exact}">${time.shown}</time></dd>`}<dt>${TEXTS.capabilities}</dt><dd>${can.length > 0 ? can.join(', ') : TEXTS.none}</dd>${formats !== undefined && html`<dt>${TEXTS.formats}</dt><dd class="tabs">${formats.map(({ mimeType }) => html`<a href="${withQuery(addressOf('view', resource.uri), { as: mimeType })}"${mimeType === as && html` aria-current="true"`}>${mimeType}</a> `)}</dd>`}${history !== undefined && html`<dt>${TEXTS.history}</dt><dd class="tabs"><a href="${addressOf('view', history.log)}">${TEXTS.commits}</a> <a href="${addressOf('view', history.blame)}">${TEXTS.blame}</a></dd>`}<dt>${TEXTS.uri}</dt><dd><code>${resource.uri}</code></dd></dl>`;
}

function use({ resource, as, origin, endpoint }: Shown): Html {
  const raw = withQuery(addressOf('raw', resource.uri), { as });
  if (endpoint === undefined) return html`<h2>${TEXTS.use}</h2><p><a href="${raw}">${TEXTS.raw}</a></p>`;
  const host = JSON.stringify({ mcpServers: { vitrine: { type: 'http', url: endpoint } } }, null, 2);
  return html`<h2>${TEXTS.use}</h2><p><a href="${raw}">${TEXTS.raw}</a></p><dl><dt>${TEXTS.withCurl}</dt><dd><pre class="copy">curl ${shellWord(origin + raw)}</pre></dd><dt>${TEXTS.withVitrine}</dt><dd><pre class="copy">vitrine cat ${shellWord(endpoint)} ${shellWord(resource.uri)}</pre></dd><dt>${TEXTS.inHost}</dt><dd><pre class="copy">${host}</pre></dd></dl>`;
}
