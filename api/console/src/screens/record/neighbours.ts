import type { List } from '@/lib/read';

/** neighboursOf returns the records before and after id in the loaded rows of the list. */
export function neighboursOf<T extends { id: string }>(list: List<T>, id: string): { previous?: T; next?: T } {
  for (let at = 0; at < list.length; at++) {
    if (list.row(at)?.id !== id) continue;
    const previous = at === 0 ? undefined : list.row(at - 1);
    const next = list.row(at + 1);
    return { ...(previous && { previous }), ...(next && { next }) };
  }
  return {};
}
