/** Checks of tools: their definitions and, only with `--call-tools`, their results. */

import { Ajv, type AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, ok, problem, problems } from '../check.ts';
import { nameOf } from '../examined.ts';
import { linearRegExp } from '../linear-reg-exp.ts';
import { answerText } from '../wire.ts';

const group = 'Tools';

const NONE = 'There are no tools';

const toolsIn = async ({ examined }: CheckContext): Promise<readonly Data[]> =>
  (await examined.list('tools')).entries.filter(isData);

/** The most characters of a schema that is compiled; larger schemas are taken to be valid. */
const MAX_SCHEMA = 256 * 1024;

/** The most tools that are called. */
const MAX_CALLED = 10;

export const TOOL_CHECKS: readonly Check[] = [
  {
    id: 'tool-names',
    group,
    title: 'Names of tools have up to 128 letters, digits, _, - and dots',
    clause: 'server/tools, Tool Names (SEP-986)',
    level: 'warning',
    async run(ctx) {
      const tools = await toolsIn(ctx);
      if (tools.length === 0) return notApplicable(NONE);
      const seen = tools
        .map(({ name }) => name)
        .filter((name) => typeof name === 'string' && !/^[A-Za-z0-9_.-]{1,128}$/.test(name));
      return problems(seen.map(nameOf), 'Use a name that every host and every model API accepts.');
    },
  },
  {
    id: 'tool-schemas',
    group,
    title: 'Schemas of tools are valid JSON Schema for objects',
    clause: 'server/tools, Data Types (inputSchema, outputSchema); JSON Schema 2020-12 unless $schema says otherwise',
    level: 'error',
    async run(ctx) {
      const tools = await toolsIn(ctx);
      if (tools.length === 0) return notApplicable(NONE);
      const seen = tools.flatMap(({ name, inputSchema, outputSchema }) => {
        const input = schemaProblem(inputSchema, true);
        const output = outputSchema === undefined ? undefined : schemaProblem(outputSchema, ctx.era === 'legacy');
        return [
          ...(input === undefined ? [] : [`${nameOf(name)}: inputSchema ${input}`]),
          ...(output === undefined ? [] : [`${nameOf(name)}: outputSchema ${output}`]),
        ];
      });
      if (seen.length > 0)
        return problems(seen, 'Send a valid schema with type: "object"; {"type":"object"} for no arguments.');
      return ok(`${tools.length} tool(s)`);
    },
  },
  {
    id: 'tool-annotations',
    group,
    title: 'Annotations of tools have allowed values',
    clause: 'schema, ToolAnnotations',
    level: 'error',
    async run(ctx) {
      const tools = (await toolsIn(ctx)).filter(({ annotations }) => annotations !== undefined);
      if (tools.length === 0) return notApplicable('No tool is annotated');
      const seen = tools.flatMap(({ name, annotations }) => {
        if (!isData(annotations)) return [`${nameOf(name)}: annotations is no object`];
        return Object.entries(annotations)
          .filter(([key, value]) => key.endsWith('Hint') && typeof value !== 'boolean')
          .map(([key]) => `${nameOf(name)}: ${key} is no boolean`);
      });
      return problems(seen, 'Hints are true or false.');
    },
  },
  {
    id: 'tool-calls',
    group,
    title: 'Read-only tools can be called, and their results fit their schemas',
    clause: 'server/tools, Calling Tools, Structured Content',
    level: 'error',
    async run(ctx) {
      if (!ctx.callTools) return notApplicable('Tools are called with --call-tools only');
      const tools = (await toolsIn(ctx)).filter(isHarmless).slice(0, MAX_CALLED);
      if (tools.length === 0) return notApplicable('No tool says that it only reads and needs no arguments');
      const seen: string[] = [];
      for (const tool of tools) {
        const answer = await ctx.wire.ask('tools/call', { name: tool.name, arguments: {} });
        const wrong = answer.kind === 'result' ? resultProblem(tool, answer.result) : answerText(answer);
        if (wrong !== undefined) seen.push(`${nameOf(tool.name)}: ${wrong}`);
      }
      if (seen.length > 0)
        return problems(seen, 'Answer with content, and with structuredContent as outputSchema says.');
      return ok(`${tools.length} were called`);
    },
  },
  {
    id: 'tool-unknown',
    group,
    title: 'An unknown tool is refused',
    clause: 'server/tools, Error Handling (unknown tools: -32602)',
    level: 'warning',
    async run(ctx) {
      if (!ctx.callTools) return notApplicable('Tools are called with --call-tools only');
      if (!isData(ctx.capabilities.tools)) return notApplicable('No tools are declared');
      const answer = await ctx.wire.ask('tools/call', { name: 'vitrine-doctor-no-such-tool', arguments: {} });
      if (answer.kind === 'error' && answer.error.code === -32_602) return ok();
      const mend = 'Answer with the error -32602: a result means that there is such a tool.';
      return problem(answerText(answer), mend);
    },
  },
];

/**
 * Tells why a schema cannot be used; undefined if it can.
 * @param objects whether its type has to be `object`
 */
function schemaProblem(schema: unknown, objects: boolean): string | undefined {
  if (!isData(schema)) return 'is missing, or no object';
  if (objects && schema.type !== 'object')
    return `has type ${JSON.stringify(schema.type) ?? 'undefined'}, not "object"`;
  if (JSON.stringify(schema).length > MAX_SCHEMA) return undefined;
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return `is not valid: ${error instanceof Error ? error.message.slice(0, 160) : String(error)}`;
  }
}

function compile(schema: Data) {
  const dialect = typeof schema.$schema === 'string' ? schema.$schema : '';
  const options = {
    strict: false,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
    code: { regExp: linearRegExp },
  } as const;
  const { $schema: _, ...rest } = schema;
  const ajv = /draft-0[4-7]/.test(dialect) ? new Ajv(options) : new Ajv2020(options);
  return ajv.compile(rest as AnySchema);
}

function isHarmless({ annotations, inputSchema }: Data): boolean {
  if (!isData(annotations) || annotations.readOnlyHint !== true) return false;
  const required = isData(inputSchema) ? inputSchema.required : undefined;
  return required === undefined || (Array.isArray(required) && required.length === 0);
}

function resultProblem({ outputSchema }: Data, result: Data): string | undefined {
  if (!Array.isArray(result.content)) return 'content is no list';
  if (result.isError === true || !isData(outputSchema)) return undefined;
  if (result.structuredContent === undefined) return 'there is an outputSchema, and no structuredContent';
  try {
    const validate = compile(outputSchema);
    if (validate(result.structuredContent)) return undefined;
    const [first] = validate.errors ?? [];
    return `structuredContent${first?.instancePath ?? ''} ${first?.message ?? 'is not as outputSchema says'}`;
  } catch {
    return undefined;
  }
}
