/** Checks of subscriptions: a declared subscription must be accepted, and ended again. */
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, notApplicable, ok, problem } from '../check.ts';
import { isContainer } from '../examined.ts';
import { answerText } from '../wire.ts';

const group = 'Subscriptions';

/** Returns the URI of the first listed resource that can be subscribed to; undefined if there is none. */
const subscribable = (entries: readonly unknown[]): string | undefined => {
  const found = entries.filter(isData).find((entry) => {
    const { capabilities } = entry;
    const refuses = isData(capabilities) && capabilities.subscribe === false;
    return typeof entry.uri === 'string' && !refuses && !isContainer(entry);
  });
  return found === undefined ? undefined : String(found.uri);
};

const isDeclared = ({ resources }: Data): boolean => isData(resources) && resources.subscribe === true;

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
      if (uri === undefined) return notApplicable('No listed resource can be subscribed to');
      for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        const answer = await wire.ask(method, { uri });
        if (answer.kind !== 'result') {
          return problem(
            `${method} of ${uri}: ${answerText(answer)}`,
            'Answer both with {}, or do not declare subscribe.',
          );
        }
      }
      return ok(uri);
    },
  },
  {
    id: 'subscribe-undeclared',
    group,
    title: 'A server that accepts subscriptions declares them',
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
        `resources/subscribe of ${uri}: ${answerText(answer)}`,
        'Declare resources.subscribe, or refuse with -32601: a client would wait for notifications that never come.',
      );
    },
  },
  {
    id: 'listen',
    group,
    title: 'Declared changes can be listened to',
    clause: 'basic/utilities/subscriptions (2026-07-28: subscriptions/listen)',
    level: 'error',
    era: 'modern',
    async run({ wire, capabilities, examined }) {
      const changes = (name: string): boolean => {
        const declared = capabilities[name];
        return isData(declared) && declared.listChanged === true;
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
          `subscriptions/listen: ${answerText(answer)}`,
          'Acknowledge the accepted subscriptions, before anything else.',
        );
      }
      const acknowledged = isData(answer.result.notifications) ? answer.result.notifications : {};
      const missing = Object.entries(notifications).flatMap(([key, value]) =>
        JSON.stringify(acknowledged[key]) === JSON.stringify(value) ? [] : [key],
      );
      if (missing.length === 0) return ok(Object.keys(notifications).join(', '));
      return problem(
        `Not acknowledged: ${missing.join(', ')}`,
        'Accept subscriptions to all declared changes.',
        'warning',
      );
    },
  },
];
