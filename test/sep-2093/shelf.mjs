/**
 * A hierarchy for servers of the SDK: a shelf with a drawer that has more leaves than a page holds, and a report in two
 * formats.
 */
import { invalid } from 'vitrine/sep-2093';

/** @typedef {import('vitrine/sep-2093').HierarchyResource} Resource */

const PAGE = 2;

/** @type {readonly Resource[]} */
const RESOURCES = [
  { uri: 'shelf:///', name: 'The shelf', mimeType: 'inode/directory', capabilities: { list: true } },
  { uri: 'shelf:///empty', mimeType: 'inode/directory', capabilities: { list: true } },
  { uri: 'shelf:///drawer', title: 'Drawer', mimeType: 'inode/directory', capabilities: { list: true } },
  ...[1, 2, 3, 4].map((number) => ({ uri: `shelf:///drawer/${number}`, mimeType: 'text/plain', size: 6 })),
  {
    uri: 'shelf:///report',
    title: 'Report',
    description: 'In two formats',
    mimeType: 'text/markdown',
    size: 8,
    annotations: { audience: ['user'], priority: 0.5 },
    icons: [{ src: 'https://shelf.example/report.png', sizes: ['48x48'] }],
  },
];

/** @param {string} uri */
const parentOf = (uri) => {
  const parent = uri.slice(0, uri.lastIndexOf('/'));
  return parent === 'shelf://' ? 'shelf:///' : parent;
};

/** @param {string | undefined} uri */
const childrenOf = (uri) =>
  RESOURCES.filter((each) =>
    uri === undefined ? each.uri === 'shelf:///' : each.uri !== uri && parentOf(each.uri) === uri,
  );

/** @type {Required<import('vitrine/sep-2093').ResourceHierarchy>} */
export const shelf = {
  list(uri, cursor) {
    const children = childrenOf(uri);
    const from = cursor === undefined ? 0 : children.findIndex((each) => each.uri === cursor) + 1;
    if (cursor !== undefined && from === 0) throw invalid('This is no cursor of this list');
    const resources = children.slice(from, from + PAGE);
    return { resources, ...(from + PAGE < children.length && { nextCursor: resources.at(-1)?.uri }) };
  },
  metadata: (uri) => RESOURCES.find((each) => each.uri === uri),
  read(uri) {
    if (uri === 'shelf:///report') {
      return [
        { uri, size: 8, text: '# Report' },
        { uri, mimeType: 'text/html', size: 15, text: '<h1>Report</h1>' },
      ];
    }
    const children = childrenOf(uri);
    return children.length > 0
      ? children
          .filter((each) => !each.capabilities?.list)
          .map((each) => ({ ...each, text: `text ${each.uri.at(-1)}` }))
      : uri.startsWith('shelf:///drawer/')
        ? [{ uri, text: `text ${uri.at(-1)}` }]
        : [];
  },
};
