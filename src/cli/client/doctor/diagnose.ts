/** Runs a whole examination: connects to the server in each era that it speaks, and makes every check that applies. */

import type { HttpTarget } from '../../../client/http.ts';
import type { StdioTarget } from '../../../client/node/index.ts';
import { CONNECT_MS } from '../../../connection/dial.ts';
import { ENDPOINT_HINT, PROGRAM_HINT } from '../../../connection/seen.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import { mendedIcons } from '../../../protocol/icons.ts';
import { type Check, type CheckContext, type Finding, type Level, notApplicable } from './check.ts';
import { serverInfoOf } from './checks/connection.ts';
import { CHECKS } from './checks/index.ts';
import { examine } from './examined.ts';
import type { Limits } from './limits.ts';
import { type Answer, answerText, type Era, INITIALIZE, LEGACY_VERSION, MODERN_VERSION } from './wire.ts';
import { type HttpWire, openHttp } from './wire-http.ts';
import { openStdio, type StdioWire } from './wire-stdio.ts';

export interface DiagnoseOptions {
  /** Calls tools that claim to be read-only, and one that does not exist. Default false. */
  readonly callTools?: boolean | undefined;
  /** Eras to examine. Default: both, of which the second may have less time to answer than `connectTimeoutMs`. */
  readonly eras?: readonly Era[] | undefined;
  /** Checks to make, by id. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Checks to leave out, by id. */
  readonly skip?: readonly string[] | undefined;
  /** The most resources of a sample. Default 20. */
  readonly sample?: number | undefined;
  /** The most pages of a list. Default 20. */
  readonly pages?: number | undefined;
  /** Milliseconds for a response. Default 15,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for the first response. Default 60,000; 300,000 for a program. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds that a program may take to exit after its standard input is closed. Default 10,000. */
  readonly endMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onResult?: ((result: CheckResult) => void) | undefined;
  /** Called before each check. */
  readonly onCheck?: ((id: string, era: Era) => void) | undefined;
}

export interface CheckResult extends Finding {
  readonly id: string;
  readonly era: Era;
  readonly group: Check['group'];
  readonly title: string;
  readonly clause: string;
  readonly level: Level;
}

export interface EraReport {
  readonly era: Era;
  /** The negotiated revision. */
  readonly version: string | undefined;
  /** The reason why there is no connection in this era. */
  readonly refused?: string | undefined;
}

/** The server's description of itself. */
export interface ExaminedServer {
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  /** The icons as the server sent them, except that `sizes` given as one text is accepted. */
  readonly icons?: unknown;
}

export interface Diagnosis {
  readonly server: ExaminedServer;
  readonly transport: 'stdio' | 'http';
  readonly eras: readonly EraReport[];
  readonly results: readonly CheckResult[];
  /** Checks with problems, by level. */
  readonly errors: number;
  readonly warnings: number;
  /** Checks without problems. */
  readonly passed: number;
  /** The end of the program's standard error, if Vitrine could not connect to it. */
  readonly said?: string | undefined;
}

const DEFAULT_SAMPLE = 20;
const DEFAULT_PAGES = 20;
const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_END_MS = 10_000;

/**
 * The least time that the second era has to answer, in milliseconds, however fast the first was. A program that speaks only one era
 * may never answer in the other. Eras that the caller names have the whole time.
 */
const PROBE_MS = 5_000;

type OpenWire = StdioWire | HttpWire;

interface Connected {
  readonly wire: OpenWire;
  readonly hello: Data;
  readonly version: string;
}

export async function diagnose(target: HttpTarget | StdioTarget, options: DiagnoseOptions = {}): Promise<Diagnosis> {
  const { sample = DEFAULT_SAMPLE, pages = DEFAULT_PAGES, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
  const { connectTimeoutMs = 'url' in target ? CONNECT_MS.url : CONNECT_MS.program } = options;
  const { eras: wanted = ['legacy', 'modern'] } = options;
  const limits: Limits = { sample, pages, timeoutMs, endMs: options.endMs ?? DEFAULT_END_MS };
  const open = (era: Era): OpenWire =>
    'url' in target ? openHttp(target, era, timeoutMs) : openStdio(target, era, timeoutMs);
  const checks = CHECKS.filter(({ id }) => (options.only?.includes(id) ?? true) && options.skip?.includes(id) !== true);
  const results: CheckResult[] = [];
  const eras: EraReport[] = [];
  let server: Diagnosis['server'] = { name: undefined, version: undefined };
  let said: string | undefined;
  // The time of the first connection decides how long the second may take before it counts as silent.
  let patience = connectTimeoutMs;

  for (const era of wanted) {
    signal?.throwIfAborted();
    const opened: OpenWire[] = [];
    const again = (): OpenWire => {
      const wire = open(era);
      opened.push(wire);
      return wire;
    };
    const stop = (): void => {
      for (const wire of opened) void wire.close();
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const begun = performance.now();
      const connected = await connect(again(), patience);
      if ('refused' in connected) {
        eras.push({ era, version: undefined, refused: connected.refused });
        const [wire] = opened;
        if (wire?.transport === 'stdio') said = wire.said();
        continue;
      }
      if (options.eras === undefined)
        patience = Math.min(connectTimeoutMs, Math.max(PROBE_MS, 3 * (performance.now() - begun)));
      const { wire, hello, version } = connected;
      eras.push({ era, version });
      const info = serverInfoOf(hello);
      server = {
        name: textOf(info?.name) ?? server.name,
        version: textOf(info?.version) ?? server.version,
        title: textOf(info?.title) ?? server.title,
        description: textOf(info?.description) ?? server.description,
        websiteUrl: textOf(info?.websiteUrl) ?? server.websiteUrl,
        icons: mendedIcons(info?.icons) ?? server.icons,
      };
      const capabilities = isData(hello.capabilities) ? hello.capabilities : {};
      const examined = examine(wire, capabilities, limits);
      const ctx: CheckContext = {
        wire,
        era,
        hello,
        capabilities,
        examined,
        limits,
        callTools: options.callTools === true,
        again,
      };
      for (const check of checks) {
        if ((check.era ?? era) !== era || (check.transport ?? wire.transport) !== wire.transport) continue;
        signal?.throwIfAborted();
        options.onCheck?.(check.id, era);
        const { level = check.level, ...finding } = await made(check, ctx);
        const result: CheckResult = { ...described(check, era), ...finding, level };
        signal?.throwIfAborted();
        results.push(result);
        options.onResult?.(result);
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      await Promise.all(opened.map((wire) => wire.close()));
    }
  }

  const count = (level: Level): number =>
    results.filter((result) => result.status === 'problem' && result.level === level).length;
  return {
    server,
    transport: 'url' in target ? 'http' : 'stdio',
    eras,
    results,
    errors: count('error'),
    warnings: count('warning'),
    passed: results.filter(({ status }) => status === 'ok').length,
    ...(eras.every(({ refused }) => refused !== undefined) && said !== undefined && { said }),
  };
}

const described = ({ id, group, title, clause }: Check, era: Era) => ({ id, era, group, title, clause });

/**
 * Makes a check. After the program has ended, a check does not apply, so that only the check that ended the program reports it.
 * `stdout-pure` still applies, because it needs only the output so far.
 */
async function made(check: Check, ctx: CheckContext): Promise<Finding> {
  const { wire } = ctx;
  if (wire.transport === 'stdio' && !wire.alive && check.id !== 'stdout-pure') {
    return notApplicable('The program ended earlier');
  }
  return check.run(ctx);
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

async function connect(wire: OpenWire, timeoutMs: number): Promise<Connected | { readonly refused: string }> {
  return wire.era === 'legacy' ? initialize(wire, timeoutMs) : discover(wire, timeoutMs);
}

async function initialize(wire: OpenWire, timeoutMs: number): Promise<Connected | { readonly refused: string }> {
  const answer = await wire.ask('initialize', INITIALIZE, { timeoutMs });
  if (answer.kind !== 'result') return { refused: refusalOf(answer, wire) };
  const { protocolVersion } = answer.result;
  if (typeof protocolVersion !== 'string' || protocolVersion > LEGACY_VERSION) {
    return { refused: `initialize was answered with the revision ${JSON.stringify(protocolVersion)}` };
  }
  await wire.notify('notifications/initialized');
  return { wire, hello: answer.result, version: protocolVersion };
}

async function discover(wire: OpenWire, timeoutMs: number): Promise<Connected | { readonly refused: string }> {
  const answer = await wire.ask('server/discover', {}, { timeoutMs });
  if (answer.kind !== 'result') return { refused: refusalOf(answer, wire) };
  const { supportedVersions } = answer.result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) {
    return { refused: `server/discover names the revisions ${JSON.stringify(supportedVersions) ?? 'none'}` };
  }
  return { wire, hello: answer.result, version: MODERN_VERSION };
}

/** Says what happened and what to try. The statuses 401 and 403 say more than the body. */
function refusalOf(answer: Answer, wire: OpenWire): string {
  const status = wire.transport === 'http' ? wire.replies.at(-1)?.reply.status : undefined;
  if (status === 401 || status === 403) return `HTTP ${status}: the server does not let this client in`;
  if (answer.kind !== 'none') return answerText(answer);
  if (wire.transport === 'http') return `${answerText(answer)}${status ? ENDPOINT_HINT : ''}`;
  if (!wire.alive) return answerText(answer);
  const { first } = wire.impure;
  const wrote = first === undefined ? 'nothing' : `${JSON.stringify(first)}, which is not an MCP message`;
  return `${answerText(answer)}: it wrote ${wrote}${PROGRAM_HINT}`;
}
