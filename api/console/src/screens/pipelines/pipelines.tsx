import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import { describe } from '@/lib/describe';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, IconButton } from '@/ui/button';
import { Callout, Skeleton } from '@/ui/feedback';
import { Menu } from '@/ui/menu';
import { Card } from '@/ui/page';
import { Badge } from '@/ui/status';
import { toast } from '@/ui/toast';
import { archiveWithUndo } from '../record/archive';
import { CreatePipeline } from './create';
import type { Pipeline } from './draft';
import { Editor } from './editor';
import { t } from './messages';
import styles from './pipelines.module.css';

/** Pipelines has a card for each pipeline of deals, with its stages. */
export function Pipelines() {
  const read = useRead('/api/v1/crm/pipelines', { query: { limit: 200 } });
  const { org, role } = useScope();
  const may = useMay('member');
  const [creating, setCreating] = useState(false);
  const [editing, setEditing] = useState<string | null>(null);
  useCommands(
    may ? [{ id: 'pipelines.create', label: t('newPipeline'), icon: 'plus', keys: 'c', run: () => setCreating(true) }] : [],
  );
  return (
    <SettingsPage
      title={t('title')}
      actions={
        may && (
          <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
            {t('newPipeline')}
          </Button>
        )
      }
    >
      {!may && <Callout>{t('members', { org: org.name, role })}</Callout>}
      {read.error !== null && read.data === undefined ? (
        <Failure error={read.error} again={read.again} />
      ) : read.data === undefined ? (
        <Card title={t('stages')}>
          <Skeleton width="60%" />
        </Card>
      ) : (
        read.data.data.map((pipeline) =>
          editing === pipeline.id ? (
            <Edited key={pipeline.id} id={pipeline.id} onClose={() => setEditing(null)} />
          ) : (
            <Shown key={pipeline.id} pipeline={pipeline} may={may} onEdit={() => setEditing(pipeline.id)} />
          ),
        )
      )}
      {creating && <CreatePipeline onClose={() => setCreating(false)} onCreated={setEditing} />}
    </SettingsPage>
  );
}

/** Edited reads the version of the pipeline that is edited. */
function Edited({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useRead('/api/v1/crm/pipelines/{id}', { path: { id } });
  if (read.answer !== undefined) return <Editor base={read.answer} onClose={onClose} />;
  return (
    <Card title={t('stages')}>
      {read.error === null ? <Skeleton width="60%" /> : <Failure error={read.error} again={read.again} />}
    </Card>
  );
}

function Shown({ pipeline, may, onEdit }: { pipeline: Pipeline; may: boolean; onEdit: () => void }) {
  const navigate = useNavigate();
  const { makeDefault, archive } = useActions();
  const { name } = pipeline;
  return (
    <Card
      title={
        <span className={styles.title}>
          {name}
          {pipeline.default && <Badge>{t('isDefault')}</Badge>}
        </span>
      }
      actions={
        <span className={styles.buttons}>
          {may && (
            <Button size="small" icon="edit" aria-label={t('editOf', { name })} onClick={onEdit}>
              {t('edit')}
            </Button>
          )}
          <Menu
            align="end"
            trigger={<IconButton icon="more" label={t('actionsOf', { name })} />}
            items={[
              {
                label: t('board'),
                icon: 'deals',
                onSelect: () => void navigate({ to: '/app/deals', search: { pipeline: pipeline.id } }),
              },
              ...(may && !pipeline.default
                ? [
                    { label: t('makeDefault'), icon: 'check' as const, onSelect: () => void makeDefault(pipeline) },
                    null,
                    { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => void archive(pipeline) },
                  ]
                : []),
            ]}
          />
        </span>
      }
    >
      <ol className={styles.stages} aria-label={t('stages')}>
        {pipeline.stages.map((stage) => (
          <li key={stage.id} className={styles.stage} data-kind={stage.kind}>
            <span className={styles.dot} data-kind={stage.kind} />
            <span className={styles.name}>{stage.name}</span>
            <span className="meta num">
              {stage.kind === 'open' ? t('chanceOf', { chance: stage.probability }) : t(stage.kind)}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** useActions returns what is done to a pipeline from its menu. */
function useActions() {
  const api = useApi();
  const scope = useScope();
  const refresh = () => invalidate(scope, '/api/v1/crm/pipelines', '/api/v1/crm/deals');
  const makeDefault = async ({ id, name }: Pipeline) => {
    try {
      await api.patch('/api/v1/crm/pipelines/{id}', { path: { id }, body: { default: true }, idempotencyKey: randomId() });
      toast({ title: t('madeDefault', { name }) });
    } catch (error) {
      const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
      toast({ kind: 'bad', title: t('notDone'), detail, ...(request_id !== undefined && { requestId: request_id }) });
    }
    refresh();
  };
  const archive = ({ id, name }: Pipeline) =>
    archiveWithUndo(
      name,
      {
        archive: () => api.delete('/api/v1/crm/pipelines/{id}', { path: { id } }),
        restore: () => api.post('/api/v1/crm/pipelines/{id}/restore', { path: { id }, idempotencyKey: randomId() }),
      },
      refresh,
    );
  return { makeDefault, archive };
}
