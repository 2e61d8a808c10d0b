/** The forms that tools of the fixture ask a user to fill in. */

const object = (properties: Readonly<Record<string, unknown>>, required: readonly string[] = []) =>
  ({ type: 'object', properties, required }) as const;

export const NAME = object({ name: { type: 'string' } }, ['name']);
export const COLOR = object({ color: { type: 'string' } }, ['color']);
export const CONTEXT = object({ context: { type: 'string' } }, ['context']);
export const CONFIRMATION = object({ ok: { type: 'boolean' } }, ['ok']);

export const ACCOUNT = object(
  {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  ['username', 'email'],
);

/** Every primitive type with a default (SEP-1034). */
export const DEFAULTS = object({
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
});

const titled = (kind: string) => [
  { const: 'value1', title: `First ${kind}` },
  { const: 'value2', title: `Second ${kind}` },
  { const: 'value3', title: `Third ${kind}` },
];

/** Every way to offer a choice (SEP-1330). */
export const CHOICES = object({
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
});
