/** The page that says in one sentence what went wrong and what to do about it. */
import { html } from './html.ts';
import { page, type Shell } from './layout.ts';
import { PROBLEMS, TEXTS } from './texts.ts';

export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly what: string;
}

const UNKNOWN: Problem = PROBLEMS.internal ?? { status: 500, title: TEXTS.noPreview, what: TEXTS.noPreview };

/** @param reason of the error, as clients are told it */
export const problemOf = (reason: string): Problem => PROBLEMS[reason] ?? UNKNOWN;

/** @param said what the server says of it, beside the sentence */
export const problemPage = (
  shell: Shell,
  problem: Problem,
  said: string | undefined,
  uri: string | undefined,
): string =>
  page(
    shell,
    problem.title,
    uri,
    html`<h1>${problem.title}</h1><p>${problem.what}</p>${said !== undefined && html`<p class="soft" dir="auto">${said}</p>`}<p><a href="/">${TEXTS.home}</a></p>`,
  );
