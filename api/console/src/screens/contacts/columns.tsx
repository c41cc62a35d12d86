import { Avatar } from '@/ui/avatar';
import { ScoreRing } from '@/ui/score';
import { Badge } from '@/ui/status';
import type { Column } from '@/ui/table';
import { Time } from '@/ui/time';
import type { Members } from '../record/directory';
import { label } from '../record/label';
import { nameOf, type Contact } from '../record/types';
import { t } from './messages';
import styles from './contacts.module.css';

/** The columns beside the name, in their order. */
export const columnNames = [
  'email',
  'score',
  'stage',
  'tags',
  'owner',
  'job',
  'phone',
  'source',
  'segments',
  'added',
  'changed',
] as const;
export type ColumnName = (typeof columnNames)[number];
export const defaultColumns: readonly ColumnName[] = ['email', 'score', 'stage', 'tags', 'owner', 'added'];

/** columnsOf returns the chosen columns of the list. */
export function columnsOf(chosen: readonly ColumnName[], members: Members): Column<Contact>[] {
  const all: Record<ColumnName, Omit<Column<Contact>, 'key' | 'title'>> = {
    email: { sort: 'email', wide: true, cell: (c) => <span className={styles.soft}>{c.email}</span> },
    score: { sort: 'lead_score', width: 68, cell: (c) => <ScoreRing score={c.lead_score} /> },
    stage: { width: 124, wide: true, cell: (c) => <Badge>{label(c.stage)}</Badge> },
    tags: { width: '18%', wide: true, cell: (c) => <Tags tags={c.tag} /> },
    owner: { width: 132, wide: true, cell: (c) => c.owner_id && members.nameOf(c.owner_id) },
    job: { width: '16%', wide: true, cell: (c) => c.job_title },
    phone: { width: 132, wide: true, cell: (c) => c.phone },
    source: { width: 104, wide: true, cell: (c) => c.source },
    segments: { width: '16%', wide: true, cell: (c) => <Tags tags={c.segment} /> },
    added: { sort: 'created_at', width: 112, wide: true, end: true, cell: (c) => <Time at={c.created_at} /> },
    changed: { width: 112, wide: true, end: true, cell: (c) => <Time at={c.updated_at} /> },
  };
  return [
    {
      key: 'name',
      title: t('name'),
      sort: 'last_name',
      cell: (c) => (
        <span className={styles.person}>
          <Avatar name={nameOf(c)} />
          <span className={styles.cut}>{nameOf(c)}</span>
        </span>
      ),
    },
    ...columnNames.filter((name) => chosen.includes(name)).map((name) => ({ key: name, title: t(name), ...all[name] })),
  ];
}

const tagsShown = 3;

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span className={styles.tags} title={tags.join(', ')}>
      {tags.slice(0, tagsShown).map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
      {tags.length > tagsShown && <span className="meta">+{tags.length - tagsShown}</span>}
    </span>
  );
}
