/** Joins a tree of mounts with the operations on tools, prompts and skills, which gives all operations of an engine. */
import { withAgain } from './again.ts';
import type { NamedOperations } from './operations.ts';
import type { ResourceProvider } from './provider.ts';

/** Adds the named operations to a tree of mounts. @param named is called at each use, because the operations may be made later */
export function withNamed<P extends ResourceProvider>(tree: P, named: () => NamedOperations): P & NamedOperations {
  const operations: NamedOperations = {
    listTools: (page, ctx) => named().listTools(page, ctx),
    callTool: (request, owner, invocation) => named().callTool(request, owner, invocation),
    askTask: (request, owner, invocation) => named().askTask(request, owner, invocation),
    headerParameters: (tool, owner, ctx) => named().headerParameters(tool, owner, ctx),
    listPrompts: (page, ctx) => named().listPrompts(page, ctx),
    getPrompt: (request, owner, invocation) => named().getPrompt(request, owner, invocation),
    completePrompt: (request, owner, ctx) => named().completePrompt(request, owner, ctx),
    listSkills: (page, ctx) => named().listSkills(page, ctx),
    getSkill: (uri, ctx) => named().getSkill(uri, ctx),
    subscribe: (to, onChange, ctx) => named().subscribe(to, onChange, ctx),
  };
  return withAgain(Object.assign(tree, operations), {
    callToolAgain: (request, owner, ctx) => named().callToolAgain?.(request, owner, ctx),
  });
}
