import { useScope } from '@/lib/scope';
import { useStore } from '@/lib/store';
import { useRead } from '@/lib/read';
import { Button } from '@/ui/button';
import { Select } from '@/ui/select';
import { Status } from '@/ui/status';
import { Gap, Toolbar } from '@/ui/toolbar';
import { ranges, statuses, type DeliveryFilter } from './filter';
import { t } from './messages';
import { nameOf, statusWords, type Webhook } from './words';
import styles from './webhooks.module.css';

const any = '';

/** FilterBar filters deliveries. webhooks is set where those of several are listed. */
export function FilterBar({ filter, onFilter, webhooks }: {
  filter: DeliveryFilter;
  onFilter: (filter: DeliveryFilter) => void;
  webhooks?: readonly Webhook[];
}) {
  const types = useRead('/api/v1/event-types');
  const change = (part: { [K in keyof DeliveryFilter]: DeliveryFilter[K] | undefined }) => {
    const next = { ...filter, ...part };
    onFilter(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)));
  };
  const rangeWords = { hour: t('hour'), day: t('day'), week: t('week'), month: t('month') };
  return (
    <Toolbar>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('status')}
          value={filter.status ?? any}
          onChange={(value) => change({ status: statuses.find((one) => one === value) })}
          options={[
            { value: any, label: t('anyStatus') },
            ...statuses.map((one) => ({ value: one, label: statusWords[one].word })),
          ]}
        />
      </span>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('type')}
          value={filter.type ?? any}
          onChange={(value) => change({ type: value === any ? undefined : value })}
          options={[
            { value: any, label: t('anyType') },
            ...(types.data?.data ?? []).map((one) => ({ value: one.type, label: one.type })),
          ]}
        />
      </span>
      {webhooks && (
        <span className={styles.select}>
          <Select
            size="small"
            label={t('webhook')}
            value={filter.webhook ?? any}
            onChange={(value) => change({ webhook: value === any ? undefined : value })}
            options={[
              { value: any, label: t('anyWebhook') },
              ...webhooks.map((hook) => ({ value: hook.id, label: nameOf(hook.url) })),
            ]}
          />
        </span>
      )}
      <span className={styles.select}>
        <Select
          size="small"
          label={t('time')}
          value={filter.range ?? any}
          onChange={(value) => change({ range: ranges.find((one) => one === value) })}
          options={[{ value: any, label: t('anyTime') }, ...ranges.map((one) => ({ value: one, label: rangeWords[one] }))]}
        />
      </span>
      {Object.keys(filter).length > 0 && (
        <Button kind="quiet" size="small" onClick={() => onFilter({})}>
          {t('clear')}
        </Button>
      )}
      <Gap />
      <LiveStatus />
    </Toolbar>
  );
}

/** LiveStatus says whether what is shown follows what happens. */
export function LiveStatus() {
  const { hub } = useScope();
  const connected = useStore(hub.connected);
  return <Status tone={connected ? 'good' : 'warn'}>{connected ? t('live') : t('reconnecting')}</Status>;
}
