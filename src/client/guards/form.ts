/** Converts the form of an elicitation to data that a host can draw, and checks whether an answer fits it. */
import { type Data, isData } from '../../protocol/data.ts';
import { forTerminal } from '../safety/terminal.ts';
import { asksForSecret } from './secret-asking.ts';

/** A field with texts that are safe to show. Its default and the values of its options are as the server wrote them. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly format: string | undefined;
  /** The options of a `choice` or `choices`; empty for other types. */
  readonly options: readonly { readonly value: string; readonly title: string }[];
  /** The bounds: of the length for `string`, of the number of options for `choices`, otherwise of the value. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly default: unknown;
}

/** The rules that a form has to follow. */
export interface FormRules {
  /** The text above the form. */
  readonly message: string;
  readonly maxFields: number;
  readonly allowSensitiveFields: boolean;
}

/** The fields of a form, or the reason why it is refused. */
export type Form = { readonly fields: readonly FormField[] } | { readonly problem: string; readonly field?: string };

const MAX_OPTIONS = 200;
const MAX_NAME = 128;
const MAX_ANSWER = 64 * 1024;

/**
 * Returns the fields of a flat form, or the reason why the form is refused. Patterns are left out: a pattern of a server could
 * keep a host busy for ever.
 */
export function cleanForm(schema: unknown, { message, maxFields, allowSensitiveFields }: FormRules): Form {
  if (!isData(schema) || schema.type !== 'object' || !isData(schema.properties)) return { problem: 'schema' };
  const entries = Object.entries(schema.properties);
  if (entries.length === 0 || entries.length > maxFields) return { problem: 'fields' };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: FormField[] = [];
  for (const [name, property] of entries) {
    if (name.length > MAX_NAME || ['__proto__', 'constructor', 'prototype'].includes(name))
      return { problem: 'field-name' };
    const field = isData(property) ? fieldOf(name, property, required.includes(name)) : undefined;
    if (field === undefined) return { problem: 'field-type', field: name };
    const words = [name, field.title, field.description, field.format].join('\n');
    if (!allowSensitiveFields && field.type !== 'boolean' && asksForSecret(words))
      return { problem: 'sensitive', field: name };
    fields.push(field);
  }
  const isFree = fields.some(({ type }) => type === 'string' || type === 'number' || type === 'integer');
  // The message may ask for a secret, and a field with a harmless name may be for the answer.
  if (!allowSensitiveFields && isFree && asksForSecret(message)) return { problem: 'sensitive' };
  return { fields };
}

function fieldOf(name: string, property: Data, required: boolean): FormField | undefined {
  const items = isData(property.items) ? property.items : undefined;
  const options =
    optionsOf(property) ?? (property.type === 'array' && items !== undefined ? optionsOf(items) : undefined);
  const type =
    property.type === 'array'
      ? options === undefined
        ? undefined
        : 'choices'
      : property.type === 'string'
        ? options === undefined
          ? 'string'
          : 'choice'
        : property.type === 'number' || property.type === 'integer' || property.type === 'boolean'
          ? property.type
          : undefined;
  if (type === undefined) return undefined;
  const [min, max] =
    type === 'string'
      ? ['minLength', 'maxLength']
      : type === 'choices'
        ? ['minItems', 'maxItems']
        : ['minimum', 'maximum'];
  const number = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  return {
    name,
    title: typeof property.title === 'string' ? forTerminal(property.title, { maxLength: 200 }) : forTerminal(name),
    description:
      typeof property.description === 'string' ? forTerminal(property.description, { maxLength: 2_000 }) : undefined,
    required,
    type,
    format: typeof property.format === 'string' ? forTerminal(property.format, { maxLength: 50 }) : undefined,
    options: options ?? [],
    min: number(property[min]),
    max: number(property[max]),
    default: property.default,
  };
}

/** Reads the options of a choice in any of the forms that the revisions of the protocol have. */
function optionsOf(property: Data): FormField['options'] | undefined {
  const titled = Array.isArray(property.oneOf)
    ? property.oneOf
    : Array.isArray(property.anyOf)
      ? property.anyOf
      : undefined;
  const values: readonly unknown[] | undefined =
    titled?.map((option: unknown) => (isData(option) ? option.const : undefined)) ??
    (Array.isArray(property.enum) ? property.enum : undefined);
  if (values === undefined || values.length === 0 || values.length > MAX_OPTIONS) return undefined;
  const names: readonly unknown[] =
    titled?.map((option: unknown) => (isData(option) ? option.title : undefined)) ??
    (Array.isArray(property.enumNames) ? property.enumNames : []);
  if (!values.every((value) => typeof value === 'string')) return undefined;
  return values.map((value, index) => {
    const title = names[index];
    return { value, title: forTerminal(typeof title === 'string' ? title : value, { maxLength: 200 }) };
  });
}

/** Returns the name of a field that an answer does not fit; undefined if the whole answer fits. */
export function answerProblem(fields: readonly FormField[], content: Data): string | undefined {
  return fields.find((field) => !fits(field, Object.hasOwn(content, field.name) ? content[field.name] : undefined))
    ?.name;
}

function fits(field: FormField, value: unknown): boolean {
  if (value === undefined) return !field.required;
  const within = (size: number): boolean => size >= (field.min ?? -Infinity) && size <= (field.max ?? Infinity);
  const isOption = (picked: unknown): boolean => field.options.some((option) => option.value === picked);
  switch (field.type) {
    case 'string':
      return typeof value === 'string' && value.length <= MAX_ANSWER && within([...value].length);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && within(value);
    case 'integer':
      return Number.isSafeInteger(value) && within(value as number);
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
      return isOption(value);
    case 'choices':
      return Array.isArray(value) && within(value.length) && value.every(isOption);
  }
}
