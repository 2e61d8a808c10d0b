/**
 * Shows fields for the properties of a JSON schema: texts, numbers, booleans and choices. A property of any other type is typed
 * as JSON, so every tool can be called.
 */

import { useId, useState } from 'preact/hooks';
import { isData } from '../../protocol/data.ts';
import { TEXTS } from '../texts.ts';

export type Schema = Readonly<Record<string, unknown>>;
export type Values = Readonly<Record<string, unknown>>;

/** The most properties that get a field. */
const MAX_FIELDS = 100;

export interface FieldsProps {
  readonly schema: Schema;
  readonly values: Values;
  readonly change: (values: Values) => void;
}

export function Fields({ schema, values, change }: FieldsProps) {
  const properties = isData(schema.properties) ? Object.entries(schema.properties).slice(0, MAX_FIELDS) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const put = (name: string, value: unknown): void => {
    const { [name]: _, ...others } = values;
    change(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <>
      {properties.map(([name, each]) => (
        <Field
          key={name}
          name={name}
          schema={isData(each) ? each : {}}
          isRequired={required.includes(name)}
          value={values[name]}
          put={(value) => put(name, value)}
        />
      ))}
    </>
  );
}

/** Returns the defaults of a schema's properties. */
export function defaultsOf({ properties }: Schema): Values {
  if (!isData(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) =>
      isData(each) && each.default !== undefined ? [[name, each.default]] : [],
    ),
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly put: (value: unknown) => void;
}

function Field({ name, schema, isRequired, value, put }: FieldProps) {
  const id = useId();
  const { title, description } = schema;
  return (
    <div class="field">
      <label for={id}>
        <bdi>{typeof title === 'string' ? title : name}</bdi>
        {isRequired && <span class="soft"> {TEXTS.required}</span>}
      </label>
      <Input id={id} schema={schema} isRequired={isRequired} value={value} put={put} />
      {typeof description === 'string' && (
        <small class="soft" id={`${id}-about`} dir="auto">
          {description}
        </small>
      )}
    </div>
  );
}

interface InputProps extends Omit<FieldProps, 'name'> {
  readonly id: string;
}

function Input({ id, schema, isRequired, value, put }: InputProps) {
  const about = typeof schema.description === 'string' ? `${id}-about` : undefined;
  const choices = choicesOf(schema);
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type;
  if (choices !== undefined)
    return (
      <select
        id={id}
        aria-describedby={about}
        required={isRequired}
        value={choices.findIndex((each) => each.value === value)}
        onChange={({ currentTarget }) => put(choices[Number(currentTarget.value)]?.value)}
      >
        <option value={-1}>{TEXTS.unset}</option>
        {choices.map((each, at) => (
          <option key={at} value={at}>
            {each.name}
          </option>
        ))}
      </select>
    );
  if (type === 'boolean')
    return (
      <input
        id={id}
        type="checkbox"
        aria-describedby={about}
        checked={value === true}
        onChange={({ currentTarget }) => put(currentTarget.checked)}
      />
    );
  if (type === 'integer' || type === 'number')
    return (
      <input
        id={id}
        type="number"
        aria-describedby={about}
        required={isRequired}
        step={type === 'integer' ? 1 : 'any'}
        min={numberIn(schema.minimum)}
        max={numberIn(schema.maximum)}
        value={typeof value === 'number' ? value : ''}
        onInput={({ currentTarget }) => put(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
      />
    );
  if (type === 'string')
    return (
      <input
        id={id}
        type="text"
        aria-describedby={about}
        required={isRequired}
        autocomplete="off"
        spellcheck={false}
        maxLength={numberIn(schema.maxLength)}
        value={typeof value === 'string' ? value : ''}
        onInput={({ currentTarget }) => put(currentTarget.value === '' ? undefined : currentTarget.value)}
      />
    );
  return <Json id={id} about={about} isRequired={isRequired} value={value} put={put} />;
}

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

interface Choice {
  readonly value: unknown;
  readonly name: string;
}

function choicesOf({ enum: values, enumNames, oneOf }: Schema): readonly Choice[] | undefined {
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value, name: String(names[at] ?? value) }));
  }
  if (!Array.isArray(oneOf) || !oneOf.every((each) => isData(each) && 'const' in each)) return undefined;
  return oneOf.map((each) => ({ value: each.const, name: String(each.title ?? each.const) }));
}

interface JsonProps extends Omit<InputProps, 'schema'> {
  readonly about: string | undefined;
}

function Json({ id, about, isRequired, value, put }: JsonProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [isWrong, setWrong] = useState(false);
  const typed = (next: string): void => {
    setText(next);
    try {
      put(next.trim() === '' ? undefined : JSON.parse(next));
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <>
      <textarea
        id={id}
        rows={3}
        spellcheck={false}
        placeholder="JSON"
        aria-describedby={about}
        aria-invalid={isWrong}
        required={isRequired}
        value={text}
        onInput={({ currentTarget }) => typed(currentTarget.value)}
      />
      {isWrong && <small role="status">{TEXTS.wrongJson}</small>}
    </>
  );
}
