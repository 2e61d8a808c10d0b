/** Decides whether a rule applies to the resource, tool or prompt of a request. */

import type { AccessRequest } from '../../../core/access.ts';
import { ACCESS_OPERATIONS, type AccessOperation, ASKABLE } from '../../../core/decided.ts';
import { essenceOf } from '../../../core/formats/formats.ts';
import { compileGlobs, type GlobSubject } from '../../../core/glob/index.ts';
import { NAMES, type Resource } from '../../../protocol/resources.ts';
import { argumentTest } from './arguments.ts';
import type { AccessRule } from './options.ts';

/** Whether a resource has an attribute as the rule names it; `unknown` if the resource does not tell. */
type AttributeTest = (resource: Resource) => boolean | 'unknown';

export interface TargetTest {
  matches(request: AccessRequest): boolean;
  /** Whether the rule depends on attributes of a resource beside its URI. */
  readonly attributes: boolean;
  /** Whether the rule applies to everything in its mounts, for its operations. */
  readonly whole: boolean;
  /** Whether the rule applies to everything: all mounts and all operations. */
  readonly everything: boolean;
  readonly operations: ReadonlySet<AccessOperation>;
}

export function compileTarget(rule: AccessRule): TargetTest {
  const permits = rule.effect === 'allow';
  const uris = matcher(rule.uris, 'uri', permits);
  const except = matcher(rule.except, 'uri', !permits);
  const tools = matcher(rule.tools, 'text', permits);
  const prompts = matcher(rule.prompts, 'text', permits);
  const attributes = attributeTests(rule, permits);
  const ofArguments = argumentTest(rule);
  const mounts = rule.mounts === undefined ? undefined : new Set(rule.mounts);
  const operations = operationsOf(rule, uris !== undefined || except !== undefined || attributes.length > 0);
  const conditions = [uris, except, tools, prompts, rule.arguments, attributes[0]];
  const whole = conditions.every((condition) => condition === undefined);

  /**
   * A rule about attributes matches no template. If an attribute of a resource is unknown, a rule that allows does not match,
   * and any other does: that is safe.
   */
  function hasAttributes({ resource, template }: AccessRequest): boolean {
    if (attributes.length === 0) return true;
    if (template === true) return false;
    if (resource === undefined) return !permits;
    return attributes.every((test) => {
      const result = test(resource);
      return result === 'unknown' ? !permits : result;
    });
  }

  const isResource = (request: AccessRequest): boolean =>
    (uris === undefined || uris(request.uri ?? '')) && except?.(request.uri ?? '') !== true && hasAttributes(request);

  return {
    matches(request) {
      const { operation, mount, name = '' } = request;
      if (!operations.has(operation)) return false;
      if (mounts !== undefined && (mount === undefined || !mounts.has(mount))) return false;
      if (operation === 'call') return tools?.(name) !== false && ofArguments(request.arguments);
      if (operation === 'prompt') return prompts?.(name) !== false;
      return isResource(request);
    },
    attributes: attributes.length > 0,
    whole,
    everything: whole && mounts === undefined && operations.size === ACCESS_OPERATIONS.length,
    operations,
  };
}

/** @param sure whether to match only what surely fits; if false, all that may fit matches, as a rule that forbids needs it */
function matcher(
  globs: readonly string[] | undefined,
  subject: GlobSubject,
  sure: boolean,
): ((text: string) => boolean) | undefined {
  const compiled = compileGlobs(globs, subject);
  return sure ? compiled?.matches : compiled?.mayMatch;
}

/** The rule's operations that its conditions can apply to: a rule about URIs is not about tools. */
function operationsOf(rule: AccessRule, namesResources: boolean): ReadonlySet<AccessOperation> {
  const namesTools = rule.tools !== undefined || rule.arguments !== undefined;
  const namesPrompts = rule.prompts !== undefined;
  const namesNone = !namesResources && !namesTools && !namesPrompts;
  const wanted = rule.operations ?? (rule.effect === 'ask' ? ASKABLE : ACCESS_OPERATIONS);
  return new Set(
    wanted.filter((operation) => {
      if (namesNone) return true;
      if (operation === 'call') return namesTools;
      return operation === 'prompt' ? namesPrompts : namesResources;
    }),
  );
}

function attributeTests(rule: AccessRule, permits: boolean): readonly AttributeTest[] {
  const { minBytes, maxBytes, newerThanSeconds, olderThanSeconds, audience } = rule;
  const types = matcher(
    rule.mimeTypes?.map((glob) => glob.toLowerCase()),
    'text',
    permits,
  );
  const tests: AttributeTest[] = [];
  if (types !== undefined)
    tests.push(({ mimeType }) => (mimeType === undefined ? 'unknown' : types(essenceOf(mimeType))));
  const paths = compileGlobs(rule.paths, 'path');
  if (paths !== undefined) {
    tests.push(({ [NAMES]: names }) => {
      const shown = names?.paths ?? [];
      return permits ? shown.length > 0 && shown.every(paths.matches) : shown.some(paths.mayMatch);
    });
  }
  if (minBytes !== undefined) tests.push(sized((size) => size >= minBytes));
  if (maxBytes !== undefined) tests.push(sized((size) => size <= maxBytes));
  if (newerThanSeconds !== undefined) tests.push(aged((seconds) => seconds < newerThanSeconds));
  if (olderThanSeconds !== undefined) tests.push(aged((seconds) => seconds > olderThanSeconds));
  if (audience !== undefined) {
    tests.push(({ annotations }) => {
      const declared = annotations?.audience;
      return declared === undefined ? 'unknown' : declared.some((role) => audience.some((wanted) => wanted === role));
    });
  }
  return tests;
}

/** Tests the size. A container without a size does not match. */
const sized =
  (test: (size: number) => boolean): AttributeTest =>
  ({ size, mimeType, capabilities }) => {
    if (size !== undefined) return test(size);
    return mimeType === 'inode/directory' || capabilities?.list === true ? false : 'unknown';
  };

const aged =
  (test: (seconds: number) => boolean): AttributeTest =>
  ({ annotations }) => {
    const changed = Date.parse(annotations?.lastModified ?? '');
    return Number.isNaN(changed) ? 'unknown' : test((Date.now() - changed) / 1_000);
  };
