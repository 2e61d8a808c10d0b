// Asks a files provider as a user to whom things can be denied. Arguments: the built provider, the folder.
const NOBODY = 65_534;
const [, , module, folder] = process.argv;
const { filesProvider } = await import(module);

if (process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(NOBODY);
  process.setuid(NOBODY);
}

const log = { debug() {}, info() {}, warn() {}, error() {} };
const ctx = { principal: { id: 'nobody' }, signal: new AbortController().signal, requestId: '1', log };
const provider = await filesProvider({ path: folder });

const ask = {
  read: async (uri) => {
    const [body] = await provider.read(uri, { maxBytes: 1_000, maxChildren: 10 }, ctx);
    return Buffer.from(body.content.bytes).toString();
  },
  metadata: async (uri) => (await provider.metadata(uri, ctx)).name,
  list: async (uri) => (await provider.list(uri, { limit: 100 }, ctx)).resources.map(({ name }) => name).join(' '),
  watch: async (uri) => {
    const handle = await provider.watch(uri, () => {}, ctx);
    await handle[Symbol.asyncDispose]();
    return 'watched';
  },
};

const asked = [
  'read a.txt',
  'read closed.txt',
  'metadata closed.txt',
  'list ',
  'list closed',
  'read closed/x.txt',
  'metadata closed/x.txt',
  'read closed/nothing',
  'list blind',
  'read .hidden',
  'read out/closed/x.txt',
  'read out/closed/nothing',
  'watch closed/x.txt',
];
const answers = {};
for (const question of asked) {
  const [what, path] = question.split(' ');
  answers[question] = await ask[what](`file:///${path}`).catch((error) => error.code);
}
process.stdout.write(JSON.stringify(answers));
await provider.close();
