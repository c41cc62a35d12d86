import type { ReactNode } from 'react';
import { Checkbox } from './checkbox';
import { Icon } from './icon';
import { cx } from './cx';
import styles from './table.module.css';

/** Column is one column of a Table. The first one is the name of the row. */
export interface Column<R> {
  key: string;
  title: string;
  cell: (row: R) => ReactNode;
  /** In px, or a share such as "30%". Columns without one share the rest. */
  width?: number | string;
  /** Numbers and amounts stand at the end. */
  end?: boolean;
  /** The list can be sorted by it, under this name. */
  sort?: string;
  /** Hidden on phones. */
  wide?: boolean;
}

export interface Sort {
  by: string;
  descending: boolean;
}

export function TableHead<R>({ columns, sort, onSort, hasActions, all }: {
  columns: readonly Column<R>[];
  sort: Sort | undefined;
  onSort?: (sort: Sort) => void;
  hasActions: boolean;
  all?: { on: boolean; mixed: boolean; set: (on: boolean) => void };
}) {
  return (
    <thead>
      <tr>
        {all && (
          <th className={styles.check} scope="col">
            <div>
              <Checkbox label="Select all shown" hideLabel checked={all.on} mixed={all.mixed} onChange={all.set} />
            </div>
          </th>
        )}
        {columns.map((column) => {
          const sorted = column.sort !== undefined && sort?.by === column.sort;
          return (
            <th
              key={column.key}
              scope="col"
              className={cx(column.end && styles.end, column.wide && styles.wide)}
              style={{ width: column.width }}
              aria-sort={sorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
            >
              {column.sort !== undefined && onSort ? (
                <button
                  type="button"
                  className={styles.sort}
                  onClick={() => onSort({ by: column.sort as string, descending: sorted ? !sort.descending : false })}
                >
                  {column.title}
                  {sorted && <Icon name={sort.descending ? 'down' : 'up'} size={12} />}
                </button>
              ) : (
                column.title
              )}
            </th>
          );
        })}
        {hasActions && (
          <th className={styles.act} scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        )}
      </tr>
    </thead>
  );
}
