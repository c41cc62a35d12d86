import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber, formatPercent } from '@/lib/intl';
import type { Answer } from '@/lib/api';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Menu } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { useWebhookActions } from './actions';
import { t } from './messages';
import { ReplayDialog } from './replay';
import { RotateDialog } from './rotate';
import { Strip, useHealth } from './strip';
import { TestDialog } from './test';
import { eventsWord, nameOf, webhookStatus, type Webhook } from './words';
import styles from './webhooks.module.css';

type Layer = 'test' | 'replay' | 'rotate' | 'archive' | null;

/** WebhookFrame has the head, the state and the parts of one webhook's page around the part that is shown. */
export function WebhookFrame({ id, section, children }: {
  id: string;
  section: string;
  children: (hook: Webhook, answer: Answer<Webhook>) => ReactNode;
}) {
  const hook = useRead('/api/v1/webhooks/{id}', { path: { id } });
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const [layer, setLayer] = useState<Layer>(null);
  const { setEnabled, archive } = useWebhookActions();
  const close = () => setLayer(null);
  const back = () => void navigate({ to: '/app/settings/integrations/webhooks' });
  useCommands(
    isAdmin
      ? [
          { id: 'webhook.test', label: t('sendTest'), icon: 'bolt', keys: 't', run: () => setLayer('test') },
          { id: 'webhook.replay', label: t('replay'), icon: 'refresh', run: () => setLayer('replay') },
          { id: 'webhook.rotate', label: t('rotate'), icon: 'key', run: () => setLayer('rotate') },
        ]
      : [],
  );
  if (hook.error !== null && hook.data === undefined) return <Failure error={hook.error} again={hook.again} />;
  const before = <IconButton icon="left" label={t('title')} onClick={back} />;
  if (hook.data === undefined || hook.answer === undefined) {
    return (
      <PageHead
        before={before}
        title={
          <span className={styles.wait}>
            <Skeleton width={240} />
          </span>
        }
      />
    );
  }
  const one = hook.data;
  const state = webhookStatus(one);
  return (
    <>
      <PageHead before={before} title={nameOf(one.url)} count={<Status tone={state.tone}>{state.word}</Status>}>
        {isAdmin && (
          <>
            <Menu
              align="end"
              trigger={
                <Button size="small" after="down">
                  {t('actions')}
                </Button>
              }
              items={[
                {
                  label: one.enabled ? t('disable') : t('enable'),
                  icon: one.enabled ? 'pause' : 'play',
                  onSelect: () => void setEnabled(one, !one.enabled),
                },
                { label: t('replay'), icon: 'refresh', onSelect: () => setLayer('replay') },
                { label: t('rotate'), icon: 'key', onSelect: () => setLayer('rotate') },
                { label: t('copyUrl'), icon: 'copy', onSelect: () => void navigator.clipboard.writeText(one.url) },
                null,
                { label: t('archive'), icon: 'archive', danger: true, onSelect: () => setLayer('archive') },
              ]}
            />
            <Button kind="primary" size="small" icon="bolt" onClick={() => setLayer('test')}>
              {t('sendTest')}
            </Button>
          </>
        )}
      </PageHead>
      <Disabled hook={one} onEnable={isAdmin ? () => void setEnabled(one, true) : undefined} />
      <Summary hook={one} />
      <nav className={styles.tabs} aria-label={nameOf(one.url)}>
        <Link
          to="/app/settings/integrations/webhooks/$id"
          params={{ id }}
          className={styles.tab}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {t('deliveries')}
        </Link>
        <Link to="/app/settings/integrations/webhooks/$id/settings" params={{ id }} className={styles.tab}>
          {t('settings')}
        </Link>
      </nav>
      <section className={styles.part} aria-label={section}>
        {children(one, hook.answer)}
      </section>
      {layer === 'test' && <TestDialog hook={one} onClose={close} />}
      {layer === 'replay' && <ReplayDialog hook={one} onClose={close} />}
      {layer === 'rotate' && <RotateDialog hook={one} onClose={close} />}
      <ConfirmDialog
        open={layer === 'archive'}
        onClose={close}
        title={t('archiveTitle', { name: nameOf(one.url) })}
        consequence={t('archiveText')}
        action={t('archive')}
        onConfirm={() => {
          close();
          void archive(one).then((done) => done && back());
        }}
      />
    </>
  );
}

function Disabled({ hook, onEnable }: { hook: Webhook; onEnable: (() => void) | undefined }) {
  if (hook.enabled) return null;
  const byPlatform = hook.disabled_reason !== null;
  const title =
    hook.disabled_reason === 'gone' ? t('goneTitle') : byPlatform ? t('failingTitle') : t('disabledTitle');
  return (
    <div className={styles.callout}>
      <Callout
        tone={byPlatform ? 'bad' : 'warn'}
        title={title}
        action={
          onEnable && (
            <Button size="small" onClick={onEnable}>
              {t('enable')}
            </Button>
          )
        }
      >
        <p>{t('disabledText')}</p>
      </Callout>
    </div>
  );
}

function Summary({ hook }: { hook: Webhook }) {
  const { latest, total, delivered } = useHealth(hook.id, 60);
  const isKnown = latest !== undefined && total !== undefined && delivered !== undefined;
  return (
    <dl className={styles.summary}>
      <div>
        <dt>{t('week')}</dt>
        <dd>
          {!isKnown ? (
            <Skeleton width={160} />
          ) : total === 0 ? (
            t('noDeliveries')
          ) : (
            <span className={styles.health}>
              <Strip deliveries={latest} />
              <span className="num">{formatPercent(delivered / total, delivered < total ? 1 : 0)}</span>
              <span className="meta num">
                {t('deliveredOf', { delivered: formatNumber(delivered), count: formatNumber(total) })}
              </span>
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>{t('events')}</dt>
        <dd title={hook.events.join(', ')}>{eventsWord(hook.events)}</dd>
      </div>
      <div>
        <dt>{t('rate')}</dt>
        <dd>{hook.rate_limit === null ? t('noLimit') : t('perSecond', { count: hook.rate_limit })}</dd>
      </div>
      {hook.description && (
        <div>
          <dt>{t('description')}</dt>
          <dd>{hook.description}</dd>
        </div>
      )}
    </dl>
  );
}
