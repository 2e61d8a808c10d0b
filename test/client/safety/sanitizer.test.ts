/** Markup of a server is made harmless, or refused (SEC-RES-7). */
import { JSDOM, VirtualConsole } from 'jsdom';
import { describe, expect, it } from 'vitest';
import {
  createSanitizer,
  type DomWindow,
  sandboxFrame,
  svgImageSource,
  toSafeHtml,
  toSafeSvg,
} from '../../../src/client/safety/index.ts';
import { HTML_VECTORS, SVG_VECTORS } from './vectors.ts';

const { window } = new JSDOM('');
const sanitizer = await createSanitizer({ window });
const parsing = new JSDOM('', { virtualConsole: new VirtualConsole() }).window.document.implementation;

/** Everything active in markup after a browser has parsed it, and parsed it again. */
function acting(markup: string): readonly string[] {
  const document = parsing.createHTMLDocument('');
  document.body.innerHTML = markup;
  document.body.innerHTML = String(document.body.innerHTML);
  return [...document.body.querySelectorAll('*')].flatMap((element) => {
    const bad =
      /^(?:script|style|iframe|object|embed|form|input|button|base|link|meta|template|foreignobject|image|use|animate|set|feimage|math)$/i;
    const attributes = [...element.attributes]
      .filter(
        ({ name, value }) =>
          /^on|^(?:style|srcdoc|action|formaction|ping|srcset|id|name|class)$/i.test(name) || /steal/.test(value),
      )
      .map(({ name, value }) => `${element.localName} ${name}=${value}`);
    return [...(bad.test(element.localName) ? [element.localName] : []), ...attributes];
  });
}

describe('toSafeHtml', () => {
  it.each(HTML_VECTORS)('makes %s harmless [SEC-RES-7]', (vector) => {
    for (const markup of [vector, `<p>before</p>${vector}<p>after</p>`, `<table><tr><td>${vector}`]) {
      const safe = sanitizer.toSafeHtml(markup);
      expect(acting(safe)).toEqual([]);
      expect(sanitizer.toSafeHtml(safe)).toBe(safe);
    }
  });

  it('would notice active markup', () => {
    expect(HTML_VECTORS.filter((vector) => acting(vector).length === 0).length).toBeLessThan(12);
    expect(acting('<a href="javascript:steal()">x</a>')).toEqual(['a href=javascript:steal()']);
  });

  it('keeps a document', () => {
    const html =
      '<h1 lang="en">Tides</h1><p>A <em>list</em>:</p><ol start="2"><li>one</li></ol><pre><code>a &lt; b</code></pre>';
    expect(sanitizer.toSafeHtml(html)).toBe(html);
    expect(sanitizer.toSafeHtml('<a href="https://example.com/">x</a>')).toBe(
      '<a href="https://example.com/" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    );
  });

  it('loads images only from allowed places', async () => {
    const html =
      '<img src="https://a.example/x.png"><img src="https://b.example/x.png"><img src="data:image/png;base64,AAAA">';
    expect(sanitizer.toSafeHtml(html).match(/src=/g)).toHaveLength(1);
    const some = await toSafeHtml(html, { window, allowImage: ({ host }) => host === 'a.example' });
    expect(some).toContain('https://a.example/x.png');
    expect(some).not.toContain('b.example');
  });

  it('refuses markup that is too long or too deeply nested, before it is parsed', () => {
    const tooLarge = expect.objectContaining({ name: 'ResourceClientError', code: 'too-large' });
    const hidden = [
      '<div>',
      '<div><!--></div>-->',
      '<div title="</div>">',
      '<div><style></div></style>',
      '<b><a>',
      '<div/>',
      '<svg></svg><path/>',
    ];
    for (const piece of hidden) expect(() => sanitizer.toSafeHtml(piece.repeat(20_000)), piece).toThrow(tooLarge);
    expect(() => sanitizer.toSafeHtml('x'.repeat(2_000_000))).toThrow(tooLarge);
    expect(sanitizer.toSafeHtml('<p><b>x</b></p>'.repeat(400))).toHaveLength(15 * 400);
  });
});

describe('toSafeSvg', () => {
  it.each(SVG_VECTORS)('makes %s harmless [SEC-RES-7]', (vector) => {
    let safe: string;
    try {
      safe = sanitizer.toSafeSvg(vector);
    } catch (error) {
      expect(error).toMatchObject({ code: 'invalid-answer' });
      return;
    }
    expect(acting(safe)).toEqual([]);
    expect(safe).not.toContain('evil.example');
    expect(sanitizer.toSafeSvg(safe)).toBe(safe);
    // It is also valid XML.
    expect(new window.DOMParser().parseFromString(safe, 'image/svg+xml').documentElement.localName).toBe('svg');
  });

  it('keeps a drawing, and makes it the source of an image', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><defs><linearGradient id="g"><stop offset="1"></stop></linearGradient></defs><path fill="url(#g)" d="M0 0L8 8"></path><text>a&#160;b</text></svg>';
    const safe = await toSafeSvg(svg, { window });
    expect(safe).toBe(svg);
    expect(decodeURIComponent(svgImageSource(safe))).toBe(`data:image/svg+xml,${svg}`);
  });

  it.each(['<p>text</p>', 'text', '', '<svg></svg><svg></svg>'])('refuses %s, which is not a drawing', (text) => {
    expect(() => sanitizer.toSafeSvg(text)).toThrow(expect.objectContaining({ code: 'invalid-answer' }));
  });

  it('removes scripts from drawings, rather than refusing them', () => {
    const taken = SVG_VECTORS.filter((vector) => {
      try {
        return sanitizer.toSafeSvg(vector) !== '';
      } catch {
        return false;
      }
    });
    expect(taken.length).toBeGreaterThan(SVG_VECTORS.length - 4);
  });

  it('accepts a drawing of many shapes', () => {
    const shapes = '<path d="M0 0"/>'.repeat(600);
    expect(
      sanitizer.toSafeSvg(`<svg xmlns="http://www.w3.org/2000/svg"><g>${shapes}</g></svg>`).match(/<path /g),
    ).toHaveLength(600);
  });
});

describe('the DOM', () => {
  it('is required', async () => {
    await expect(createSanitizer()).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('has to parse as the standard says, and is refused otherwise', async () => {
    // A parser for XML, on which small DOMs are based.
    const naive: DomWindow = {
      document: window.document,
      DOMParser: class {
        parseFromString(text: string) {
          return new window.DOMParser().parseFromString(`<x>${text}</x>`, 'application/xhtml+xml');
        }
      },
    };
    await expect(createSanitizer({ window: naive })).rejects.toMatchObject({ code: 'unsupported' });
  });
});

it('a frame has the policy before any content of the server, and no permission', () => {
  const { sandbox, srcdoc, referrerpolicy } = sandboxFrame('</head><script>steal()</script>');
  expect([sandbox, referrerpolicy]).toEqual(['', 'no-referrer']);
  const { document } = new JSDOM(srcdoc).window;
  expect(document.head.firstElementChild?.getAttribute('http-equiv')).toBe('Content-Security-Policy');
  expect(srcdoc.indexOf("default-src 'none'")).toBeLessThan(srcdoc.indexOf('steal'));
});
