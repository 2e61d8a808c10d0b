/** The walk with sign-in: each person by keyboard alone, and each sees another tree. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Listening, startHttp } from '../e2e/harness.ts';
import type { Listening as Issuer } from '../gateway/authorization/servers.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { freePort } from '../services/programs.ts';
import { describeWith } from '../services/service.ts';
import { openPage } from './opening.ts';
import { CLIENT_ID, startPeople } from './people.ts';
import { Person } from './person.ts';
import { CONFIG, callsATool, comparesRevisions, FILES, findsReadsAndSeesChange, readsARow } from './walk.ts';

describeWith([chromium])('two people who sign in', () => {
  let folder: Folder;
  let people: Issuer;
  let server: Listening;
  let browser: Browser;
  let origin: string;
  /** Errors of the pages, and requests to other machines, since the last sign-in. */
  const wrong: string[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder({ ...FILES, 'docs/press/opening.md': '# The *opening*\n' });
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    people = await startPeople(`${origin}/mcp`);
    const config = await writeConfig(folder, {
      ...CONFIG,
      auth: { resource: `${origin}/mcp`, issuers: [{ issuer: people.origin }] },
      explorer: { clientId: CLIENT_ID },
      access: {
        rules: [
          { effect: 'hide', uris: ['docs+file:///press', 'docs+file:///press/**'], who: { subjects: ['bo'] } },
          { effect: 'allow', who: 'authenticated' },
        ],
      },
    });
    [server, browser] = await Promise.all([startHttp([config], String(port)), startChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    for (const each of [people, folder]) await each?.[Symbol.asyncDispose]();
  });

  /** Opens the explorer, is redirected to the issuer, signs in there and agrees. */
  async function signedIn(name: string): Promise<Person> {
    const page = await openPage(browser, wrong);
    const person = new Person(page, origin);
    await page.goto(origin);
    await person.sees('input[name=login]');
    await person.tabsTo('input[name=login]');
    await person.types(name);
    await person.presses('Tab');
    await person.types('x');
    await person.presses('Enter');
    await person.sees('button', 'Continue');
    await person.tabsTo('button[type=submit]');
    await person.presses('Enter');
    await person.sees('.island');
    // The issuer's pages are not part of the explorer.
    wrong.length = 0;
    return person;
  }

  it.each(['ada', 'bo'])('%s walks through everything by keyboard', async (name) => {
    const person = await signedIn(name);
    await findsReadsAndSeesChange(person, folder);
    await callsATool(person);
    await readsARow(person);
    await comparesRevisions(person);
    expect(wrong).toEqual([]);
  });

  it('see different trees, by folder, by search and by address', async () => {
    const [ada, bo] = [await signedIn('ada'), await signedIn('bo')];
    for (const each of [ada, bo]) {
      await each.visits('/view/docs+file/');
      await each.sees('.row', 'clocks');
    }
    await ada.sees('.row', 'press');
    expect(await bo.text()).not.toContain('press');
    await ada.visits('/search?q=opening');
    await ada.sees('.found mark');
    await bo.visits('/search?q=opening');
    await bo.sees('main', 'Nothing');
    expect(await bo.text()).not.toContain('press');
    await bo.visits('/view/docs+file/press/opening.md');
    await bo.sees('#thing [role=alert]', 'Not here');
    await ada.visits('/view/docs+file/press/opening.md');
    await ada.sees('#thing .prose em', 'opening');
  });
});
