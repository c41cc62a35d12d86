import type { List } from '@/lib/read';
import { Button } from '@/ui/button';
import { t } from './messages';

/** rowsOf returns the loaded rows of a list that is shown whole, page after page. */
export function rowsOf<T>(list: List<T>): T[] {
  const rows: T[] = [];
  for (let i = 0; i < list.length; i++) {
    const row = list.row(i);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** Rest is the button that loads the next page of such a list. */
export function Rest<T>({ list }: { list: List<T> }) {
  if (list.complete || list.pending || list.row(list.length - 1) !== undefined) return null;
  return (
    <div>
      <Button size="small" onClick={() => list.pages.show(0, list.length - 1)}>
        {t('more')}
      </Button>
    </div>
  );
}
