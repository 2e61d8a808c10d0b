/** Documents that try to be more than text: in their names, titles, descriptions, icons, types, URIs and contents. */
import type { Icon } from '../../src/protocol/resources.ts';
import { HTML_VECTORS, SVG_VECTORS } from '../client/safety/vectors.ts';
import { HOSTILE } from './hostile.ts';

export interface HostileDocument {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly mimeType: string;
  readonly content: string | Uint8Array;
}

/** Schemes of the URIs. */
export const SCHEMES = [
  'hostile',
  'javascript',
  'data',
  'vbscript',
  'blob',
  'about',
  'file',
  'http',
  'view-source',
] as const;

const SCRIPT = '<script>steal()</script>';
const AWAY = 'http://127.0.0.1:1/away';
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="steal()"><script>steal()</script><image href="${AWAY}"/></svg>`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CONTENTS: readonly (readonly [name: string, mimeType: string, content: string | Uint8Array])[] = [
  [
    'page.html',
    'text/html',
    `<!doctype html>${SCRIPT}<img src="${AWAY}" onerror="steal()"><meta http-equiv="refresh" content="0;url=${AWAY}">`,
  ],
  [
    'page.xhtml',
    'application/xhtml+xml',
    `<html xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}<body onload="steal()"/></html>`,
  ],
  ['utf7.html', 'text/html; charset=utf-7', '+ADw-script+AD4-steal()+ADw-/script+AD4-'],
  ['utf16.html', 'text/html', Buffer.from(`\ufeff${SCRIPT}`, 'utf16le')],
  ['drawing.svg', 'image/svg+xml', SVG],
  ['lies.png', 'image/png', SVG],
  ['lies.txt', 'text/plain', `<!doctype html>${SCRIPT}`],
  ['lies.json', 'application/json', `<script>steal()</script>{"a":1}`],
  ['unknown', 'application/octet-stream', `<!doctype html>${SCRIPT}`],
  ['none', '', SCRIPT],
  ['odd type', `text/html"${SCRIPT}`, SCRIPT],
  ['two headers', 'text/plain\r\nContent-Type: text/html', SCRIPT],
  ['style.css', 'text/css', `@import "${AWAY}"; body { background: url(${AWAY}) }`],
  ['code.js', 'text/javascript', 'steal()'],
  ['code.mjs', 'application/javascript', 'steal()'],
  ['code.wasm', 'application/wasm', Buffer.from('0061736d01000000', 'hex')],
  [
    'sheet.xsl',
    'text/xsl',
    `<?xml version="1.0"?><xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">${SCRIPT}</xsl:template></xsl:stylesheet>`,
  ],
  [
    'styled.xml',
    'text/xml',
    `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${AWAY}"?><a><x:script xmlns:x="http://www.w3.org/1999/xhtml">steal()</x:script></a>`,
  ],
  ['entities.xml', 'application/xml', `<!DOCTYPE a [<!ENTITY b SYSTEM "${AWAY}"><!ENTITY c "&b;&b;">]><a>&c;</a>`],
  [
    'feed.rss',
    'application/rss+xml',
    `<rss><channel><title><![CDATA[${SCRIPT}]]></title><link>javascript:steal()</link></channel></rss>`,
  ],
  [
    'page.md',
    'text/markdown',
    `# ${SCRIPT}\n[a](javascript:steal())\n![b](${AWAY})\n<iframe srcdoc="${SCRIPT}"></iframe>\n<https://evil.example>`,
  ],
  [
    'html.md',
    'text/markdown',
    `<details open ontoggle=steal()>\n\n[x]: data:text/html,${SCRIPT}\n[x]\n\n$$\\href{javascript:steal()}{x}$$`,
  ],
  [
    'file.pdf',
    'application/pdf',
    `%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.launchURL("${AWAY}"))>>>>endobj\ntrailer<</Root 1 0 R>>`,
  ],
  ['both.pdf', 'text/html', `%PDF-1.7\n${SCRIPT}`],
  [
    'book.ipynb',
    'application/x-ipynb+json',
    JSON.stringify({
      cells: [
        {
          cell_type: 'code',
          source: [],
          outputs: [
            {
              output_type: 'display_data',
              data: { 'text/html': [SCRIPT], 'application/javascript': 'steal()', 'image/svg+xml': SVG },
            },
          ],
        },
      ],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    }),
  ],
  ['mail.eml', 'message/rfc822', `Content-Type: text/html\r\nSubject: ${SCRIPT}\r\n\r\n<img src="${AWAY}">${SCRIPT}`],
  [
    'page.mhtml',
    'multipart/related',
    `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n${SCRIPT}\r\n--x--`,
  ],
  ['form.hta', 'application/hta', SCRIPT],
  ['film.swf', 'application/x-shockwave-flash', 'FWS\u0001'],
  ['table.csv', 'text/csv', `=HYPERLINK("${AWAY}"),@SUM(1),+cmd|' /C calc'!A0,"${SCRIPT}"\n`],
  ['table.tsv', 'text/tab-separated-values', `<b>\t=IMPORTXML("${AWAY}","//a")\n`],
  [
    'odd.json',
    'application/json',
    `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":"${SCRIPT.replaceAll('"', '')}"}`,
  ],
  ['deep.json', 'application/json', '['.repeat(20_000) + ']'.repeat(20_000)],
  ['deep.yaml', 'application/yaml', `a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: !!js/function "steal()"\n`],
  ['deep.html', 'text/html', '<div>'.repeat(20_000)],
  ['long.txt', 'text/plain', `<b>${'x'.repeat(200_000)}`],
  ['bidi.txt', 'text/plain', '\u202esteal()\u2066\u2069 \u200b\u200d \ufeff'],
  ['controls.txt', 'text/plain', '\u0000\u0007\u001b]8;;http://evil.example\u0007\u001b[2J'],
  ['broken.txt', 'text/plain', Buffer.from([0xff, 0xfe, 0x3c, 0x73, 0xc0, 0xbc])],
  ['text.vtt', 'text/vtt', `WEBVTT\n\n00:00.000 --> 00:01.000\n${SCRIPT}`],
  ['list.m3u8', 'application/vnd.apple.mpegurl', `#EXTM3U\n${AWAY}`],
  ['short.url', 'application/internet-shortcut', `[InternetShortcut]\nURL=javascript:steal()`],
  ['app.webmanifest', 'application/manifest+json', `{"start_url":"${AWAY}"}`],
  ['template.html', 'text/x-handlebars', `{{constructor.constructor("steal()")()}}<%= steal() %>\${steal()}#{steal()}`],
  ['gif.gif', 'image/gif', `GIF89a/*${SCRIPT}*/=1;steal()`],
  ['icon.ico', 'image/x-icon', SVG],
  ['font.woff2', 'font/woff2', SCRIPT],
];

const ICONS: readonly string[] = [
  'javascript:steal()',
  `data:text/html,${SCRIPT}`,
  `data:image/svg+xml;base64,${base64(SVG)}`,
  `data:image/svg+xml,${encodeURIComponent(SVG)}`,
  AWAY,
  '//127.0.0.1:1/away',
  'data:image/png;base64,x" onerror="steal()',
  'data:image/png,"><script>steal()</script>',
  'blob:http://127.0.0.1/x',
  'file:///etc/passwd',
];

const NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '..',
  '.',
  '../../etc/passwd',
  '%2e%2e%2f',
  'con',
  'a\r\nSet-Cookie: x=1',
  'name\u202egnp.exe',
  ' ',
  '',
  'x'.repeat(10_000),
  '🜁'.repeat(300),
  `\u0301${'\u0300'.repeat(500)}`,
  "'-alert(1)-'",
  `\`\${steal()}\``,
];

const URIS: readonly string[] = [
  'javascript:steal()',
  'javascript://x/%0asteal()',
  `data:text/html,${encodeURIComponent(SCRIPT)}`,
  'vbscript:steal()',
  'blob:http://127.0.0.1/1',
  'about:blank',
  'file:///etc/passwd',
  'http://127.0.0.1:1/away',
  'view-source:http://127.0.0.1:1/away',
  'hostile://"onload=steal()/a',
  'hostile:///%22%3E%3Cscript%3Esteal()%3C/script%3E',
  'hostile:///a?x="><script>steal()</script>',
  'hostile:///a#"><script>steal()</script>',
  'hostile:///%0d%0aSet-Cookie:x=1',
  'hostile:///%00',
  'hostile:////evil.example/x',
  'hostile:///..%2f..%2fetc',
  'hostile:///a;b,c!d$e&f',
];

/** How many vectors of each kind of markup become documents. A few suffice, because all markup is shown as text. */
const MARKUP = 10;

/** At least 150, each with its own URI. */
export function hostileDocuments(): readonly HostileDocument[] {
  const plain = { mimeType: 'text/plain', content: SCRIPT };
  const at = (part: string, index: number): string => `hostile:///${part}/${index}`;
  return [
    ...CONTENTS.map(([name, mimeType, content], index) => ({ uri: at('content', index), name, mimeType, content })),
    ...HOSTILE.map((text, index) => ({
      uri: at('words', index),
      name: text,
      title: text,
      description: text,
      mimeType: 'text/plain',
      content: text,
    })),
    ...ICONS.map((src, index) => ({
      uri: at('icon', index),
      name: `icon ${index}`,
      icons: [{ src, mimeType: 'image/png', sizes: ['any"onload=steal()'] }],
      ...plain,
    })),
    ...NAMES.map((name, index) => ({ uri: at('name', index), name, ...plain })),
    ...URIS.map((uri, index) => ({ uri, name: `uri ${index}`, ...plain })),
    ...HTML_VECTORS.slice(0, MARKUP).map((content, index) => ({
      uri: at('markup', index),
      name: `${index}.html`,
      mimeType: 'text/html',
      content,
    })),
    ...SVG_VECTORS.slice(0, MARKUP).map((content, index) => ({
      uri: at('svg', index),
      name: `${index}.svg`,
      mimeType: 'image/svg+xml',
      content,
    })),
  ];
}
