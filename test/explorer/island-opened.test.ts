/** The walk over `vitrine open` with a server of other makers, which does not know Vitrine: by keyboard alone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Opened, opened } from '../cli/opened.ts';
import { isInstalled, SERVERS } from '../interop/servers/index.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith, type Service } from '../services/service.ts';
import { openPage } from './opening.ts';
import { Person } from './person.ts';

const EVERYTHING = SERVERS.find(({ name }) => name === 'everything');

const everything: Service = {
  name: 'the everything server',
  missing: () =>
    EVERYTHING !== undefined && isInstalled(EVERYTHING) ? undefined : 'node scripts/install-interop.mjs servers',
};

describeWith([chromium, everything])('the everything server, opened', () => {
  let explorer: Opened;
  let browser: Browser;
  let mine: Page;
  let person: Person;
  /** Errors of the pages, and requests to other machines. */
  const wrong: string[] = [];

  beforeAll(async () => {
    const { command = '', args = [] } = EVERYTHING?.start('') ?? {};
    [explorer, browser] = await Promise.all([opened([[command, ...args].join(' '), '--no-browser']), startChromium()]);
    mine = await openPage(browser, wrong);
    person = new Person(mine, explorer.origin);
    await mine.goto(explorer.entry);
    await person.sees('.island');
  });

  afterAll(async () => {
    await browser?.close();
    await explorer?.[Symbol.asyncDispose]();
  });

  it('shows the name of the server, and its instructions for models as written', async () => {
    await person.visits('/');
    await person.sees('.crumbs', 'Everything Reference Server');
    await person.sees('article .lead', 'mcp-servers/everything');
    await person.sees('article .prose h2', 'Server Instructions');
    await person.sees('article .prose code', 'get-roots-list');
  });

  it('finds a document by search, and reads it', async () => {
    await person.visits('/');
    await person.presses('Control+k');
    await person.types('architecture');
    await person.sees('.found mark');
    await person.presses('Enter');
    expect(await person.focused()).toContain('architecture.md');
    await person.presses('Enter');
    await person.sees('#thing h1', 'architecture.md');
    await person.sees('#thing .prose', 'Everything Server');
  });

  it('fills a template, and shows a change of the resource', async () => {
    // The updates start before anything else: a call during another call would get a program of its own, without the
    // subscription.
    await toggles('Started');
    await person.visits(`/?template=${encodeURIComponent('demo://resource/dynamic/text/{resourceId}')}`);
    await person.tabsTo('.field input');
    await person.types('7');
    await person.offered('7');
    await person.presses('Enter');
    await person.sees('#thing', 'Resource 7: This is a plaintext resource');
    await person.sees('#thing [data-live]');
    await person.sees('#thing .glow');
    await toggles('Stopped');
  });

  /** Starts or stops the updates of the server. */
  async function toggles(said: string): Promise<void> {
    await person.visits('/?tool=toggle-subscriber-updates');
    await person.tabsTo('.offer button[type=submit]');
    await person.presses('Enter');
    await person.sees('.offer .case', said);
  }

  it('calls a tool by its form, and shows its result', async () => {
    await person.visits('/?tool=get-sum');
    await person.tabsTo('.field input');
    await person.types('2');
    await person.presses('Tab');
    await person.types('3');
    await person.presses('Enter');
    await person.sees('.offer .case', 'The sum of 2 and 3 is 5.');
  });

  it('gets a prompt by its form', async () => {
    await person.visits('/?prompt=args-prompt');
    await person.tabsTo('.field input');
    await person.types('Lisbon');
    await person.presses('Enter');
    await person.sees('.offer', 'weather in Lisbon');
  });

  it('gets a question of a tool, and answers it', async () => {
    await person.visits('/?tool=trigger-elicitation-request');
    await person.tabsTo('.offer button[type=submit]');
    await person.presses('Enter');
    await person.sees('dialog');
    await person.tabsTo('dialog input');
    await person.types('Joss Pell');
    await person.tabsTo('dialog button[type=submit]');
    await person.presses('Enter');
    await person.missesNow('dialog');
    await person.sees('.offer .case', 'Joss Pell');
  });

  it('sends nothing elsewhere, and has no errors', () => {
    expect(wrong).toEqual([]);
  });
});
