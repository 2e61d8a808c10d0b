/** Server processes that share answers, and count them in their metrics. They read documents of the museum as text. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ACCEPT_META_KEY } from '../../src/protocol/meta.ts';
import type { ReadAnswer } from '../e2e/answers.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { type Connected, connectHttp, MUSEUM } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { samplesOf, total } from '../telemetry/samples.ts';
import { type Serving, startVitrine } from './processes.ts';

export const REPORT = 'office+file:///conservation-report.pdf';
export const LETTER = 'office+file:///re-the-clock.eml';

/** A word in the text of the report, and one in that of the letter. */
export const REPORT_WORD = 'walnut';
export const LETTER_WORD = 'crate';

/** Matches words of the documents and of their URIs. Stored answers are sealed, and have none of them. */
export const PLAIN = /walnut|crate|conservation|clock|text\/|\.eml|office/i;

/** The documents of the museum, which a test may change. */
export async function officeFolder(): Promise<Folder> {
  const folder = await temporaryFolder();
  const office = join(MUSEUM, 'office');
  for (const name of await readdir(office)) await folder.write(`office/${name}`, await readFile(join(office, name)));
  return folder;
}

export interface AnsweringServer extends AsyncDisposable {
  readonly serving: Serving;
  /** The text of a document. */
  text(uri: string): Promise<string>;
  request: Connected['request'];
  /** The value of a metric. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Resolves when the server has kept that many answers. */
  kept(count: number): Promise<void>;
}

let servers = 0;

/** Starts a server over the documents of a folder. */
export async function startAnswering(
  folder: Folder,
  config: object,
  args: readonly string[] = [],
): Promise<AnsweringServer> {
  const name = `vitrine-${++servers}.yaml`;
  const common = { telemetry: { metrics: { prometheus: 'on' } }, mounts: { office: './office' } };
  await folder.write(name, stringify({ ...common, ...config }));
  const serving = await startVitrine(['--config', folder.at(name), '--http', '0', ...args]);
  const at = `http://127.0.0.1:${serving.port}`;
  const client = await connectHttp('modern', { url: `${at}/mcp`, output: () => serving.errors() });
  const metric = async (metric: string, labels = {}): Promise<number> =>
    total(await samplesOf({ get: (path) => fetch(new URL(path, at)) }), metric, labels);
  return {
    serving,
    request: client.request,
    metric,
    async text(uri) {
      const _meta = { [ACCEPT_META_KEY]: ['text/markdown'] };
      const { contents } = await client.request<ReadAnswer>('resources/read', { uri, _meta });
      return contents[0]?.text ?? '';
    },
    kept: async (count) =>
      void (await until(async () => (await metric('vitrine_answers_kept_total')) === count, 'answers to be kept')),
    async [Symbol.asyncDispose]() {
      await client.close().catch(() => {});
      await serving[Symbol.asyncDispose]();
    },
  };
}
