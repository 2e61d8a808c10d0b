/** Policies and requests for tests of the Cedar plug-in. */
import type { AccessRequest, Principal, Resource } from 'vitrine/plug-in';
import { type CedarOptions, type CedarPolicy, cedarPolicy } from '../../plug-ins/cedar/index.ts';

export const ANNA: Principal = {
  id: 'https://login.example#anna',
  subject: 'anna',
  issuer: 'https://login.example',
  clientId: 'browser',
  scopes: ['docs:read'],
  groups: ['staff', 'staff'],
};

export const URI = 'docs+file:///a.txt';
export const of = (resource: Partial<Resource> = {}, request: Partial<AccessRequest> = {}): AccessRequest => ({
  principal: ANNA,
  operation: 'read',
  uri: URI,
  mount: 'docs',
  resource: { uri: URI, name: 'a.txt', ...resource },
  ...request,
});
export const call = (args: AccessRequest['arguments'], request: Partial<AccessRequest> = {}): AccessRequest => ({
  principal: ANNA,
  operation: 'call',
  name: 'wiki_edit',
  mount: 'wiki',
  arguments: args,
  ...request,
});

const open: CedarPolicy[] = [];

/** Closes the policies that a test has opened. */
export async function closePolicies(): Promise<void> {
  for (const policy of open.splice(0)) await policy.close();
}

export async function policyOf(policies: string, more: Partial<CedarOptions> = {}): Promise<CedarPolicy> {
  const policy = await cedarPolicy({ policies, ...more });
  open.push(policy);
  return policy;
}

export async function decided(policies: string, request: AccessRequest, more?: Partial<CedarOptions>): Promise<string> {
  const { effect, rule } = (await policyOf(policies, more)).decide(request);
  return `${effect}: ${rule}`;
}

export const DEFAULT = 'deny: default';
export const BOTH = '@id("all") permit(principal, action, resource);';
