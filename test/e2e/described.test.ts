/** A configuration that describes resources, and contains literal ones. */
import { expect, it } from 'vitest';
import { metadata, readOne } from './answers.ts';
import { temporaryFolder, writeConfig } from './folders.ts';
import { connect, DIAGONAL } from './harness.ts';

it.each(DIAGONAL)(
  'literal resources and descriptions of a configuration, over $transport, $era [RES-3]',
  async ({ transport, era }) => {
    await using folder = await temporaryFolder({ 'docs/reports/may.md': '# May' });
    const config = await writeConfig(folder, {
      describe: [{ uris: ['docs+file:///reports/*'], title: 'Report {stem}', audience: ['user'], priority: 0.8 }],
      mounts: {
        docs: './docs',
        notes: { resources: { 'today.md': '# Today', 'facts.json': { text: '{"a":1}', title: 'Facts' } } },
      },
    });
    await using connected = await connect(transport, era, [config]);
    const described = { title: 'Report may', annotations: { audience: ['user'], priority: 0.8 } };
    expect(await metadata(connected, 'docs+file:///reports/may.md')).toMatchObject(described);
    expect(await readOne(connected, 'docs+file:///reports/may.md')).toMatchObject({ ...described, text: '# May' });
    expect(await readOne(connected, 'notes+memory:///today.md')).toMatchObject({
      mimeType: 'text/markdown',
      text: '# Today',
    });
    expect(await metadata(connected, 'notes+memory:///facts.json')).toMatchObject({
      title: 'Facts',
      mimeType: 'application/json',
      size: 7,
    });
  },
);
