/** Documents for operators of the server, in its own state: mounts, the audit, rates, and who may do what. */
import type { Mount } from '../../core/mounts/mount.ts';
import { changeTexts } from '../../core/text/scrub.ts';
import type { StateDocument } from '../../frontends/state.ts';
import type { Access } from '../../layers/access/index.ts';
import type { Audit } from '../../layers/audit/index.ts';
import type { Limits } from '../../layers/limits/index.ts';
import { type Explaining, explainDocument } from './explain.ts';

export interface OperatorState extends Explaining {
  readonly mounts: readonly Mount[];
  readonly access: Access | undefined;
  readonly audit: Audit | undefined;
  readonly limits: Limits;
}

/** Makes the documents. A server without operators has none. */
export function operatorDocuments(parts: OperatorState): readonly StateDocument[] {
  const { access, audit, limits } = parts;
  if (access?.outline.operators === undefined) return [];
  return [
    mountsDocument(parts),
    ...(audit === undefined ? [] : [auditDocument(audit)]),
    {
      name: 'rates',
      title: 'Rates and what is in use',
      description:
        'The principals that have used most of each rate, and the present numbers of requests, subscriptions, sessions and streams',
      forOperators: true,
      of: () => limits.inUse(),
    },
    explainDocument(parts, access),
  ];
}

const mountsDocument = ({ mounts, hide = (text) => text }: OperatorState): StateDocument => ({
  name: 'mounts',
  title: 'Mounts',
  description: 'All mounts: kind and health of each, and for mounted servers their identity and latest failure',
  forOperators: true,
  of: async () =>
    changeTexts(
      { mounts: await Promise.all(mounts.map(async (mount) => ({ ...factsOf(mount), ...(await stateOf(mount)) }))) },
      hide,
    ),
});

function factsOf({ name, provider: { name: kind, features }, listed, indexed, prefix }: Mount): object {
  const { schemes, watch, search, templates, completion } = features;
  return {
    name,
    kind,
    schemes,
    ...(prefix !== undefined && { prefix }),
    ...(listed !== undefined && { listed }),
    ...(indexed !== undefined && { indexed }),
    features: { watch, search, templates, completion },
  };
}

async function stateOf({ health, ready }: Mount): Promise<object> {
  const isReady = await ready?.().catch(() => false);
  return { ...(isReady !== undefined && { ready: isReady }), ...(health !== undefined && { server: health() }) };
}

const auditDocument = (audit: Audit): StateDocument => ({
  name: 'audit',
  title: 'The last lines of the audit',
  description: 'The operations that ended most recently, as recorded by the audit, latest last',
  forOperators: true,
  of: async () => (await audit.last()) ?? { lines: [], elsewhere: 'The audit goes to standard error' },
});
