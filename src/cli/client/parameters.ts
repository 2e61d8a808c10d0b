/** Converts arguments that a person types to the arguments that a tool or a prompt takes. */
import { type Data, isData } from '../../protocol/data.ts';
import { UsageError } from '../errors.ts';
import { safe } from './printing/output.ts';

/** An argument of a tool. */
export interface Parameter {
  readonly name: string;
  /** The type in words: `string`, `integer or null`, `one of "a", "b"`. */
  readonly type: string;
  /** Whether the tool takes a text, so that the typed text is not parsed. */
  readonly text: boolean;
  readonly required: boolean;
  readonly description: string | undefined;
}

/** The most arguments that are shown. */
const MAX_PARAMETERS = 200;

/** The most characters of a description that an error repeats. */
const MAX_ABOUT = 200;

/** Returns the properties of an input schema; empty if it is no schema of an object. */
export function parametersOf(schema: unknown): readonly Parameter[] {
  if (!isData(schema) || !isData(schema.properties)) return [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties)
    .slice(0, MAX_PARAMETERS)
    .map(([name, property]) => {
      const types = typesOf(property);
      const { description, enum: choices } = isData(property) ? property : ({} as Data);
      const listed = Array.isArray(choices)
        ? `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
        : '';
      return {
        name,
        type: listed !== '' ? listed.slice(0, 200) : types.length === 0 ? 'anything' : types.join(' or '),
        text: types.includes('string') || (types.length === 0 && Array.isArray(choices) && choices.every(isText)),
        required: required.includes(name),
        description: typeof description === 'string' ? description : undefined,
      };
    });
}

const isText = (value: unknown): boolean => typeof value === 'string';

function typesOf(property: unknown): readonly string[] {
  if (!isData(property)) return [];
  const { type, anyOf, oneOf } = property;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string');
  const parts = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return [...new Set(parts.flatMap((part) => (isData(part) && typeof part.type === 'string' ? [part.type] : [])))];
}

/** Splits `name=value` pairs. @throws UsageError */
export function pairsOf(pairs: readonly string[]): readonly (readonly [string, string])[] {
  return pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--arg takes name=value, not "${pair}"`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

/**
 * Makes the arguments of a call. Values of `--arg` replace those of `--input` with the same name. A value is taken as it is
 * if the tool wants a text; else it is parsed as JSON. A name that is given twice gets a list of its values, and so does one of
 * type `array`, unless its only value is a list already.
 * @throws UsageError
 */
export function argumentsOf(pairs: readonly string[], input: string | undefined, schema: unknown): Data {
  const whole = input === undefined ? {} : parsed(input);
  if (!isData(whole)) throw new UsageError(`--input takes a JSON object, as in '{"name": "value"}'`);
  const parameters = new Map(parametersOf(schema).map((parameter) => [parameter.name, parameter]));
  const typed = new Map<string, unknown[]>();
  for (const [name, text] of pairsOf(pairs)) {
    const parameter = parameters.get(name);
    const values = typed.get(name) ?? [];
    values.push(parameter?.text === true ? text : typedValue(text, parameter?.type, name));
    typed.set(name, values);
  }
  const entries = [...typed].map(([name, values]) => {
    const isList = parameters.get(name)?.type === 'array' && !(values.length === 1 && Array.isArray(values[0]));
    return [name, isList || values.length > 1 ? values : values[0]] as const;
  });
  return { ...whole, ...Object.fromEntries(entries) };
}

/** Checks for missing arguments. @throws UsageError that names the required ones that are missing */
export function assertComplete(
  { name, inputSchema }: { readonly name: string; readonly inputSchema?: unknown },
  given: Data,
): void {
  const missing = parametersOf(inputSchema).filter((one) => one.required && !Object.hasOwn(given, one.name));
  if (missing.length === 0) return;
  const descriptions = missing.map(({ name: parameter, type, description }) => {
    const about = description === undefined ? '' : `: ${safe(description).slice(0, MAX_ABOUT)}`;
    return `${safe(parameter)} (${safe(type)}${about})`;
  });
  const first = safe(missing[0]?.name ?? '');
  throw new UsageError(`The tool "${safe(name)}" needs ${descriptions.join(', ')}; give it as in --arg ${first}=...`);
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    throw new UsageError(`--input is no JSON: ${(error as Error).message}`);
  }
}

/** Parses a value as JSON. A value that is no JSON is a text, unless the tool wants another type. */
function typedValue(text: string, type: string | undefined, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // If the tool wants a list, each `--arg` may be one entry.
    if (type === undefined || type === 'anything' || type === 'array') return text;
    throw new UsageError(`--arg ${name}: the tool wants ${type}, and "${text}" is none`);
  }
}
