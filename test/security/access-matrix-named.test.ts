/** Every caller calls every tool, gets every prompt and completes every template. The outcome is what the decision function says. */
import { expect, it } from 'vitest';
import type { AccessDecision } from '../../src/core/access.ts';
import { createContext } from '../../src/core/context.ts';
import { type Data, inEachEra, inParallel, tally, total } from './access/matrix.ts';
import { expectedOf, type Outcome, outcomeOf } from './access/outcomes.ts';
import { PEOPLE } from './access/rules.ts';

const CALLS: readonly { readonly name: string; readonly arguments: Data }[] = [
  ...['roll', 'sum', 'wipe', 'wiki_echo', 'wiki_edit', 'wiki_wipe', 'nothing', 'wiki_nothing'].flatMap((name) =>
    [{}, { text: 'open', count: 13, loud: true }, { text: 'password', count: 17, loud: true }, { count: 2 }].map(
      (args) => ({
        name,
        arguments: args,
      }),
    ),
  ),
  ...['list', 'list_templates', 'list_subscriptions', 'subscribe_list_changes', 'unsubscribe_list_changes'].map(
    (name) => ({
      name,
      arguments: {},
    }),
  ),
  { name: 'unsubscribe', arguments: { uri: 'docs+file:///a.txt' } },
  { name: 'search', arguments: { pattern: 'text' } },
  { name: 'summarize', arguments: { uri: 'docs+file:///a.txt' } },
];

const PROMPTS = ['greet', 'hush', 'wiki_ask', 'wiki_tell', 'nothing', 'wiki_nothing'];

const ctx = createContext();

inEachEra((scene) => {
  it('every call, with every kind of arguments, ends as the decision function says [SEC-TOOL-2]', async () => {
    const told = tally();
    await inParallel(CALLS, async (call) => {
      const without = outcomeOf(await scene.anybody('tools/call', call));
      for (const { person, decide, ask } of scene.people) {
        const { mount, onlyResources } = scene.matrix.bare.tools.ownerOf(call.name);
        const decision = decide({ operation: 'call', ...call, mount, onlyResources });
        const expected =
          call.name.endsWith('nothing') && decision.effect === 'allow'
            ? without
            : expectedOf('answered', decision, decision);
        const own = expected === 'answered' ? without : expected;
        told.add(`${person.name} calls ${JSON.stringify(call)}`, own, outcomeOf(await ask('tools/call', call)));
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(CALLS.length * PEOPLE.length);
  });

  it('every prompt is given and completed as the decision function says [SEC-PROMPT-2, SEC-UTIL-5]', async () => {
    const told = tally();
    await inParallel(PROMPTS, async (name) => {
      const get = { name, arguments: { who: 'you' } };
      const complete = { ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } };
      const got = outcomeOf(await scene.anybody('prompts/get', get));
      const completed = outcomeOf(await scene.anybody('completion/complete', complete));
      for (const { person, decide, ask } of scene.people) {
        const { mount } = await scene.matrix.bare.prompts.ownerOf(name, ctx);
        const decision = decide({ operation: 'prompt', name, mount });
        const outcome = (without: Outcome, beforehand?: AccessDecision): Outcome =>
          decision.effect === 'allow' ? without : expectedOf('answered', decision, beforehand);
        told.add(`${person.name} gets ${name}`, outcome(got, decision), outcomeOf(await ask('prompts/get', get)));
        told.add(
          `${person.name} completes ${name}`,
          outcome(completed),
          outcomeOf(await ask('completion/complete', complete)),
        );
      }
    });
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(2 * PROMPTS.length * PEOPLE.length);
  });

  it('every template is completed as the decision function says, with values that lead to listed resources [SEC-UTIL-5]', async () => {
    const told = tally();
    for (const { uri: template, variable, values } of [
      { uri: 'items+item:{id}', variable: 'id', values: ['', '7', '9'] },
      { uri: 'docs+file:///{+path}', variable: 'path', values: ['', 'dr', 'drafts/', 'guide/'] },
    ]) {
      for (const value of values) {
        const params = { ref: { type: 'ref/resource', uri: template }, argument: { name: variable, value } };
        const without = await scene.anybody('completion/complete', params);
        for (const { person, decide, ask, sees } of scene.people) {
          const cell = `${person.name} completes ${template} ${value}`;
          const decision = decide({
            operation: 'complete',
            uri: template,
            template: true,
            mount: scene.matrix.bare.mountOf(template),
          });
          const reply = await ask('completion/complete', params);
          told.add(cell, expectedOf(outcomeOf(without), decision), outcomeOf(reply));
          if (decision.effect !== 'allow') continue;
          const all = ((without.result?.completion ?? {}) as { readonly values?: readonly string[] }).values ?? [];
          const kept: string[] = [];
          for (const each of all) {
            const resource = await scene.matrix.lookedAt(
              template.replace(/\{.*\}/, each.split('/').map(encodeURIComponent).join('/')),
            );
            if (resource !== undefined && sees(resource)) kept.push(each);
          }
          const { values: given, total: count } = (reply.result?.completion ?? {}) as {
            values?: string[];
            total?: number;
          };
          if (JSON.stringify(given) !== JSON.stringify(kept) || (count !== undefined && count !== kept.length))
            told.wrong.push(`${cell}: ${given} of ${count} instead of ${kept}`);
        }
      }
    }
    expect(told.wrong).toEqual([]);
    expect(total(told)).toBe(7 * PEOPLE.length);
  });
});
