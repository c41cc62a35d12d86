import { useMemo, useState } from 'react';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Money } from '@/ui/money';
import { PageHead } from '@/ui/page';
import { ScoreRing } from '@/ui/score';
import { Badge, Status } from '@/ui/status';
import { Table, type Column, type Sort } from '@/ui/table';
import { Time } from '@/ui/time';
import { BulkBar, Chip, Gap, SearchInput, Toolbar } from '@/ui/toolbar';
import styles from './kit.module.css';

interface Row {
  id: string;
  name: string;
  email: string;
  score: number;
  stage: string;
  amount: number;
  at: string;
}

const names = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov', 'Niklaus Wirth'];
const stages = ['Lead', 'MQL', 'Customer', 'Opportunity'];

const columns: readonly Column<Row>[] = [
  {
    key: 'name',
    title: 'Name',
    sort: 'last_name',
    cell: (row) => (
      <span className={styles.person}>
        <Avatar name={row.name} />
        {row.name}
      </span>
    ),
  },
  { key: 'email', title: 'Email', cell: (row) => row.email, wide: true },
  { key: 'score', title: 'Score', width: 72, sort: 'lead_score', cell: (row) => <ScoreRing score={row.score} /> },
  { key: 'stage', title: 'Stage', width: 120, wide: true, cell: (row) => <Badge>{row.stage}</Badge> },
  {
    key: 'state',
    title: 'Email status',
    width: 120,
    wide: true,
    cell: (row) => (row.score > 30 ? <Status tone="good">Valid</Status> : <Status tone="bad">Bounced</Status>),
  },
  {
    key: 'amount',
    title: 'Open deals',
    width: 112,
    end: true,
    wide: true,
    cell: (row) => <Money amount={row.amount} currency="USD" />,
  },
  { key: 'at', title: 'Added', width: 120, end: true, wide: true, cell: (row) => <Time at={row.at} /> },
];

export function Lists() {
  const [search, setSearch] = useState('');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [sort, setSort] = useState<Sort>({ by: 'lead_score', descending: true });
  const rows = useMemo(
    () =>
      Array.from({ length: 3000 }, (_, i) => {
        const name = names[i % names.length] as string;
        return {
          id: String(i),
          name,
          email: `${name.split(' ')[0]?.toLowerCase()}.${i}@example.com`,
          score: (i * 37) % 101,
          stage: stages[i % stages.length] as string,
          amount: ((i * 7919) % 90_000) * 100,
          at: new Date(Date.now() - i * 5_400_000).toISOString(),
        };
      }),
    [],
  );
  const shown = rows.filter((row) => row.name.toLowerCase().includes(search.toLowerCase()));
  return (
    <section className={styles.part}>
      <h2>Lists</h2>
      <div className={styles.table}>
        <PageHead title="Contacts" count={shown.length.toLocaleString('en')}>
          <Button kind="primary" size="small" icon="plus">
            New contact
          </Button>
        </PageHead>
        <Toolbar>
          <SearchInput label="Search contacts" value={search} onChange={setSearch} />
          <Chip name="Stage" value="Lead, MQL" onEdit={() => undefined} onRemove={() => undefined} />
          <Chip name="Score" operator="over" value="40" onEdit={() => undefined} onRemove={() => undefined} />
          <Button kind="quiet" size="small" icon="filter">
            Add filter
          </Button>
          <Gap />
          <Button kind="quiet" size="small" icon="columns">
            View
          </Button>
        </Toolbar>
        {shown.length === 0 ? (
          <EmptyState title="No contact matches" action={<Button onClick={() => setSearch('')}>Clear filters</Button>} />
        ) : (
          <Table
            label="Contacts"
            columns={columns}
            rows={shown}
            rowKey={(row) => row.id}
            phone={(row) => `${row.stage} · ${row.email}`}
            href={(row) => `#${row.id}`}
            onOpen={() => undefined}
            selected={selected}
            onSelect={setSelected}
            sort={sort}
            onSort={setSort}
            actions={() => [
              { label: 'Open', icon: 'external', onSelect: () => undefined },
              { label: 'Archive', icon: 'archive', danger: true, onSelect: () => undefined },
            ]}
          />
        )}
      </div>
      <div className={styles.table}>
        <Table label="Loading" columns={columns} rows={[]} rowKey={(row) => row.id} loading />
      </div>
      <EmptyState
        icon="webhook"
        title="Send events to your own systems"
        action={<Button kind="primary">Create webhook</Button>}
        guide={{ label: 'How webhooks work', href: '/docs/webhooks' }}
      >
        A webhook gets each event within a second, signed, and again until your endpoint accepts it.
      </EmptyState>
      <BulkBar
        count={selected.size}
        total={shown.length}
        onAll={() => setSelected(new Set(shown.map((row) => row.id)))}
        onClear={() => setSelected(new Set())}
      >
        <Button kind="quiet" size="small" icon="tag">
          Tag
        </Button>
        <Button kind="quiet" size="small" icon="archive">
          Archive
        </Button>
      </BulkBar>
    </section>
  );
}
