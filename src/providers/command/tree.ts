/** Arranges the paths of programs in folders: paths without variables, and paths whose variables have listed values. */
import { nameProblem } from '../../core/uri.ts';
import { type Entry, type Instance, instanceAt, isTemplate } from './programs.ts';

/** The most resources that the listed values of one template make. A template that would make more adds none to lists. */
const MAX_INSTANCES = 1_000;

export interface Tree {
  /** Returns the children of a folder, folders first, then by name; undefined if there is no such folder. */
  children(segments: readonly string[]): readonly Child[] | undefined;
}

export interface Child {
  readonly name: string;
  /** Undefined for a folder. */
  readonly instance: Instance | undefined;
  /** The key that lists are sorted by: it puts folders before programs, and then sorts by name. */
  readonly key: string;
}

export function treeOf(entries: readonly Entry[]): Tree {
  const folders = new Map<string, Map<string, Child>>([['', new Map()]]);

  function add(segments: readonly string[], instance: Instance): void {
    for (const [index, name] of segments.entries()) {
      const isFolder = index < segments.length - 1;
      const folder = folderOf(segments.slice(0, index));
      const key = `${isFolder ? 'd' : 'f'}${name}`;
      if (!folder.has(key)) folder.set(key, { name, key, instance: isFolder ? undefined : instance });
    }
  }
  function folderOf(segments: readonly string[]): Map<string, Child> {
    const path = segments.join('/');
    const folder = folders.get(path) ?? new Map<string, Child>();
    folders.set(path, folder);
    return folder;
  }

  for (const entry of entries) {
    for (const segments of pathsOf(entry)) {
      const instance = instanceAt(entries, segments);
      if (instance?.entry === entry) add(segments, instance);
    }
  }
  return {
    children(segments) {
      const folder = folders.get(segments.join('/'));
      return folder && [...folder.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    },
  };
}

/** The paths that an entry adds to lists: its own, or one for each combination of values if all variables have a list of them. */
function pathsOf(entry: Entry): readonly (readonly string[])[] {
  const counts = [...entry.variables.values()].map(({ values }) => values?.length ?? Number.POSITIVE_INFINITY);
  if (isTemplate(entry) && counts.reduce((product, count) => product * count, 1) > MAX_INSTANCES) return [];
  let paths: readonly (readonly string[])[] = [[]];
  for (const parts of entry.segments) {
    let names: readonly string[] = [''];
    for (const part of parts) {
      const texts = 'text' in part ? [part.text] : (part.variable.values ?? []);
      names = names.flatMap((name) => texts.map((text) => name + text));
    }
    paths = paths.flatMap((path) => names.map((name) => [...path, name]));
  }
  return paths.filter((path) => path.every((name) => nameProblem(name) === undefined));
}
