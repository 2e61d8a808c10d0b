/** Arguments as somebody types them, and as a tool or a prompt wants them. */
import { UsageError } from '../errors.ts';
import { safe } from './printing/output.ts';

type Data = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  /** As a word: `string`, `integer or null`, `one of "a", "b"`. */
  readonly type: string;
  /** A text is wanted, or may be: what is typed is taken as it is. */
  readonly text: boolean;
  readonly required: boolean;
  readonly description: string | undefined;
}

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Arguments that are shown. */
const MAX_PARAMETERS = 200;

/** Characters of a description that an error repeats. */
const MAX_ABOUT = 200;

/** The properties of an input schema; none where it is none. */
export function parametersOf(schema: unknown): readonly Parameter[] {
  if (!isData(schema) || !isData(schema.properties)) return [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties)
    .slice(0, MAX_PARAMETERS)
    .map(([name, property]) => {
      const types = typesOf(property);
      const { description, enum: choices } = isData(property) ? property : ({} as Data);
      const listed = Array.isArray(choices) ? `one of ${choices.map((each) => JSON.stringify(each)).join(', ')}` : '';
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
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  const parts = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return [...new Set(parts.flatMap((part) => (isData(part) && typeof part.type === 'string' ? [part.type] : [])))];
}

/** `name=value` pairs. @throws UsageError */
export function pairsOf(pairs: readonly string[]): readonly (readonly [string, string])[] {
  return pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--arg takes name=value, not "${pair}"`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

/**
 * The arguments of a call: those of `--input`, with those of `--arg` in their place. A text is taken as it is where the
 * tool wants one; anything else is JSON. The same name twice makes a list.
 * @throws UsageError
 */
export function argumentsOf(pairs: readonly string[], input: string | undefined, schema: unknown): Data {
  const whole = input === undefined ? {} : parsed(input);
  if (!isData(whole)) throw new UsageError(`--input takes a JSON object, as in '{"name": "value"}'`);
  const known = new Map(parametersOf(schema).map((parameter) => [parameter.name, parameter]));
  const typed = new Map<string, unknown[]>();
  for (const [name, text] of pairsOf(pairs)) {
    const wanted = known.get(name);
    const values = typed.get(name) ?? [];
    values.push(wanted?.text === true ? text : typedValue(text, wanted?.type, name));
    typed.set(name, values);
  }
  const given = [...typed].map(([name, values]) => {
    const list = known.get(name)?.type === 'array' && !(values.length === 1 && Array.isArray(values[0]));
    return [name, list || values.length > 1 ? values : values[0]] as const;
  });
  return { ...whole, ...Object.fromEntries(given) };
}

/** @throws UsageError that names what the tool requires and was not given */
export function assertComplete(
  { name, inputSchema }: { readonly name: string; readonly inputSchema?: unknown },
  given: Data,
): void {
  const missing = parametersOf(inputSchema).filter((each) => each.required && !Object.hasOwn(given, each.name));
  if (missing.length === 0) return;
  const said = missing.map(({ name: each, type, description }) => {
    const about = description === undefined ? '' : `: ${safe(description).slice(0, MAX_ABOUT)}`;
    return `${safe(each)} (${safe(type)}${about})`;
  });
  const first = safe(missing[0]?.name ?? '');
  throw new UsageError(`The tool "${safe(name)}" needs ${said.join(', ')}; give it as in --arg ${first}=...`);
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (error) {
    throw new UsageError(`--input is no JSON: ${(error as Error).message}`);
  }
}

/** JSON where it is some; else a text, unless the tool wants a number or the like. */
function typedValue(text: string, type: string | undefined, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Of a list each `--arg` may be an entry.
    if (type === undefined || type === 'anything' || type === 'array') return text;
    throw new UsageError(`--arg ${name}: the tool wants ${type}, and "${text}" is none`);
  }
}
