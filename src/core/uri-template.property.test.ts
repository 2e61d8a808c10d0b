import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileMatcher } from './uri-template/match.ts';
import { parseParts } from './uri-template/parse.ts';
import { parseUriTemplate, type TemplateValue, type TemplateVariables, UriTemplateError } from './uri-template.ts';

interface Example {
  readonly template: string;
  readonly variables: TemplateVariables;
}

/**
 * Removes needless encoding from a URI and writes triplets in upper case, so that equivalent URIs become equal. Uses none of the
 * code under test.
 */
function normalized(uri: string): string {
  return uri.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : triplet.toUpperCase();
  });
}

const joined = (characters: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(characters, { maxLength }).map((all) => all.join(''));

/**
 * Values without hexadecimal digits. Reserved expansion keeps a triplet such as `%41` in a value, so matching could not return
 * that value.
 */
const text = joined(fc.constantFrom(...'xyz.~,/=&%?#;+ "', '\0', 'é', '\u20ac', '😀'), 5);
const key = fc.nat(1e6).map((n) => `k${n}`);
const literal = fc.constantFrom('/', 'a', 'x-', '%20', 'é', '?', '#', ',', '=', '.', '&v0=', 'aab');
const operator = fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&');

function valueFor(modifier: string): fc.Arbitrary<TemplateValue | undefined> {
  if (modifier.startsWith(':')) return fc.option(text, { nil: undefined });
  const member = text.map((some) => `x${some}`);
  const list = fc.array(member, { maxLength: 3 });
  const pairs = fc
    .uniqueArray(fc.tuple(key, text), { maxLength: 3, selector: ([name]) => name })
    .map((entries): Record<string, string> => Object.fromEntries(entries));
  return fc.option(fc.oneof(text, list, pairs), { nil: undefined });
}

const variable = fc
  .constantFrom('', '', '*', ':1', ':3')
  .chain((modifier) => valueFor(modifier).map((value) => ({ modifier, value })));

const part = fc.oneof(literal, fc.record({ operator, variables: fc.array(variable, { minLength: 1, maxLength: 3 }) }));

/**
 * Makes a template in which each variable occurs once, and values for it. No two associative arrays share a key.
 */
const example: fc.Arbitrary<Example> = fc.array(part, { maxLength: 5 }).map((parts) => {
  const variables: Record<string, TemplateValue | undefined> = {};
  let next = 0;
  const template = parts.map((one) => {
    if (typeof one === 'string') return one;
    const specs = one.variables.map(({ modifier, value }) => {
      const name = `v${next++}`;
      const isPairs = typeof value === 'object' && !Array.isArray(value);
      variables[name] = isPairs
        ? Object.fromEntries(Object.entries(value).map(([k, v]) => [`${k}of${name}`, v]))
        : value;
      return name + modifier;
    });
    return `{${one.operator}${specs.join()}}`;
  });
  return { template: template.join(''), variables };
});

/** Templates that may use a variable twice. Most URIs do not match them. */
const anyTemplate = fc
  .array(
    fc.oneof(
      literal,
      fc
        .tuple(
          operator,
          fc.array(fc.tuple(fc.constantFrom('a', 'b', '__proto__'), fc.constantFrom('', '*', ':2')), {
            minLength: 1,
            maxLength: 3,
          }),
        )
        .map(([symbol, specs]) => `{${symbol}${specs.map((spec) => spec.join('')).join()}}`),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));

const anyUri = joined(
  fc.constantFrom(...'ab,./?#&=;-:%2', '&a=', '?b=', '%2F', '%2f', '%25', '%41', '%C3%A9', '%20', 'k=', '%FF'),
  12,
);

const RUNS = { numRuns: 2000 };

describe('parseUriTemplate', () => {
  it('throws nothing but a UriTemplateError with a position in the text', () => {
    const syntax = joined(fc.constantFrom(...'{}?&*:,./#%a1', '%41', '{a}', 'é', '\ud800'), 12);
    fc.assert(
      fc.property(fc.oneof(syntax, fc.string({ unit: 'binary' })), (source) => {
        try {
          expect(parseUriTemplate(source).text).toBe(source);
        } catch (error) {
          expect(error).toBeInstanceOf(UriTemplateError);
          const { position } = error as UriTemplateError;
          expect(position >= 0 && position <= source.length).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

describe('match', () => {
  it('gives variables that expand to the URI', () => {
    fc.assert(
      fc.property(anyTemplate, anyUri, (source, uri) => {
        const template = parseUriTemplate(source);
        const variables = template.match(uri);
        if (variables !== undefined) expect(normalized(template.expand(variables))).toBe(normalized(uri));
      }),
      { numRuns: 20_000 },
    );
  });

  it('gives variables that expand to the URI also for an edited expansion', () => {
    const edit = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: anyUri });
    fc.assert(
      fc.property(example, edit, ({ template: source, variables: given }, { at, remove, insert }) => {
        const template = parseUriTemplate(source);
        const uri = template.expand(given);
        const start = at % (uri.length + 1);
        const edited = uri.slice(0, start) + insert + uri.slice(start + remove);
        const variables = template.match(edited);
        if (variables !== undefined) expect(normalized(template.expand(variables))).toBe(normalized(edited));
      }),
      RUNS,
    );
  });

  it('matches every expansion of a template, and captures at least as many variables as have values', () => {
    fc.assert(
      fc.property(example, ({ template: source, variables }) => {
        const template = parseUriTemplate(source);
        const uri = template.expand(variables);
        const found = template.match(uri);
        expect(found && normalized(template.expand(found))).toBe(normalized(uri));
        const written = Object.values(variables).filter(
          (value) => value !== undefined && Object.keys(value).length > 0,
        );
        const bound = compileMatcher(parseParts(source)).run(uri).match?.captures;
        expect(bound?.length).toBeGreaterThanOrEqual(written.length);
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives back the variables where separators are unambiguous', () => {
    const anyText = fc.string({ unit: 'grapheme', minLength: 1 });
    const texts = (names: string[]) => fc.record(Object.fromEntries(names.map((name) => [name, anyText])));
    const someTexts = (names: string[]) =>
      fc.record(Object.fromEntries(names.map((name) => [name, fc.string({ unit: 'binary-ascii' })])), {
        requiredKeys: [],
      });
    const pieces = fc.tuple(
      fc.constantFrom(
        { source: '/w/{a}', values: texts(['a']) },
        { source: '/w/{a,b}', values: texts(['a', 'b']) },
        { source: '{/a,b}', values: texts(['a', 'b']) },
        { source: '/{a}:{b}', values: texts(['a', 'b']) },
      ),
      fc.constantFrom(
        { source: '/-/{+c}', values: fc.record({ c: joined(fc.constantFrom(...'xyz/:@!$é '), 6) }) },
        { source: '/-{/c*}', values: fc.record({ c: fc.array(anyText, { minLength: 1 }) }) },
        { source: '/-/{c:4}', values: fc.record({ c: joined(fc.constantFrom('x', 'é', '😀', '/'), 4) }) },
      ),
      fc.constantFrom(
        { source: '{;d,e}', values: someTexts(['d', 'e']) },
        { source: '{;d*}', values: fc.record({ d: fc.array(anyText, { minLength: 1 }) }) },
      ),
      fc.constantFrom(
        { source: '{?f,g,h}', values: someTexts(['f', 'g', 'h']) },
        { source: '{?f*,g}', values: someTexts(['g']) },
        { source: '?fixed=1{&f,g}{&h}', values: someTexts(['f', 'g', 'h']) },
        {
          source: '{?f*,g}',
          values: fc.dictionary(key, anyText, { minKeys: 1 }).map((f) => ({ f, g: 'x' })),
        },
      ),
    );
    const unambiguous = pieces.chain((all) =>
      fc
        .tuple(...all.map(({ values }): fc.Arbitrary<TemplateVariables> => values))
        .map((values) => ({ source: all.map(({ source }) => source).join(''), values: Object.assign({}, ...values) })),
    );
    fc.assert(
      fc.property(unambiguous, ({ source, values }) => {
        const template = parseUriTemplate(`x://host${source}`);
        expect(template.match(template.expand(values))).toEqual(values);
      }),
      RUNS,
    );
  });

  it('takes steps in proportion to the URI and the template', () => {
    fc.assert(
      fc.property(anyTemplate, anyUri, fc.integer({ min: 1, max: 40 }), (source, unit, times) => {
        const matcher = compileMatcher(parseParts(source));
        const uri = unit.repeat(times);
        expect(matcher.run(uri).steps).toBeLessThanOrEqual(2 * (uri.length + 1) * matcher.nodes);
      }),
      RUNS,
    );
  });
});
