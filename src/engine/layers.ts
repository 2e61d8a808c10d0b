/** The layers around everything that can be asked for, in one order. */
import type { Bus } from '../core/bus.ts';
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
  /** Globs over published URIs whose reading a human has to confirm. */
  readonly confirm?: readonly string[] | undefined;
  /** For one operation of a provider, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** For one operation of a kind, likewise. */
  readonly timeouts?: TimeoutOptions['timeouts'];
  /**
   * Who may do what. Default: everybody may do everything. With it, what nothing allows is denied. HTTP takes no tokens
   * without it.
   */
  readonly access?: AccessOptions | undefined;
  /** A record of every operation. Default: none. */
  readonly audit?: AuditOptions | undefined;
  /** Traces and metrics, as `createTelemetry` of `vitrine/layers/telemetry` makes them. Default: none. */
  readonly telemetry?: Telemetry | undefined;
  /** Secrets in what is read are covered, or what has them refused. Default: nothing is looked through. */
  readonly redact?: RedactOptions | undefined;
  /** Other forms of what is read, as the text of documents. Default: `false`, none. */
  readonly forms?: AlternativesOptions | false | undefined;
  /** Descriptions of resources, beside those of their providers. */
  readonly describe?: readonly Description[] | undefined;
  /**
   * Layers of one's own, the outermost first. They are around the mounts and inside all others: what they give is decided
   * about, recorded, limited and redacted like what a provider gives. Default: none.
   */
  readonly layers?: readonly Layer[] | undefined;
  /**
   * Joins this replica with others, which have the same `keys`: sessions of 2025 go on in any of them, and rates are counted in all
   * together. Whoever made it closes it after the engine. Default: none.
   */
  readonly bus?: Bus | undefined;
  /**
   * The place of formats of documents, and of digests of skills, that several processes share, and later ones find; needs `keys`.
   * Default: each process makes its own, and has them in memory.
   */
  readonly answers?: AnswersOptions | undefined;
  /**
   * Seal what clients hold: cursors, states of questions, ids of tasks. The first one seals, and each opens; replicas share them.
   * At least 32 random bytes each. Default: one that is random, so that nothing of it outlives the process.
   */
  readonly keys?: Keys | undefined;
}

export interface EngineLayers {
  /** The outermost first. */
  readonly all: readonly Layer[];
  /** Those that are the same for every caller: what an index is filled through. */
  readonly ofNobody: readonly Layer[];
  readonly audit: Audit | undefined;
  readonly access: Access | undefined;
  readonly limits: Limits;
  readonly skills: Skills;
  /** Conversions that were begun; undefined where no other formats are made. */
  readonly conversions: (() => number) | undefined;
  /** Undefined where answers are not shared. */
  readonly answers: (() => AnswersState) | undefined;
  close(): Promise<void>;
}

/** @param maxReadBytes the most that a client gets in one read */
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
    // A version is one of what the provider gives, and not of what a layer makes of it.
    answers: redaction === undefined && (options.layers ?? []).length === 0 ? answers : undefined,
  });
  const concerns = (uri: string): boolean => {
    const mount = resolve(uri)?.mount;
    return mount !== undefined && hasForms(mount) && !skills.holds(uri);
  };
  const alternatives = options.forms ? createAlternatives(options.forms, { concerns, answers }) : undefined;
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
    ofNobody: [timeout, ...inner],
    audit,
    access,
    limits,
    skills,
    conversions: alternatives?.conversions,
    answers: answers?.state,
    async close() {
      limits.close();
      skills.close();
      await alternatives?.close();
      await answers?.close();
      await redaction?.close();
      await access?.close();
      await audit?.close();
    },
  };
}
