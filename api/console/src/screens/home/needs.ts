import { useMemo } from 'react';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import type { IconName } from '@/ui/icon';
import type { Tone } from '@/ui/status';
import { label } from '../record/label';
import { t } from './messages';

/** Something that waits for a person. */
export interface Need {
  key: string;
  icon: IconName;
  tone: Tone;
  title: string;
  detail?: string | undefined;
  href: string;
}

const near = 0.9; // share of a limit, from which on it is shown

/** useNeeds returns what waits for the user, the most pressing first; undefined until the first answers are there. */
export function useNeeds(): readonly Need[] | undefined {
  const tasks = useTaskNeeds();
  const deals = useDealNeeds();
  const rest = [...useMailNeeds(), ...useWebhookNeeds(), ...useAccountNeeds(), ...useLimitNeeds()];
  if (tasks === undefined || deals === undefined) return undefined;
  return [...rest, ...tasks, ...deals];
}

function useTaskNeeds(): Need[] | undefined {
  const own = useStore(useServices().session.state).grant?.user?.id;
  const { now, endOfToday } = useMemo(() => {
    const at = new Date();
    return {
      now: at.toISOString(),
      endOfToday: new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1).toISOString(),
    };
  }, []);
  const query = {
    status: 'open' as const,
    sort: 'due_at' as const,
    limit: 1,
    count: 'estimate' as const,
    ...(own !== undefined && { assignee_id: own }),
  };
  const overdue = useRead('/api/v1/crm/tasks', { query: { ...query, due_before: now } });
  const today = useRead('/api/v1/crm/tasks', { query: { ...query, due_after: now, due_before: endOfToday } });
  if (overdue.pending || today.pending) return undefined;
  const need = (list: typeof overdue, key: string, title: (count: number) => string, tone: Tone): Need[] => {
    const first = list.data?.data[0];
    if (first === undefined) return [];
    const count = list.data?.total ?? 1;
    const detail = count > 1 ? t('firstOf', { title: first.title }) : first.title;
    const href = key === 'overdue' ? '/app/tasks' : '/app/tasks?show=due';
    return [{ key, icon: 'tasks', tone, title: title(count), detail, href }];
  };
  return [
    ...need(overdue, 'overdue', (count) => t('overdueTasks', { count }), 'bad'),
    ...need(today, 'today', (count) => t('dueToday', { count }), 'warn'),
  ];
}

const looked = 100; // open deals that are looked at, those that close first

function useDealNeeds(): Need[] | undefined {
  const deals = useRead('/api/v1/crm/deals', { query: { status: 'open', sort: 'expected_close_on', limit: looked } });
  if (deals.pending) return undefined;
  const today = new Date().toISOString().slice(0, 10);
  const late = (deals.data?.data ?? []).filter(
    ({ expected_close_on: day }) => day !== null && day < today,
  );
  const [first] = late;
  if (first === undefined) return [];
  return [
    {
      key: 'deals',
      icon: 'deals',
      tone: 'warn',
      title: late.length === looked ? t('manyLateDeals', { count: looked }) : t('lateDeals', { count: late.length }),
      detail: late.length > 1 ? t('firstOf', { title: first.name }) : first.name,
      href: '/app/deals?view=list&status=open&sort=expected_close_on',
    },
  ];
}

const byPerson = 'held_by_user';

/** useMailNeeds returns the replies to read, the mailboxes that stopped, and the mails in doubt. */
function useMailNeeds(): Need[] {
  const unread = useRead('/api/v1/crm/threads', { query: { unread: 'true', limit: 1, count: 'exact' } });
  const mailboxes = useRead('/api/v1/mailboxes', { query: { limit: 200 } });
  const unknown = useRead('/api/v1/crm/emails', { query: { status: 'unknown', limit: 1, count: 'exact' } });
  const stopped = (mailboxes.data?.data ?? []).filter(
    ({ status, status_reason: reason }) => status === 'disabled' || (status === 'held' && reason !== byPerson),
  );
  const replies = unread.data?.total ?? 0;
  const inDoubt = unknown.data?.total ?? 0;
  const first = unread.data?.data[0];
  return [
    ...stopped.map(
      (one): Need => ({
        key: `mailbox:${one.id}`,
        icon: 'mail',
        tone: 'bad',
        title: t('mailboxStopped', { name: one.name || one.from_email }),
        detail: t('mailboxStoppedHelp'),
        href: `/app/settings/mailboxes/${one.id}`,
      }),
    ),
    ...(replies > 0
      ? [
          {
            key: 'replies',
            icon: 'inbox' as const,
            tone: 'busy' as const,
            title: t('unreadThreads', { count: replies }),
            detail: first?.subject,
            href: '/app/inbox',
          },
        ]
      : []),
    ...(inDoubt > 0
      ? [
          {
            key: 'unknown',
            icon: 'mail' as const,
            tone: 'warn' as const,
            title: t('unknownSends', { count: inDoubt }),
            detail: t('unknownSendsHelp'),
            href: '/app/settings/unknown',
          },
        ]
      : []),
  ];
}

function useWebhookNeeds(): Need[] {
  const webhooks = useRead('/api/v1/webhooks', { query: { limit: 200 } });
  return (webhooks.data?.data ?? [])
    .filter((webhook) => !webhook.enabled && webhook.disabled_reason !== null)
    .map((webhook) => ({
      key: `webhook:${webhook.id}`,
      icon: 'webhook',
      tone: 'bad',
      title: t('webhookOff', { url: webhook.description || hostOf(webhook.url) }),
      detail: t('webhookOffHelp'),
      href: `/app/settings/integrations/webhooks/${webhook.id}`,
    }));
}

function useAccountNeeds(): Need[] {
  const query = { query: { status: 'reauth_required' as const, limit: 20 } };
  const social = useRead('/api/v1/social/accounts', query);
  const ads = useRead('/api/v1/ads/accounts', query);
  return [...(social.data?.data ?? []), ...(ads.data?.data ?? [])].map((account) => ({
    key: `account:${account.id}`,
    icon: 'accounts',
    tone: 'bad',
    title: t('reauth', { name: account.display_name }),
    detail: t('reauthHelp'),
    href: '/app/accounts',
  }));
}

function useLimitNeeds(): Need[] {
  const isOwner = useMay('owner', 'billing');
  const entitlements = useRead('/billing/my-entitlements');
  return Object.entries(entitlements.data?.features ?? {}).flatMap(([key, feature]): Need[] => {
    const { used, value } = feature;
    if (typeof used !== 'number' || typeof value !== 'number' || value <= 0 || used < near * value) return [];
    return [
      {
        key: `limit:${key}`,
        icon: 'billing',
        tone: used >= value ? 'bad' : 'warn',
        title: t('limit', { feature: label(key), used, value }),
        detail: t('limitHelp'),
        href: isOwner ? '/app/settings/billing' : '/app/settings',
      },
    ];
  });
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}
