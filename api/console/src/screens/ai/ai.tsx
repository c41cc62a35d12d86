import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { invalidate, readOptions, useRead } from '@/lib/read';
import { randomId } from '@/lib/random';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Card, PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import { isActive } from '../jobs/targets';
import { report } from '../record/report';
import { t } from './messages';
import { InUse, Quality } from './model';
import { Quarantined, Reasons } from './reasons';
import { Usage } from './usage';
import { Versions } from './versions';
import styles from './ai.module.css';

const trainingPause = 2000; // milliseconds between two reads of a training under way

/** AI shows the model that scores contacts, its versions, and the use of tokens. */
export function AI() {
  const model = useRead('/api/v1/ai/score-model');
  const may = useMay('member');
  const { train, isTraining } = useTraining();
  useCommands(may ? [{ id: 'ai.train', label: t('train'), icon: 'spark', run: () => void train() }] : []);
  return (
    <div className={styles.page}>
      <PageHead title={t('title')}>
        {may && (
          <Button kind="primary" size="small" icon="spark" busy={isTraining} onClick={() => void train()}>
            {isTraining ? t('training') : t('train')}
          </Button>
        )}
      </PageHead>
      <div className={styles.cards}>
        {model.data !== undefined ? (
          <>
            <InUse model={model.data} />
            <Quality model={model.data} />
            <Reasons model={model.data} />
            <Quarantined model={model.data} />
            <Versions />
          </>
        ) : model.error === null ? (
          <Card title={t('model')}>
            <Skeleton width="60%" />
          </Card>
        ) : (
          <Failure error={model.error} again={model.again} />
        )}
        <Usage />
      </div>
    </div>
  );
}

/** useTraining begins a training and reports whether one is under way. */
function useTraining() {
  const api = useApi();
  const scope = useScope();
  const [begun, setBegun] = useState(false);
  const last = useQuery({
    ...readOptions(api, '/api/v1/jobs', { query: { kind: 'train', limit: 1 } }),
    refetchInterval: ({ state }) => {
      const job = state.data?.data.data[0];
      return begun || (job !== undefined && isActive(job)) ? trainingPause : false;
    },
  });
  const job = last.data?.data.data[0];
  const isTraining = begun || (job !== undefined && isActive(job));
  const was = useRef(isTraining);
  useEffect(() => {
    if (was.current && !isTraining) invalidate(scope, '/api/v1/ai/score-model', '/api/v1/crm/contacts');
    was.current = isTraining;
  }, [isTraining, scope]);
  useEffect(() => {
    if (begun && job !== undefined) setBegun(false);
  }, [last.dataUpdatedAt]);
  const train = async () => {
    try {
      const { data } = await api.post('/api/v1/ai/score-model/train', { idempotencyKey: randomId() });
      setBegun(true);
      toast({ title: t('trainBegun', { count: data.outcomes }), detail: t('trainHelp') });
      invalidate(scope, '/api/v1/jobs');
    } catch (error) {
      report(t('trainFailed'), error);
    }
  };
  return { train, isTraining };
}
