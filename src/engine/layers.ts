/** Makes the layers that wrap all operations of an engine, in a fixed order. */
import type { Bus } from '../core/bus.ts';
import { closeAll } from '../core/close-all.ts';
import type { Keys } from '../core/keys.ts';
import type { Layer } from '../core/layer.ts';
import type { Resolver } from '../core/mounts/resolver.ts';
import { type AnswersOptions, openAnswers } from '../core/shared-answers/open.ts';
import type { AnswersState } from '../core/shared-answers/shared-answers.ts';
import type { Telemetry } from '../core/telemetry.ts';
import { type Access, type AccessOptions, createAccess, withConfirmed } from '../layers/access/index.ts';
import { type AlternativesOptions, createAlternatives } from '../layers/alternatives/index.ts';
import { type Audit, type AuditOptions, createAudit } from '../layers/audit/index.ts';
import { type Description, describeLayer } from '../layers/describe/index.ts';
import { createLimits, type Limits, type UsageLimits } from '../layers/limits/index.ts';
import { mimeLayer } from '../layers/mime/index.ts';
import { createRedaction, type RedactOptions } from '../layers/redact/index.ts';
import { createSkills, type Skills } from '../layers/skills/index.ts';
import { type TimeoutOptions, timeoutLayer } from '../layers/timeout/index.ts';
import { hasForms } from './mounts.ts';

export interface LayerOptions {
  /** Globs of published URIs. A human must confirm each read of these. */
  readonly confirm?: readonly string[] | undefined;
  /** The time limit of one operation of a provider, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Time limits for kinds of operations, in milliseconds. */
  readonly timeouts?: TimeoutOptions['timeouts'];
  /**
   * The access policy. It denies everything that no rule allows. HTTP accepts tokens only where there is a policy. Default:
   * everybody may do everything.
   */
  readonly access?: AccessOptions | undefined;
  /** Records every operation. Default: no record. */
  readonly audit?: AuditOptions | undefined;
  /** Traces and metrics, as `createTelemetry` of `vitrine/layers/telemetry` returns them. Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /** Covers secrets in contents, or refuses to serve contents that have secrets. Default: contents are not searched. */
  readonly redact?: RedactOptions | undefined;
  /** Makes other formats of contents, such as the text of documents. Default: `false`, none. */
  readonly forms?: AlternativesOptions | false | undefined;
  /** Descriptions of resources, in addition to those of their providers. */
  readonly describe?: readonly Description[] | undefined;
  /**
   * Your own layers, the outermost first. They wrap the mounts, and all other layers wrap them: their answers are checked,
   * recorded, limited and redacted like those of a provider. Default: none.
   */
  readonly layers?: readonly Layer[] | undefined;
  /**
   * Joins this replica with others that have the same `keys`: any of them can continue a 2025 session, and rates are counted for
   * all of them together. The code that made the bus closes it after the engine. Default: none.
   */
  readonly bus?: Bus | undefined;
  /**
   * The place where processes share formats of documents and digests of skills with other and later processes. Needs `keys`.
   * Default: each process makes its own and keeps them in memory.
   */
  readonly answers?: AnswersOptions | undefined;
  /**
   * The keys that seal what clients hold: cursors, states of questions, ids of tasks. The first key seals, every key opens, and
   * replicas share them. Each has at least 32 random bytes. Default: a random key, so that seals are valid for this process only.
   */
  readonly keys?: Keys | undefined;
}

export interface EngineLayers {
  /** All layers, the outermost first. */
  readonly all: readonly Layer[];
  /** The layers that do the same for every caller. An index reads through these. */
  readonly withoutCaller: readonly Layer[];
  readonly audit: Audit | undefined;
  readonly access: Access | undefined;
  readonly limits: Limits;
  readonly skills: Skills;
  /** Returns how many conversions have begun; undefined if no other formats are made. */
  readonly conversions: (() => number) | undefined;
  /** Returns the state of shared answers; undefined if answers are not shared. */
  readonly answers: (() => AnswersState) | undefined;
  close(): Promise<void>;
}

/** @param maxReadBytes the most bytes that a client gets in one read */
export function createLayers(
  options: LayerOptions,
  usage: UsageLimits | undefined,
  resolver: Resolver,
  maxReadBytes: number,
): EngineLayers {
  const { mountOf, resolve } = resolver;
  const { telemetry, timeoutMs, timeouts } = options;
  const audit = options.audit && createAudit(options.audit, mountOf);
  const rules = withConfirmed(options.access, options.confirm);
  const access = rules && createAccess(rules, resolver);
  const limits = createLimits(usage, audit?.refused, options.bus);
  const redaction = options.redact && createRedaction(options.redact);
  const answers = options.answers && openAnswers(options.answers, options.bus, options.keys);
  const skills = createSkills({
    resolver,
    maxFileBytes: maxReadBytes,
    readable: access === undefined,
    // The version of a file is that of the provider's bytes, so it does not identify bytes that a layer has changed.
    answers: redaction === undefined && (options.layers ?? []).length === 0 ? answers : undefined,
  });
  const mayHaveFormats = (uri: string): boolean => {
    const mount = resolve(uri)?.mount;
    return mount !== undefined && hasForms(mount) && !skills.holds(uri);
  };
  const alternatives = options.forms
    ? createAlternatives(options.forms, { concerns: mayHaveFormats, answers })
    : undefined;
  const timeout = timeoutLayer({ timeoutMs, timeouts });
  const inner = [
    redaction?.layer,
    alternatives?.layer,
    options.describe && options.describe.length > 0 ? describeLayer(options.describe) : undefined,
    mimeLayer(),
    ...(options.layers ?? []),
  ].filter((layer) => layer !== undefined);
  const ofCallers = [telemetry?.layer(mountOf), audit?.layer, access?.layer, limits.layer];
  return {
    all: [...ofCallers.filter((layer) => layer !== undefined), timeout, skills.layer, ...inner],
    withoutCaller: [timeout, ...inner],
    audit,
    access,
    limits,
    skills,
    conversions: alternatives?.conversions,
    answers: answers?.state,
    async close() {
      await closeAll(
        () => limits.close(),
        () => skills.close(),
        () => alternatives?.close(),
        () => answers?.close(),
        () => redaction?.close(),
        () => access?.close(),
        () => audit?.close(),
      );
    },
  };
}
