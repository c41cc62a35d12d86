import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { isProblem } from '@/lib/problem';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, IconButton } from '@/ui/button';
import { JsonView } from '@/ui/code';
import { Id } from '@/ui/copy';
import { Skeleton } from '@/ui/feedback';
import { Facts, PageHead } from '@/ui/page';
import { Badge, Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { useRedeliver } from './actions';
import { Attempts } from './attempts';
import { RequestPart, ResponsePart } from './exchange';
import { useLive } from './live';
import { t as shared } from './messages';
import { messages } from '@/lib/messages';
import { SignatureCheck } from './check';
import { nameOf, statusWords, triggerWord, type Delivery } from './words';
import styles from './delivery.module.css';

const t = messages({
  back: 'Deliveries of this webhook',
  waiting: 'The first attempt begins in a moment.',
  attempts: 'Attempts',
  delivery: 'Delivery',
  event: 'Event',
  endpoint: 'Endpoint',
  created: 'Created',
  trigger: 'Sent by',
  body: 'Body',
  noBody: 'The event is no longer stored, so its body cannot be shown. Events are kept for 30 days.',
  testBody: 'A test event is not part of the feed, so its body is not kept for this page. The signature check needs the body.',
  attempt: 'Attempt {number}',
});

/** How often the page is read again while more is to come, in milliseconds. */
const periods: Readonly<Record<string, number>> = { pending: 1000, failed: 5000 };

/** DeliveryPage shows one delivery: its attempts, and the request and the answer of the chosen one. */
export function DeliveryPage() {
  const { id, d } = useParams({ from: '/app/settings/integrations/webhooks/$id/deliveries/$d' });
  const delivery = useRead('/api/v1/webhook-deliveries/{id}', { path: { id: d } });
  const hook = useRead('/api/v1/webhooks/{id}', { path: { id }, query: { include_archived: true } });
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const { submit, busy } = useRedeliver();
  useLive(periods[delivery.data?.status ?? ''] ?? 0, '/api/v1/webhook-deliveries');
  const again = async () => {
    const made = await submit({ id: d });
    if (made === undefined) return;
    const params = { id: made.data.webhook_id, d: made.data.id };
    void navigate({ to: '/app/settings/integrations/webhooks/$id/deliveries/$d', params });
  };
  const back = () => void navigate({ to: '/app/settings/integrations/webhooks/$id', params: { id } });
  useCommands([
    ...(isAdmin
      ? [
          {
            id: 'delivery.redeliver',
            label: shared('redeliver'),
            icon: 'refresh' as const,
            keys: 'r',
            run: () => void again(),
          },
        ]
      : []),
    { id: 'delivery.back', label: t('back'), icon: 'left', keys: 'esc', keyOnly: true, run: back },
  ]);
  if (delivery.error !== null && delivery.data === undefined) {
    return <Failure error={delivery.error} again={delivery.again} />;
  }
  const one = delivery.data;
  return (
    <>
      <PageHead
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
        title={one?.event_type ?? <Skeleton width={180} />}
        count={one && <Status tone={statusWords[one.status].tone}>{statusWords[one.status].word}</Status>}
      >
        {isAdmin && (
          <Button kind="primary" size="small" icon="refresh" busy={busy} onClick={() => void again()}>
            {shared('redeliver')}
          </Button>
        )}
      </PageHead>
      {one !== undefined && <Body delivery={one} url={hook.data?.url} />}
    </>
  );
}

function Body({ delivery, url }: { delivery: Delivery; url: string | undefined }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const attempt = delivery.attempts.find((one) => one.id === chosen) ?? delivery.attempts.at(-1);
  const body = useBody(delivery);
  const name = url === undefined ? '' : nameOf(url);
  return (
    <div className={styles.page}>
      <div className={styles.left}>
        <h2 className={styles.heading}>{t('attempts')}</h2>
        <Attempts delivery={delivery} chosen={attempt?.id} onChoose={setChosen} />
        <h2 className={styles.heading}>{t('delivery')}</h2>
        <Facts
          facts={[
            [t('endpoint'), name],
            [t('event'), <Id key="event" id={delivery.event_id} />],
            [t('delivery'), <Id key="delivery" id={delivery.id} />],
            [t('created'), <Time key="created" at={delivery.created_at} />],
            [t('trigger'), <Badge key="trigger">{triggerWord(delivery.trigger)}</Badge>],
          ]}
        />
      </div>
      <div className={styles.right}>
        {attempt === undefined ? (
          <p className="meta">{t('waiting')}</p>
        ) : (
          <div className={styles.exchange} aria-label={t('attempt', { number: attempt.number })} role="group">
            <RequestPart attempt={attempt} url={url ?? ''}>
              {body.text === undefined ? (
                body.missing ? (
                  <p className="meta">{delivery.trigger === 'test' ? t('testBody') : t('noBody')}</p>
                ) : (
                  <Skeleton width="70%" />
                )
              ) : (
                <JsonView title={t('body')} text={body.text} />
              )}
            </RequestPart>
            <ResponsePart attempt={attempt} />
          </div>
        )}
        {attempt !== undefined && body.text !== undefined && (
          <SignatureCheck key={attempt.id} attempt={attempt} body={body.text} />
        )}
      </div>
    </div>
  );
}

/** useBody reads the bytes that were sent: the event, as it is kept for 30 days. */
function useBody(delivery: Delivery): { text: string | undefined; missing: boolean } {
  const api = useApi();
  const id = delivery.event_id;
  const isTest = delivery.trigger === 'test'; // not in the feed
  const { data, error } = useQuery({
    queryKey: ['/api/v1/events/{id}', { path: { id } }, 'text'],
    queryFn: ({ signal }) => api.get('/api/v1/events/{id}', { path: { id }, keepText: true, signal }),
    enabled: !isTest,
    staleTime: Infinity, // an event never changes
  });
  return { text: data?.text, missing: isTest || (isProblem(error) && error.status === 404) };
}
