/** The walk in Firefox, by keyboard alone. */
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Listening, startHttp } from '../e2e/harness.ts';
import { firefox, startFirefox } from '../services/firefox.ts';
import { describeWith } from '../services/service.ts';
import { type Driven, Person } from './person.ts';
import { CONFIG, callsATool, comparesRevisions, FILES, findsReadsAndSeesChange, readsARow } from './walk.ts';

describeWith([firefox])('in Firefox', () => {
  let folder: Folder;
  let server: Listening;
  let browser: Browser;
  let person: Person;

  beforeAll(async () => {
    folder = await temporaryFolder(FILES);
    const config = await writeConfig(folder, CONFIG);
    [server, browser] = await Promise.all([startHttp([config]), startFirefox()]);
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    // The types of Puppeteer differ, because they allow for handles of values. No script here takes or returns a handle.
    person = new Person(page as unknown as Driven, new URL(server.url).origin);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('finds a file by search, reads it, and shows its change', () => findsReadsAndSeesChange(person, folder));

  it('calls a tool, and shows its result', () => callsATool(person));

  it('fills a template with completion, and reads a row', () => readsARow(person));

  it('compares two revisions', () => comparesRevisions(person));
});
