/** Shows a template, a tool or a prompt: a form, and its result below. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseUriTemplate } from '../../core/uri-template.ts';
import type { CallToolResult, GetPromptResult, PromptDescription, ToolDescription } from '../../protocol/content.ts';
import type { ResourceTemplate } from '../../protocol/resources.ts';
import { isAbort, Refusal, refusalOf } from '../client/refusal.ts';
import { Problem } from '../panes/problem.tsx';
import { Value } from '../previews/value.tsx';
import { useCell } from '../state/cell.ts';
import { useStore } from '../state/use-store.ts';
import { TEXTS } from '../texts.ts';
import { Blocks } from './blocks.tsx';
import { Completed } from './completed.tsx';
import { defaultsOf, Fields, type Values } from './fields.tsx';

export interface OfferProps {
  readonly kind: 'template' | 'tool' | 'prompt';
  readonly name: string;
}

const GONE = new Refusal('not-found', '');

export function Offer({ kind, name }: OfferProps) {
  const offers = useCell(useStore().offers);
  const template = kind === 'template' ? offers.template.find(({ uriTemplate }) => uriTemplate === name) : undefined;
  const tool = kind === 'tool' ? offers.tool.find((each) => each.name === name) : undefined;
  const prompt = kind === 'prompt' ? offers.prompt.find((each) => each.name === name) : undefined;
  if (template !== undefined) return <TemplateForm template={template} />;
  if (tool !== undefined) return <ToolForm tool={tool} />;
  if (prompt !== undefined) return <PromptForm prompt={prompt} />;
  return offers.isKnown ? <Problem refusal={GONE} again={() => {}} /> : <p class="soft">{TEXTS.waiting}</p>;
}

interface HeadProps {
  readonly title: string;
  readonly description: string | undefined;
  readonly children?: ComponentChildren;
}

function Head({ title, description, children }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h1 dir="auto" tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {children}
      {description !== undefined && (
        <p class="soft" dir="auto">
          {description}
        </p>
      )}
    </>
  );
}

function TemplateForm({ template }: { readonly template: ResourceTemplate }) {
  const store = useStore();
  const { uriTemplate, description } = template;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const parsed = useMemo(() => {
    try {
      return parseUriTemplate(uriTemplate);
    } catch {
      return undefined;
    }
  }, [uriTemplate]);
  const uri = useMemo(() => {
    try {
      return parsed?.expand(values);
    } catch {
      return undefined;
    }
  }, [parsed, values]);
  return (
    <section class="offer">
      <Head title={template.title ?? template.name} description={description}>
        <p>
          <code>{uriTemplate}</code>
        </p>
      </Head>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (uri !== undefined) store.go({ kind: 'resource', uri });
        }}
      >
        {parsed?.variables.map((name) => (
          <Completed
            key={name}
            reference={{ type: 'ref/resource', uri: uriTemplate }}
            name={name}
            values={values}
            put={(value) => setValues((before) => ({ ...before, [name]: value }))}
          />
        ))}
        <p>
          <span class="soft">{TEXTS.addressOf}</span> <code>{uri}</code>
        </p>
        <button type="submit" disabled={uri === undefined}>
          {TEXTS.open}
        </button>
      </form>
    </section>
  );
}

interface Run<T> {
  readonly result?: T;
  readonly problem?: Refusal;
  readonly isRunning: boolean;
}

/** Runs one request at a time. A new one aborts the one before. */
function useRun<T>(method: string) {
  const store = useStore();
  const [state, setState] = useState<Run<T>>({ isRunning: false });
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const run = (params: Values): void => {
    abort.current?.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setState((before) => ({ ...before, isRunning: true }));
    const end = (more: Omit<Run<T>, 'isRunning'>): void => {
      // A run that a newer one has replaced ends unseen.
      if (abort.current?.signal === signal) setState({ ...more, isRunning: false });
    };
    store.client.request<T>(method, params, signal).then(
      (result) => end({ result }),
      (error: unknown) => end(isAbort(error) ? {} : { problem: refusalOf(error) }),
    );
  };
  return { ...state, run, stop: () => abort.current?.abort() };
}

interface ButtonsProps {
  readonly text: string;
  readonly isRunning: boolean;
  readonly stop: () => void;
}

const Buttons = ({ text, isRunning, stop }: ButtonsProps) => (
  <p class="buttons">
    <button type="submit">{text}</button>
    {isRunning && (
      <>
        <button type="button" class="quiet" onClick={stop}>
          {TEXTS.stop}
        </button>
        <span class="soft" role="status">
          {TEXTS.running}
        </span>
      </>
    )}
  </p>
);

function ToolForm({ tool }: { readonly tool: ToolDescription }) {
  const [values, setValues] = useState<Values>(() => defaultsOf(tool.inputSchema));
  const { result, problem, isRunning, run, stop } = useRun<CallToolResult>('tools/call');
  const call = (): void => run({ name: tool.name, arguments: values });
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const hint = readOnlyHint === true ? TEXTS.readOnly : destructiveHint === false ? undefined : TEXTS.destructive;
  return (
    <section class="offer">
      <Head title={tool.title ?? tool.annotations?.title ?? tool.name} description={tool.description}>
        <p>
          <code>{tool.name}</code> {hint !== undefined && <span class="soft">· {hint}</span>}
        </p>
      </Head>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          call();
        }}
      >
        <Fields schema={tool.inputSchema} values={values} change={setValues} />
        <Buttons text={TEXTS.run} isRunning={isRunning} stop={stop} />
      </form>
      {problem !== undefined && <Problem refusal={problem} again={call} />}
      {result !== undefined && (
        <section class="case" aria-label={TEXTS.result} aria-live="polite">
          {result.isError === true && <p role="alert">{TEXTS.failed}</p>}
          <Blocks blocks={result.content} />
          {result.structuredContent !== undefined && result.content.length === 0 && (
            <Value value={result.structuredContent} level={0} />
          )}
        </section>
      )}
    </section>
  );
}

function PromptForm({ prompt }: { readonly prompt: PromptDescription }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const { result, problem, isRunning, run, stop } = useRun<GetPromptResult>('prompts/get');
  const get = (): void => {
    const filled = Object.entries(values).filter(([, value]) => value !== '');
    run({ name: prompt.name, arguments: Object.fromEntries(filled) });
  };
  return (
    <section class="offer">
      <Head title={prompt.title ?? prompt.name} description={prompt.description} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          get();
        }}
      >
        {prompt.arguments?.map(({ name, title, description, required }) => (
          <Completed
            key={name}
            reference={{ type: 'ref/prompt', name: prompt.name }}
            name={name}
            title={title}
            description={description}
            isRequired={required}
            values={values}
            put={(value) => setValues((before) => ({ ...before, [name]: value }))}
          />
        ))}
        <Buttons text={TEXTS.getPrompt} isRunning={isRunning} stop={stop} />
      </form>
      {problem !== undefined && <Problem refusal={problem} again={get} />}
      {result !== undefined && (
        <section class="case" aria-label={TEXTS.result} aria-live="polite">
          {result.messages.map(({ role, content }, at) => (
            <div key={at}>
              <h2>{TEXTS.role[role]}</h2>
              <Blocks blocks={[content]} />
            </div>
          ))}
        </section>
      )}
    </section>
  );
}
