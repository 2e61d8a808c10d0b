/** Completes paths with the outer provider, without the content of folders that are opened as containers. */
import type { ResourceProvider } from '../../core/provider.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import { isBesideFolders } from './container.ts';
import type { NestedKind, Outer } from './kind.ts';

export function completing(outer: Outer, kinds: readonly NestedKind[]): NonNullable<ResourceProvider['complete']> {
  return async (request, ctx) => {
    const { uriTemplate, variable, known } = request;
    const given = (await outer.provider.complete?.(request, ctx)) ?? { values: [], hasMore: false };
    const template = parseUriTemplate(uriTemplate);
    const values: string[] = [];
    for (const value of given.values)
      if (await isBesideFolders(outer, kinds, template.expand({ ...known, [variable]: value }))) values.push(value);
    if (values.length === given.values.length) return given;
    const { total: _total, ...rest } = given;
    return { ...rest, values };
  };
}
