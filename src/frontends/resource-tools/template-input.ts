/** Describes the variables of a URI template as a JSON Schema, so that a model knows what to fill in. */
import type { JsonSchema } from '../../core/schema/schema.ts';
import { type Expression, parseParts, type VariableSpec } from '../../core/uri-template/parse.ts';
import { parseUriTemplate, UriTemplateError } from '../../core/uri-template.ts';

/** Returns undefined for an invalid template of a provider. Such a template is listed without a schema. */
export function templateInput(uriTemplate: string): JsonSchema | undefined {
  try {
    const { variables } = parseUriTemplate(uriTemplate);
    const expressions = parseParts(uriTemplate).filter((part) => part.kind === 'expression');
    const mentions = expressions.flatMap((part) => part.variables.map((spec) => ({ part, spec })));
    const named = variables.map((name) => ({ name, of: mentions.filter(({ spec }) => spec.name === name) }));
    return {
      type: 'object',
      properties: Object.fromEntries(named.map(({ name, of }) => [name, schemaOf(of.map(({ spec }) => spec))])),
      required: named.filter(({ of }) => of.some(({ part }) => isNeeded(part))).map(({ name }) => name),
      additionalProperties: false,
    };
  } catch (error) {
    if (error instanceof UriTemplateError) return undefined;
    throw error;
  }
}

/** `{x}` and `{+x}` stand for a part of the path and need a value; the other operators expand to nothing without one. */
const isNeeded = ({ operator }: Expression): boolean => operator.first === '';

function schemaOf(specs: readonly VariableSpec[]): JsonSchema {
  const lengths = specs.flatMap(({ prefix }) => (prefix === undefined ? [] : [prefix]));
  const text = { type: 'string', ...(lengths.length === specs.length && { maxLength: Math.max(...lengths) }) };
  return specs.some(({ explode }) => explode) ? { anyOf: [text, { type: 'array', items: text }] } : text;
}
