/** Checks of resources: their entries in the list, and their contents when they are read. */
import { isDeepStrictEqual } from 'node:util';
import { base64Size } from '../../../../client/base64.ts';
import { checkContents } from '../../../../client/safety/contents.ts';
import { identityOf } from '../../../../client/shapes.ts';
import { resourceExtensionsIn } from '../../../../connection/results.ts';
import { essenceOf } from '../../../../core/formats/formats.ts';
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, ok, problem, problems } from '../check.ts';
import { isContainer, nameOf, type Sampled, uriProblem } from '../examined.ts';
import { answerText } from '../wire.ts';

const group = 'Resources';

const NONE = 'No resources are listed';

const listedIn = async ({ examined }: CheckContext): Promise<readonly Data[]> =>
  (await examined.list('resources')).entries.filter(isData);

/** Returns the resources of the sample whose answers have contents. */
const readIn = async ({ examined }: CheckContext): Promise<readonly Sampled[]> =>
  (await examined.reads()).filter(({ contents }) => contents.length > 0);

/** Returns the items that have the URI of the resource that was read. */
const itemsOf = ({ uri, contents }: Sampled): readonly Data[] =>
  contents.filter(isData).filter((item) => typeof item.uri === 'string' && identityOf(item.uri) === identityOf(uri));

/** The most bytes of an item whose type is compared with its bytes. */
const MAX_CHECKED = 64 * 1024 * 1024;

export const RESOURCE_CHECKS: readonly Check[] = [
  {
    id: 'uri-valid',
    group,
    title: 'Every URI is valid',
    clause: 'RFC 3986; server/resources, Data Types',
    level: 'error',
    async run(ctx) {
      const listed = await listedIn(ctx);
      if (listed.length === 0) return notApplicable(NONE);
      const seen = listed.flatMap(({ uri }) => {
        const why = typeof uri === 'string' ? uriProblem(uri) : undefined;
        return why === undefined ? [] : [`${nameOf(uri)}: ${why}`];
      });
      return problems(seen, 'Begin with a scheme (a letter first), and percent-encode what RFC 3986 does not allow.');
    },
  },
  {
    id: 'readable',
    group,
    title: 'Every listed resource can be read',
    clause: 'server/resources, Reading Resources',
    level: 'error',
    async run({ examined }) {
      const { entries } = await examined.list('resources');
      if (entries.length === 0) return notApplicable(NONE);
      const reads = await examined.reads();
      const seen = reads
        .filter(({ answer, inWindows }) => answer.kind !== 'result' && !inWindows)
        .map(({ uri, answer }) => `${uri}: ${answerText(answer)}`);
      if (seen.length > 0) return problems(seen, 'Make every listed resource readable, or leave it out of the list.');
      return ok(`${reads.length} of ${entries.length} were read`);
    },
  },
  {
    id: 'contents-form',
    group,
    title: 'Contents are a list of items with a URI, and with either text or blob',
    clause: 'schema, ReadResourceResult, TextResourceContents, BlobResourceContents',
    level: 'error',
    async run({ examined }) {
      const reads = (await examined.reads()).filter(({ answer }) => answer.kind === 'result');
      if (reads.length === 0) return notApplicable('Nothing was read');
      const seen = reads.flatMap(({ uri, answer, contents }) => {
        if (answer.kind === 'result' && !Array.isArray(answer.result.contents))
          return [`${uri}: there are no contents`];
        if (contents.length === 0) return [`${uri}: contents are empty`];
        return contents.flatMap((item) => {
          if (!isData(item)) return [`${uri}: ${nameOf(item).slice(0, 60)} is no object`];
          const keys = ['text', 'blob'].filter((key) => typeof item[key] === 'string');
          return [
            ...(typeof item.uri === 'string' ? [] : [`${uri}: an item has no uri`]),
            ...(keys.length === 1 ? [] : [`${uri}: an item has ${keys.join(' and ') || 'neither text nor blob'}`]),
          ];
        });
      });
      return problems(seen, 'Answer { contents: [{ uri, mimeType, text }] }, or blob in base64 instead of text.');
    },
  },
  {
    id: 'contents-uri',
    group,
    title: 'Contents have the requested URI',
    clause: 'server/resources, Reading Resources; SEP-2093, Multi-Content Semantics',
    level: 'warning',
    async run(ctx) {
      const reads = await readIn(ctx);
      if (reads.length === 0) return notApplicable('Nothing was read');
      const seen = reads
        .filter((read) => itemsOf(read).length === 0)
        .map(({ uri, contents }) => `${uri}: the contents are of ${nameOf((contents[0] as Data | null)?.uri)}`);
      return problems(seen, 'Send back the requested URI: clients recognize the contents by it.');
    },
  },
  {
    id: 'base64-valid',
    group,
    title: 'Blobs are base64',
    clause: 'schema, BlobResourceContents; RFC 4648, 4',
    level: 'error',
    async run(ctx) {
      const blobs = (await readIn(ctx)).flatMap(({ uri, contents }) =>
        contents.filter(isData).flatMap(({ blob }) => (typeof blob === 'string' ? [{ uri, blob }] : [])),
      );
      if (blobs.length === 0) return notApplicable('No blob was read');
      const seen = blobs.filter(({ blob }) => !isBase64(blob)).map(({ uri, blob }) => `${uri}: ${blob.slice(0, 40)}…`);
      return problems(seen, 'Encode with the alphabet of RFC 4648, section 4, with padding, without line breaks.');
    },
  },
  {
    id: 'mime-type',
    group,
    title: 'MIME types fit the bytes',
    clause: 'server/resources, Data Types (mimeType)',
    level: 'error',
    async run(ctx) {
      const reads = await readIn(ctx);
      if (reads.length === 0) return notApplicable('Nothing was read');
      const seen: string[] = [];
      const different: string[] = [];
      for (const read of reads) {
        const { uri, listed } = read;
        for (const item of itemsOf(read)) {
          const wrong = await typeProblem(item);
          if (wrong !== undefined) seen.push(`${uri}: ${wrong}`);
        }
        const types = itemsOf(read).flatMap(({ mimeType }) => (typeof mimeType === 'string' ? [mimeType] : []));
        if (
          typeof listed.mimeType === 'string' &&
          types.length > 0 &&
          !types.some((type) => sameType(type, listed.mimeType))
        ) {
          different.push(`${uri}: listed as ${listed.mimeType}, read as ${types[0]}`);
        }
      }
      const mend = 'Give the type of the bytes, in the list and in the contents; leave it out if it is not known.';
      return seen.length > 0 ? problems([...seen, ...different], mend) : problems(different, mend, 'warning');
    },
  },
  {
    id: 'size',
    group,
    title: 'Sizes are those of the contents',
    clause: 'schema, Resource (size: bytes before base64)',
    level: 'error',
    async run(ctx) {
      const sized = (await readIn(ctx)).filter(({ listed }) => typeof listed.size === 'number');
      if (sized.length === 0) return notApplicable('No resource that was read has a size in the list');
      const seen = sized.flatMap((read) => {
        const sizes = itemsOf(read).map(sizeOf);
        if (sizes.length === 0 || sizes.includes(Number(read.listed.size))) return [];
        return [`${read.uri}: listed with ${read.listed.size} bytes, and has ${sizes[0]}`];
      });
      return problems(
        seen,
        'Count bytes of UTF-8, or of the data before base64; leave the size out if it is not known.',
      );
    },
  },
  {
    id: 'missing-resource',
    group,
    title: 'An unknown resource is refused with the right code',
    clause: 'server/resources, Error Handling (-32002 up to 2025-11-25, -32602 since 2026-07-28)',
    level: 'error',
    async run({ wire, era, capabilities }) {
      if (!isData(capabilities.resources)) return notApplicable('No resources are declared');
      const uri = 'vitrine-doctor:///no/such/resource';
      const answer = await wire.ask('resources/read', { uri });
      const mend = `Answer with the error ${era === 'legacy' ? '-32002' : '-32602'} and data: { uri }: clients go by the code.`;
      if (answer.kind !== 'error') return problem(`${uri}: ${answerText(answer)}`, mend);
      const { code } = answer.error;
      if (code === -32_602 || (code === -32_002 && era === 'legacy')) return ok(`error ${code}`);
      return problem(`${uri}: ${answerText(answer)}`, mend, 'warning');
    },
  },
  {
    id: 'annotations',
    group,
    title: 'Annotations have allowed values',
    clause: 'server/resources, Annotations',
    level: 'error',
    async run(ctx) {
      const annotated = (await listedIn(ctx)).filter(({ annotations }) => annotations !== undefined);
      if (annotated.length === 0) return notApplicable('No resource is annotated');
      const seen = annotated.flatMap(({ uri, annotations }) =>
        annotationProblems(annotations).map((why) => `${nameOf(uri)}: ${why}`),
      );
      return problems(
        seen,
        'audience: user and assistant; priority: from 0 to 1; lastModified: ISO 8601, as 2025-01-12T15:00:58Z.',
      );
    },
  },
  {
    id: 'metadata-agrees',
    group,
    title: 'resources/metadata agrees with the list',
    clause: 'SEP-2093 (where it is declared)',
    level: 'error',
    async run({ wire, capabilities, examined, limits }) {
      if (!resourceExtensionsIn(capabilities).metadata) return notApplicable('resources/metadata is not declared');
      const { entries } = await examined.list('resources');
      if (entries.length === 0) return notApplicable(NONE);
      const seen: string[] = [];
      for (const listed of entries.filter(isData).slice(0, limits.sample)) {
        const answer = await wire.ask('resources/metadata', { uri: listed.uri });
        const resource = answer.kind === 'result' ? answer.result.resource : undefined;
        if (!isData(resource)) seen.push(`${nameOf(listed.uri)}: ${answerText(answer)}`);
        else {
          const different = ['uri', 'name', 'mimeType', 'size', 'capabilities'].filter(
            (key) => !isDeepStrictEqual(resource[key], listed[key]),
          );
          if (different.length > 0) seen.push(`${nameOf(listed.uri)}: ${different.join(', ')} differ`);
        }
      }
      return problems(seen, 'Give the same fields in both.');
    },
  },
  {
    id: 'containers-list',
    group,
    title: 'A resource that declares children lists them',
    clause: 'SEP-2093 (where it is declared)',
    level: 'error',
    async run({ wire, examined, limits }) {
      const { entries } = await examined.list('resources');
      const containers = entries
        .filter(isData)
        .filter(({ capabilities, ...entry }) => isData(capabilities) && isContainer({ capabilities, ...entry }));
      if (containers.length === 0) return notApplicable('No resource says that it has children');
      const seen: string[] = [];
      for (const { uri } of containers.slice(0, limits.sample)) {
        const answer = await wire.ask('resources/list', { uri });
        if (answer.kind !== 'result' || !Array.isArray(answer.result.resources))
          seen.push(`${nameOf(uri)}: ${answerText(answer)}`);
      }
      return problems(seen, 'Answer resources/list with the uri, or say capabilities.list: false.');
    },
  },
];

const isBase64 = (blob: string): boolean => blob.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(blob);

function sizeOf({ text, blob }: Data): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : base64Size(typeof blob === 'string' ? blob : '');
}

const sameType = (type: unknown, other: unknown): boolean => essenceOf(String(type)) === essenceOf(String(other));

/** Tells what is wrong with the MIME type of an item; undefined if nothing is. */
async function typeProblem(item: Data): Promise<string | undefined> {
  const { mimeType, text, blob } = item;
  if (mimeType === undefined) return undefined;
  if (typeof mimeType !== 'string' || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(?:;.*)?$/.test(mimeType)) {
    return `${nameOf(mimeType)} is no MIME type`;
  }
  const contents = {
    mimeType,
    ...(typeof text === 'string' && { text }),
    ...(typeof blob === 'string' && { blob }),
  };
  try {
    const checked = await checkContents(contents, { maxBytes: MAX_CHECKED });
    // Only a contradiction counts: text in another encoding than UTF-8 may rightly be sent as a blob.
    return checked.problems.includes('type-contradicted')
      ? `the type is given as ${mimeType}, but the bytes are ${checked.mimeType}`
      : undefined;
  } catch {
    // Another check reports contents that cannot be decoded.
    return undefined;
  }
}

/** The times of ISO 8601 that `Date` can parse, too. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

function annotationProblems(annotations: unknown): readonly string[] {
  if (!isData(annotations)) return ['annotations is no object'];
  const { audience, priority, lastModified } = annotations;
  const isAudience = Array.isArray(audience) && audience.every((role) => role === 'user' || role === 'assistant');
  return [
    ...(audience === undefined || isAudience ? [] : [`audience is ${JSON.stringify(audience)}`]),
    ...(priority === undefined || (typeof priority === 'number' && priority >= 0 && priority <= 1)
      ? []
      : [`priority is ${JSON.stringify(priority)}`]),
    ...(lastModified === undefined || (typeof lastModified === 'string' && MOMENT.test(lastModified))
      ? []
      : [`lastModified is ${JSON.stringify(lastModified)}`]),
  ];
}
