import { useRef, type ReactNode } from 'react';
import { useCommands, type Command } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import type { List } from '@/lib/read';
import { Button, buttonLook } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Icon, type IconName } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { Table, type TableHandle, type TableProps } from '@/ui/table';
import { Toolbar } from '@/ui/toolbar';
import { GoLink } from '../record/golink';
import styles from './list.module.css';

type TableParts<R> = Pick<TableProps<R>, 'columns' | 'href' | 'onOpen' | 'actions' | 'phone' | 'twoLines'>;

export interface ListScreenProps<R> extends TableParts<R> {
  /** Begins the ids of the commands: "broadcasts". */
  name: string;
  title: string;
  /** One of the rows, as the keys' texts have it: "broadcast". */
  one: string;
  list: List<R>;
  /** What makes a new one; absent for those who may not. With href its button is a link. */
  create?: { label: string; command: string; href?: string; run: () => void } | undefined;
  /** Says above the list which role may change it. */
  note?: ReactNode;
  /** The controls of the toolbar, which is hidden while there is nothing to filter. */
  filter?: ReactNode;
  /** Set while a filter is on: what is shown if nothing matches. */
  filtered?: { title: string; action: string; clear: () => void } | undefined;
  empty: { icon: IconName; title: string; text: string; guide: { label: string; href: string } };
  /** The dialogs of the screen. */
  children?: ReactNode;
}

/** ListScreen is the frame of a list: its head with what makes a new one, keys, filter, table, and empty state. */
export function ListScreen<R extends { id: string }>(props: ListScreenProps<R>) {
  const { name, title, one, list, create, note, filter, filtered, empty, children, ...parts } = props;
  const table = useRef<TableHandle>(null);
  const commands: Command[] = [
    { id: `${name}.down`, label: `Next ${one}`, keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: `${name}.up`, label: `Previous ${one}`, keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ];
  if (create) commands.push({ id: `${name}.create`, label: create.command, icon: 'plus', keys: 'c', run: create.run });
  useCommands(commands);
  const isEmpty = list.complete && list.length === 0;
  const isNew = isEmpty && filtered === undefined;
  const button =
    create === undefined ? undefined : create.href === undefined ? (
      <Button kind="primary" size="small" icon="plus" onClick={create.run}>
        {create.label}
      </Button>
    ) : (
      <GoLink href={create.href} className={buttonLook({ kind: 'primary', size: 'small' })}>
        <Icon name="plus" />
        {create.label}
      </GoLink>
    );
  return (
    <>
      <PageHead title={title} count={list.total === null ? undefined : formatNumber(list.total)}>
        {!isNew && button}
      </PageHead>
      {note !== undefined && <p className={styles.note}>{note}</p>}
      {filter !== undefined && !isNew && <Toolbar>{filter}</Toolbar>}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isNew ? (
        <EmptyState icon={empty.icon} title={empty.title} action={button} guide={empty.guide}>
          {empty.text}
        </EmptyState>
      ) : isEmpty && filtered !== undefined ? (
        <EmptyState
          icon="filter"
          title={filtered.title}
          action={<Button onClick={filtered.clear}>{filtered.action}</Button>}
        />
      ) : (
        <Table
          ref={table}
          label={title}
          rows={list}
          rowKey={(row) => row.id}
          loading={list.pending}
          {...parts}
        />
      )}
      {children}
    </>
  );
}
