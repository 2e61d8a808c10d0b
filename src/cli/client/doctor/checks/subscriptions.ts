/** Subscriptions: what is declared is taken, and given up again. */
import { type Check, notApplicable, ok, problem } from '../check.ts';
import { isContainer } from '../examined.ts';
import { type Data, isObject, told } from '../wire.ts';

const group = 'Subscriptions';

/** A resource that can be subscribed to, as far as the list says. */
const subscribable = (entries: readonly unknown[]): string | undefined => {
  const found = entries.filter(isObject).find((entry) => {
    const { capabilities } = entry;
    const refuses = isObject(capabilities) && capabilities.subscribe === false;
    return typeof entry.uri === 'string' && !refuses && !isContainer(entry);
  });
  return found === undefined ? undefined : String(found.uri);
};

const isDeclared = ({ resources }: Data): boolean => isObject(resources) && resources.subscribe === true;

export const SUBSCRIPTION_CHECKS: readonly Check[] = [
  {
    id: 'subscribe',
    group,
    title: 'A resource can be subscribed to, and unsubscribed from',
    clause: 'server/resources, Subscriptions',
    level: 'error',
    era: 'legacy',
    async run({ wire, capabilities, examined }) {
      if (!isDeclared(capabilities)) return notApplicable('resources.subscribe is not declared');
      const uri = subscribable((await examined.list('resources')).entries);
      if (uri === undefined) return notApplicable('No resource is listed that can be subscribed to');
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        const answer = await wire.ask(method, { uri });
        if (answer.kind !== 'result') {
          return problem(`${method} of ${uri}: ${told(answer)}`, 'Answer both with {}, or do not declare subscribe.');
        }
      }
      return ok(uri);
    },
  },
  {
    id: 'subscribe-undeclared',
    group,
    title: 'Subscriptions that are taken are declared',
    clause: 'server/resources, Capabilities',
    level: 'warning',
    era: 'legacy',
    async run({ wire, capabilities, examined }) {
      if (isDeclared(capabilities)) return notApplicable('resources.subscribe is declared');
      const uri = subscribable((await examined.list('resources')).entries);
      if (uri === undefined) return notApplicable('No resource is listed');
      const answer = await wire.ask('resources/subscribe', { uri });
      if (answer.kind !== 'result') return ok();
      await wire.ask('resources/unsubscribe', { uri });
      return problem(
        `resources/subscribe of ${uri}: ${told(answer)}`,
        'Declare resources.subscribe, or refuse with -32601: a client would wait for changes that are never told.',
      );
    },
  },
  {
    id: 'listen',
    group,
    title: 'Changes that are declared can be listened to',
    clause: 'basic/utilities/subscriptions (2026-07-28: subscriptions/listen)',
    level: 'error',
    era: 'modern',
    async run({ wire, capabilities, examined }) {
      const changes = (name: string): boolean => {
        const declared = capabilities[name];
        return isObject(declared) && declared.listChanged === true;
      };
      const uri = isDeclared(capabilities) ? subscribable((await examined.list('resources')).entries) : undefined;
      const notifications = {
        ...(changes('resources') && { resourcesListChanged: true }),
        ...(changes('tools') && { toolsListChanged: true }),
        ...(changes('prompts') && { promptsListChanged: true }),
        ...(uri !== undefined && { resourceSubscriptions: [uri] }),
      };
      if (Object.keys(notifications).length === 0) return notApplicable('No changes are declared');
      const answer = await wire.listen({ notifications });
      if (answer.kind !== 'result') {
        return problem(
          `subscriptions/listen: ${told(answer)}`,
          'Acknowledge what can be told of, before anything else.',
        );
      }
      const honoured = isObject(answer.result.notifications) ? answer.result.notifications : {};
      const missing = Object.entries(notifications).flatMap(([key, value]) =>
        JSON.stringify(honoured[key]) === JSON.stringify(value) ? [] : [key],
      );
      if (missing.length === 0) return ok(Object.keys(notifications).join(', '));
      return problem(`Not acknowledged: ${missing.join(', ')}`, 'Honour what the capabilities declare.', 'warning');
    },
  },
];
