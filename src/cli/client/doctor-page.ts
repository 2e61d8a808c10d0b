/** Shows the doctor's findings as a page of the explorer. The doctor examines the server when the page is first opened. */
import type { HttpTarget } from '../../client/http.ts';
import type { StdioTarget } from '../../client/node/index.ts';
import { type Html, html } from '../../frontends/explorer/html.ts';
import { type BesidePage, page, type RenderedPage, type Shell } from '../../frontends/explorer/layout.ts';
import { GROUPS } from './doctor/check.ts';
import { type CheckResult, type Diagnosis, diagnose } from './doctor/diagnose.ts';
import { counted, type MergedResult, merged, REVISION } from './doctor/report.ts';
import { messageOf } from './failures.ts';

/** A page of the explorer that runs and shows examinations. */
export interface DoctorPage {
  readonly page: BesidePage;
  /** Ends a running examination. */
  close(): Promise<void>;
}

/** The state of one examination. */
interface Examination {
  readonly results: CheckResult[];
  /** The check that is running. */
  checking: string;
  diagnosis?: Diagnosis;
  failure?: string;
}

const isOver = ({ diagnosis, failure }: Examination): boolean => diagnosis !== undefined || failure !== undefined;

const TITLE = 'Doctor';

/** Seconds until the page of a running examination reloads. */
const REFRESH_SECONDS = 2;

/** Seconds that the server has for a response. */
const TIMEOUT_SECONDS = 15;

/** @param label the server's name in messages */
export function createDoctorPage(target: HttpTarget | StdioTarget, label: string): DoctorPage {
  const controller = new AbortController();
  const { signal } = controller;
  /** The number of examinations so far. */
  let count = 0;
  let latest: Examination = { results: [], checking: '' };
  let running: Promise<void> = Promise.resolve();

  function begin(): void {
    const current: Examination = { results: [], checking: '' };
    latest = current;
    count += 1;
    running = diagnose(target, {
      timeoutMs: TIMEOUT_SECONDS * 1_000,
      signal,
      onCheck(id) {
        current.checking = id;
      },
      onResult: (result) => void current.results.push(result),
    }).then(
      (diagnosis) => {
        current.diagnosis = diagnosis;
      },
      (error: unknown) => {
        current.failure = messageOf(error);
      },
    );
  }

  return {
    page: {
      path: '/doctor',
      title: TITLE,
      render(shell, query): RenderedPage {
        // The request names the number of the examination, so that reloading the page starts none.
        if (count === 0 || (isOver(latest) && query.get('examine') === String(count + 1))) begin();
        const refreshSeconds = isOver(latest) ? undefined : REFRESH_SECONDS;
        return { body: bodyOf(shell, label, latest, count), refreshSeconds };
      },
    },
    async close() {
      controller.abort(new Error('The explorer ends'));
      await running;
    },
  };
}

/** @param count the number of this examination */
function bodyOf(shell: Shell, label: string, examination: Examination, count: number): string {
  const { results, checking, diagnosis, failure } = examination;
  const groups = GROUPS.flatMap((group) => {
    const found = merged(results.filter((result) => result.group === group && result.status === 'problem'));
    return found.length === 0 ? [] : [html`<h2>${group}</h2><dl>${found.map(finding)}</dl>`];
  });
  const state =
    diagnosis !== undefined
      ? summaryOf(diagnosis)
      : failure !== undefined
        ? html`<p>${failure}</p>`
        : html`<p role="status">Examining: ${checking === '' ? 'connecting' : checking}</p>`;
  const again = html`<p><a href="/doctor?examine=${count + 1}">Examine it again</a></p>`;
  const main = html`<h1>${TITLE}</h1><p class="soft">${label}</p>${state}${groups}${isOver(examination) && again}`;
  return page(shell, TITLE, undefined, main);
}

function summaryOf({ eras, results, errors, warnings, passed }: Diagnosis): Html {
  const inapplicable = results.filter(({ status }) => status === 'not-applicable').length;
  const spoken = eras.map(({ era, version, refused }) =>
    refused === undefined
      ? html`<li>speaks ${version ?? REVISION[era]}</li>`
      : html`<li>not ${REVISION[era]}: ${refused}</li>`,
  );
  return html`<p>${counted(errors, 'error')}, ${counted(warnings, 'warning')}; ${passed} passed, ${inapplicable} do not apply</p><ul>${spoken}</ul>`;
}

const finding = ({ id, level, title, clause, saw, count = 0, mend, eras }: MergedResult): Html =>
  html`<dt><strong>${level}</strong> ${title} <small>${id}, ${eras.map((era) => REVISION[era]).join(', ')}</small></dt>
<dd>${saw.map((instance) => html`<p><code>${instance}</code></p>`)}${count > saw.length && html`<p>and ${count - saw.length} more</p>`}${mend !== undefined && html`<p>${mend}</p>`}<p class="soft">${clause}</p></dd>`;
