/** Makes the page that says in one sentence what went wrong and what to do about it. */
import { html } from './html.ts';
import { page, type Shell } from './layout.ts';
import { PROBLEMS, TEXTS } from './texts.ts';

export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly what: string;
}

const UNKNOWN: Problem = PROBLEMS.internal ?? { status: 500, title: TEXTS.noPreview, what: TEXTS.noPreview };

/** Returns the texts for the reason of an error. @param reason as errors name it to clients */
export const problemOf = (reason: string): Problem => PROBLEMS[reason] ?? UNKNOWN;

/** @param message the server's own message, which is shown below the sentence */
export const problemPage = (
  shell: Shell,
  problem: Problem,
  message: string | undefined,
  uri: string | undefined,
): string =>
  page(
    shell,
    problem.title,
    uri,
    html`<h1>${problem.title}</h1><p>${problem.what}</p>${message !== undefined && html`<p class="soft" dir="auto">${message}</p>`}<p><a href="/">${TEXTS.home}</a></p>`,
  );
