import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResourceError } from './errors.ts';
import { decodeSegment, encodeSegment, nameProblem, parseTreeUri, schemeOf, splitUri, treeUri } from './uri.ts';

const scheme = fc.stringMatching(/^[a-z][a-z0-9+.-]{0,12}$/);

/** Units that careless code trips over, among characters of all planes. */
const TRICKY = [
  '%',
  '%2e',
  '%2F',
  '%25',
  '.',
  '..',
  '+',
  '#',
  '?',
  '&',
  ' ',
  ':',
  '@',
  '~',
  'e\u0301',
  '\u00e9',
  '|',
  '"',
];

const name = fc
  .array(fc.oneof(fc.constantFrom(...TRICKY), fc.string({ unit: 'binary', maxLength: 5 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''))
  .filter((text) => nameProblem(text) === undefined);

const path = fc.array(name, { maxLength: 6 });

/** Any text, and texts that look like a URI. */
const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...TRICKY, '/', '//', '\\', '%00', '%C0%AE', '%5c', '\ud800'),
        fc.string({ maxLength: 3 }),
      ),
    )
    .map((parts) => `file://${parts.join('')}`),
);

describe('any legal path', () => {
  it('comes back from its URI', () => {
    fc.assert(
      fc.property(scheme, path, (scheme_, segments) => {
        const uri = treeUri(scheme_, segments);
        expect(parseTreeUri(uri, scheme_)).toEqual({ segments, trailingSlash: segments.length === 0 });
        if (segments.length > 0) expect(parseTreeUri(`${uri}/`, scheme_)).toEqual({ segments, trailingSlash: true });
      }),
    );
  });

  it('has a URI of RFC 3986 characters alone', () => {
    fc.assert(
      fc.property(path, (segments) => {
        expect(treeUri('x', segments)).toMatch(/^x:\/\/\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*$/);
      }),
    );
  });

  it('has a URI that other software reads and leaves as it is, for special schemes too', () => {
    fc.assert(
      fc.property(fc.constantFrom('file', 'memory', 'docs+file'), path, (scheme_, segments) => {
        const uri = treeUri(scheme_, segments);
        const parsed = new URL(uri);
        expect(parsed.href).toBe(uri);
        const read = parsed.pathname.slice(1).split('/').map(decodeURIComponent);
        expect(read).toEqual(segments.length === 0 ? [''] : segments);
        expect(parsed.search + parsed.hash + parsed.host).toBe('');
      }),
    );
  });

  it('has its own URI: two paths never share one', () => {
    fc.assert(
      fc.property(path, path, (a, b) => {
        expect(treeUri('x', a) === treeUri('x', b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  it('is found by every spelling of its URI, needless escapes in either case', () => {
    fc.assert(
      fc.property(path, fc.infiniteStream(fc.nat(2)), (segments, choices) => {
        const spelled = segments.map((segment) =>
          [...Buffer.from(segment)]
            .map((byte) => {
              const triplet = `%${byte.toString(16).padStart(2, '0')}`;
              const character = String.fromCharCode(byte);
              const choice = choices.next().value;
              if (choice === 0 && /[\w.~-]/.test(character)) return character;
              return choice === 1 ? triplet : triplet.toUpperCase();
            })
            .join(''),
        );
        expect(parseTreeUri(`x:///${spelled.join('/')}`, 'x').segments).toEqual(segments);
      }),
    );
  });
});

describe('any legal name', () => {
  it('is decoded once and no more', () => {
    fc.assert(
      fc.property(name, (text) => {
        const once = encodeSegment(text);
        expect(decodeSegment(once)).toBe(text);
        // A name that was escaped twice comes back as the name that looks like an escape.
        expect(decodeSegment(encodeSegment(once))).toBe(once);
      }),
    );
  });
});

describe('anything at all', () => {
  it('is read as legal names, or refused as invalid; nothing else happens [SEC-RES-1]', () => {
    fc.assert(
      fc.property(anything, (text) => {
        try {
          const { segments } = parseTreeUri(text, 'file');
          for (const segment of segments) {
            expect(nameProblem(segment)).toBeUndefined();
            expect(segment).not.toMatch(/[/\\\u0000-\u001f\u007f-\u009f]|^\.{1,2}$/);
          }
          // The canonical form is a fixed point.
          const canonical = treeUri('file', segments);
          expect(treeUri('file', parseTreeUri(canonical, 'file').segments)).toBe(canonical);
        } catch (error) {
          if (!(error instanceof ResourceError)) throw error;
          expect(error.code).toBe('invalid');
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('is split without loss, or refused as invalid', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.webUrl({ withFragments: true, withQueryParameters: true })), (text) => {
        try {
          const { scheme: found, authority, path: rest, query, fragment } = splitUri(text);
          const joined = [
            authority === undefined ? '' : `//${authority}`,
            rest,
            query === undefined ? '' : `?${query}`,
            fragment === undefined ? '' : `#${fragment}`,
          ].join('');
          expect(joined).toBe(text.slice(found.length + 1));
          expect(schemeOf(text)).toBe(found.length <= 256 ? found : undefined);
        } catch (error) {
          if (!(error instanceof ResourceError)) throw error;
          expect(error.code).toBe('invalid');
        }
      }),
      { numRuns: 500 },
    );
  });
});
