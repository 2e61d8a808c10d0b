/** Cases: programs that write, files, heads of prompts, and documents that are converted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../lib/folders.mjs';
import { filled, numbered } from './hostile.mjs';

const KIB = 1_024;
const MIB = 1_024 * KIB;

const HEADS = () => ({
  'many keys': numbered(200 * KIB, (at) => `k${at}: 1\n`),
  'many aliases': `a: &a 1\nb: [${filled(200 * KIB, '*a,')}]\n`,
  'many anchors and aliases': `${numbered(8 * KIB, (at) => `a${at}: &a${at} 1\n`)}b: [${numbered(8 * KIB, (at) => `*a${at % 500},`)}]\n`,
  'many tags': `x: [${numbered(200 * KIB, (at) => `!t${at} 1,`)}]\n`,
  'deep nesting': `x: ${'['.repeat(100 * KIB)}\n`,
  'a long text': `description: ${'x'.repeat(200 * KIB)}\n`,
});

const FILES = () => ({
  'notebook.ipynb': `{"cells":[${filled(6 * MIB, '{},')}{}]}`,
  'table.csv': filled(6 * MIB, 'a,"b",c\n'),
  'page.html': filled(6 * MIB, '<div><p>'),
  'mail.eml': `Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${filled(3 * MIB, '--b\n\nx\n')}`,
  'text.txt': filled(6 * MIB, '\n'),
  'data.json': `[${filled(6 * MIB, '{},')}0]`,
});

export function otherCases() {
  const folder = temporaryFolder();
  const heads = Object.entries(HEADS()).map(([name, head], at) => {
    const path = join(folder, `prompts-${at}`);
    mkdirSync(path);
    for (let number = 0; number < 5; number++) writeFileSync(join(path, `p${number}.md`), `---\n${head}---\nHello\n`);
    return {
      name: `prompt: ${name}`,
      bytes: head.length,
      mounts: { files: folder },
      more: { prompts: path },
      ask: [['prompts/list', {}]],
    };
  });
  const files = join(folder, 'files');
  mkdirSync(files);
  const documents = Object.entries(FILES()).map(([name, text]) => {
    writeFileSync(join(files, name), text);
    return {
      name: `file: ${name}`,
      bytes: text.length,
      mounts: { files: { path: files, prefix: 'none' } },
      ask: [
        ['resources/read', { uri: `file:///${name}` }],
        ['tools/call', { name: 'read', arguments: { uri: `file:///${name}` } }],
      ],
    };
  });
  const outputs = Object.entries({
    'small values': "process.stdout.write('[' + '{},'.repeat(2e6) + '0]')",
    'empty lines': "process.stdout.write('\\n'.repeat(6e6))",
    'more than it may write': "for (;;) process.stdout.write('x'.repeat(65536))",
  }).map(([name, program]) => ({
    name: `command: ${name}`,
    mounts: { run: { run: { 'out.json': [process.execPath, '-e', program] }, prefix: 'none' } },
    ask: [['resources/read', { uri: 'command:///out.json' }]],
  }));
  return [...heads, ...documents, ...outputs];
}
