/** URI templates alone: parsed, matched and expanded, in limited steps and by their law. */
import fc from 'fast-check';
import { compileMatcher } from '../../../src/core/uri-template/match.ts';
import { parseParts } from '../../../src/core/uri-template/parse.ts';
import { normalizeTriplets } from '../../../src/core/uri-template/percent.ts';
import { parseUriTemplate, type TemplateVariables, UriTemplateError } from '../../../src/core/uri-template.ts';
import { cut, Finding } from '../oracles.ts';
import { template, text, uri } from '../values.ts';
import type { Target } from './target.ts';

const value = fc.oneof(
  text,
  uri,
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(fc.oneof(text, fc.constant('__proto__')), text, { maxKeys: 3 }),
);
const variables = fc.dictionary(fc.constantFrom('path', 'x', 'y', 'q', '__proto__', 'a.b', '%41', '11'), value, {
  maxKeys: 5,
});

export const templatesTarget = (): Target => ({
  name: 'templates',
  share: 0.15,
  property: fc.asyncProperty(template, fc.oneof(uri, text), variables, async (written, other, values) => {
    const parsed = parsedOrRefused(() => parseUriTemplate(written));
    if (parsed === undefined) return;
    const expanded = parsedOrRefused(() => parsed.expand(values as TemplateVariables));
    const matcher = compileMatcher(parseParts(written));
    for (const whole of [other, ...(expanded === undefined ? [] : [expanded, `${expanded}!`, expanded.repeat(2)])]) {
      const { steps } = matcher.run(whole);
      if (steps > 2 * (Buffer.byteLength(whole) + 1) * matcher.nodes)
        throw new Finding(`${steps} steps for ${cut(whole)}`);
      const found = parsed.match(whole);
      if (found !== undefined && normalizeTriplets(parsed.expand(found)) !== normalizeTriplets(whole)) {
        throw new Finding(`a match that does not expand to ${cut(whole)}: ${cut(JSON.stringify(found))}`);
      }
    }
    if (expanded !== undefined) checkExpansion(written, expanded);
  }),
});

/**
 * Checks that an expansion has no character that no URI may have, and no reserved one that is neither in the template's own
 * text nor allowed by an operator.
 */
function checkExpansion(written: string, expanded: string): void {
  const reserved = /\{[+#]/.test(written);
  if (/[\u0000-\u0020"<>\\^`{|}\u007f-\uffff]/.test(expanded)) throw new Finding(`raw characters in ${cut(expanded)}`);
  if (reserved) return;
  const literal = written.replaceAll(/\{[^}]*\}/g, '');
  for (const character of ['@', '!', '$', '(', ')', "'", '[', ']', ':', '#']) {
    if (expanded.includes(character) && !literal.includes(character))
      throw new Finding(`a raw ${character} in ${cut(expanded)}`);
  }
}

function parsedOrRefused<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof UriTemplateError) return undefined;
    throw error;
  }
}
