import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Answer, Api } from './api';
import { type Page, Pages, type PagesState } from './list/pages';
import type { PathOf, Result, Target, TargetRest } from './operations';
import { useScope } from './scope';
import { useApi } from './services';
import type { ReadKey } from './stream/invalidate';

// Reading. What is read stays current: the event stream marks it stale (stream/invalidate.ts), by path.

/** readOptions returns the query of a GET, for useQuery, useSuspenseQuery and a route's loader. */
export function readOptions<P extends PathOf<'get'>>(api: Api, path: P, ...[target]: TargetRest<P>) {
  return queryOptions({
    queryKey: [path, target] as const,
    queryFn: ({ signal }): Promise<Answer<Result<'get', P>>> => api.read(path, target, signal),
  });
}

export interface Read<T> {
  data: T | undefined;
  /** The whole answer, with its ETag. */
  answer: Answer<T> | undefined;
  error: unknown;
  pending: boolean;
  fetching: boolean;
  again: () => void;
}

/** useRead reads one resource and keeps it current. */
export function useRead<P extends PathOf<'get'>>(path: P, ...target: TargetRest<P>): Read<Result<'get', P>> {
  const query = useQuery(readOptions(useApi(), path, ...target));
  return {
    data: query.data?.data,
    answer: query.data,
    error: query.error,
    pending: query.isPending,
    fetching: query.isFetching,
    again: () => void query.refetch(),
  };
}

/** The paths that answer a list with cursors. */
export type ListPath = { [P in PathOf<'get'>]: Result<'get', P> extends Page<unknown> ? P : never }[PathOf<'get'>];
export type Row<P extends ListPath> = Result<'get', P> extends Page<infer T> ? T : never;

export interface List<T> extends PagesState<T> {
  pages: Pages<T>;
  /** The scroll offset with which the list was left. */
  offset: number;
  keepOffset: (offset: number) => void;
}

/** useList reads a list of any length: a window of pages (list/pages.ts) that is kept while other pages are shown. */
export function useList<P extends ListPath>(path: P, ...[target]: TargetRest<P>): List<Row<P>> {
  const api = useApi();
  const { lists } = useScope();
  const name = JSON.stringify([path, target]);
  const kept = useMemo(() => {
    const key: ReadKey = [path, target as ReadKey[1]];
    return lists.of<Row<P>>(key, () => new Pages({ load: loader<P>(api, path, target) }));
  }, [api, lists, name]); // name stands for path and target
  const state = useSyncExternalStore(kept.pages.subscribe, kept.pages.get);
  useEffect(() => {
    if (kept.pages.get().pending) kept.pages.show(0, 0);
  }, [kept]);
  return {
    ...state,
    pages: kept.pages,
    offset: kept.offset,
    keepOffset: (offset) => {
      kept.offset = offset;
    },
  };
}

function loader<P extends ListPath>(api: Api, path: P, target: Target<P> | undefined) {
  return async (cursor: string | null, signal: AbortSignal): Promise<Page<Row<P>>> => {
    const query = {
      limit: 100,
      ...(target as { query?: object } | undefined)?.query,
      ...(cursor === null ? {} : { cursor }),
    };
    const { data } = await api.read(path, { ...(target as object | undefined), query } as Target<P>, signal);
    return data as Page<Row<P>>;
  };
}

/** invalidate reads again everything below the paths. It is for changes that emit no event. */
export function invalidate(
  scope: { queries: QueryClient; lists: { refresh(m: (key: ReadKey) => boolean): void } },
  ...paths: PathOf<'get'>[]
): void {
  const below = (key: ReadKey) => paths.some((path) => key[0] === path || key[0].startsWith(`${path}/`));
  void scope.queries.invalidateQueries({ predicate: ({ queryKey }) => below(queryKey as unknown as ReadKey) });
  scope.lists.refresh(below);
}
