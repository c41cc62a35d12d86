import { Link, Outlet, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Gap, Toolbar } from '@/ui/toolbar';
import { useMembers } from '../record/directory';
import { BoardView } from './boardview';
import { CreateDeal } from './create';
import { ListView } from './list';
import { t } from './messages';
import styles from './deals.module.css';

/** Deals shows the deals of a pipeline, as a board or as a list; the panel of one deal is beside it. */
export function Deals() {
  const search = useSearch({ from: '/app/deals' });
  const navigate = useNavigate();
  const may = useMay('member');
  const pipelines = useRead('/api/v1/crm/pipelines', { query: { limit: 200 } });
  const members = useMembers();
  const [creating, setCreating] = useState(false);
  const all = pipelines.data?.data ?? [];
  const pipeline = all.find((one) => one.id === search.pipeline) ?? all.find((one) => one.default) ?? all[0];
  const show = (view: 'board' | 'list') =>
    void navigate({ to: '.', search: ({ view: _, ...rest }) => (view === 'list' ? { ...rest, view } : rest) });
  useCommands([
    ...(may
      ? [{ id: 'deals.create', label: t('createTitle'), icon: 'plus' as const, keys: 'c', run: () => setCreating(true) }]
      : []),
    {
      id: 'deals.view',
      label: search.view === 'list' ? `${t('view')}: ${t('board')}` : `${t('view')}: ${t('list')}`,
      icon: 'columns',
      keys: 'v',
      run: () => show(search.view === 'list' ? 'board' : 'list'),
    },
  ]);
  return (
    <div className={styles.page}>
      <div className={styles.main}>
        <PageHead title={t('title')}>
          {may && (
            <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
              {t('create')}
            </Button>
          )}
        </PageHead>
        <Toolbar label={t('title')}>
          {all.length > 1 && pipeline !== undefined && (
            <div className={styles.pick}>
              <Select
                label={t('pipeline')}
                size="small"
                options={all.map(({ id, name }) => ({ value: id, label: name }))}
                value={pipeline.id}
                onChange={(id) => void navigate({ to: '.', search: (old) => ({ ...old, pipeline: id }) })}
              />
            </div>
          )}
          {search.view === 'list' && <ListControls />}
          <Gap />
          <nav className={styles.views} aria-label={t('view')}>
            <Link
              to="."
              activeOptions={{ exact: true }}
              search={({ view: _, status: __, sort: ___, ...rest }) => rest}
              aria-current={search.view === undefined ? 'true' : undefined}
            >
              <Icon name="columns" size={14} /> {t('board')}
            </Link>
            <Link
              to="."
              activeOptions={{ exact: true }}
              search={(old) => ({ ...old, view: 'list' as const })}
              aria-current={search.view === 'list' ? 'true' : undefined}
            >
              <Icon name="menu" size={14} /> {t('list')}
            </Link>
          </nav>
        </Toolbar>
        {!may && <p className={styles.note}>{t('readOnly')}</p>}
        {pipeline === undefined ? (
          pipelines.error !== null ? (
            <Failure error={pipelines.error} again={pipelines.again} />
          ) : (
            <div className={styles.skeletons}>
              <Skeleton width="40%" />
            </div>
          )
        ) : search.view === 'list' ? (
          <ListView pipeline={pipeline} members={members} />
        ) : (
          <BoardView key={pipeline.id} pipeline={pipeline} members={members} />
        )}
      </div>
      <Outlet />
      {creating && pipeline !== undefined && (
        <CreateDeal pipeline={pipeline} members={members} onClose={() => setCreating(false)} />
      )}
    </div>
  );
}

function ListControls() {
  const { status, sort } = useSearch({ from: '/app/deals' });
  const navigate = useNavigate();
  return (
    <>
      <div className={`${styles.pick} ${styles.narrow}`}>
        <Select
          label={t('status')}
          size="small"
          options={[
            { value: 'any', label: t('any') },
            { value: 'open', label: t('open') },
            { value: 'won', label: t('won') },
            { value: 'lost', label: t('lost') },
          ]}
          value={status ?? 'any'}
          onChange={(next) =>
            void navigate({
              to: '.',
              search: ({ status: _, ...rest }) => (next === 'any' ? rest : { ...rest, status: next }),
            })
          }
        />
      </div>
      <div className={`${styles.pick} ${styles.narrow}`}>
        <Select
          label={t('sort')}
          size="small"
          options={[
            { value: '-created_at', label: t('newest') },
            { value: 'created_at', label: t('oldest') },
            { value: '-amount', label: t('largest') },
            { value: 'expected_close_on', label: t('soonest') },
          ]}
          value={sort ?? '-created_at'}
          onChange={(next) => void navigate({ to: '.', search: (old) => ({ ...old, sort: next }) })}
        />
      </div>
    </>
  );
}
