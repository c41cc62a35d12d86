import { Link, useRouter } from '@tanstack/react-router';
import { useContext, useRef, type ReactNode } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import { isProblem, NetworkError, type ProblemError } from '@/lib/problem';
import { ScopeContext } from '@/lib/scope';
import { Button, buttonLook } from '@/ui/button';
import { Copy } from '@/ui/copy';
import { Icon, type IconName } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { useSecondsUntil } from './offline';
import styles from './failure.module.css';

const t = messages({
  again: 'Try again',
  againIn: 'Try again in {count} s',
  request: 'Request',
  notFound: 'Not found',
  nothing: 'There is nothing here',
  notFoundDetail: 'The address may be wrong, or what it names was archived or belongs to another organization.',
  home: 'Go to Home',
  role: 'You need another role',
  yours: 'Your role in {org} is {role}.',
  members: 'See who can help',
  plan: 'Your plan does not include this',
  plans: 'Compare plans',
  askOwner: 'An owner of {org} can change the plan.',
  trialEnded: 'Your trial has ended',
});

/** Failure shows why something could not be read, in its place, and what to do. again reads once more. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const scope = useContext(ScopeContext);
  const wait = useWaitAfter(error);
  const org = scope?.org.name ?? '';
  if (isProblem(error) && error.status === 404) {
    return (
      <Message icon="search" title={t('notFound')} detail={t('notFoundDetail')}>
        <Link to="/app" className={buttonLook({})}>
          {t('home')}
        </Link>
      </Message>
    );
  }
  if (isProblem(error, 'forbidden')) {
    const detail = scope === null ? error.message : `${error.message} ${t('yours', { org, role: scope.role })}`;
    return <Message icon="lock" title={t('role')} detail={detail} requestId={error.requestId} />;
  }
  if (isProblem(error) && error.status === 402) {
    const title = error.code === 'trial_ended' ? t('trialEnded') : t('plan');
    const isOwner = scope?.role === 'owner' && !scope.staff;
    return (
      <Message
        icon="billing"
        title={title}
        detail={isOwner ? error.message : `${error.message} ${t('askOwner', { org })}`}
      >
        {isOwner && (
          <a href={upgradePath(error)} className={buttonLook({ kind: 'primary' })}>
            {t('plans')}
          </a>
        )}
      </Message>
    );
  }
  const shown = describe(error);
  const icon: IconName = error instanceof NetworkError ? 'warning' : 'error';
  return (
    <Message icon={icon} title={shown?.title ?? ''} detail={shown?.detail ?? ''} requestId={shown?.request_id}>
      {again && (
        <Button onClick={again} disabled={wait > 0}>
          {wait > 0 ? t('againIn', { count: wait }) : t('again')}
        </Button>
      )}
    </Message>
  );
}

function Message({
  icon,
  title,
  detail,
  requestId,
  children,
}: {
  icon: IconName;
  title: string;
  detail: string;
  requestId?: string | undefined;
  children?: ReactNode;
}) {
  return (
    <div className={styles.failure} role="alert">
      <span className={styles.symbol}>
        <Icon name={icon} size={18} />
      </span>
      <h2>{title}</h2>
      <p>{detail}</p>
      {requestId && (
        <p className="meta">
          {t('request')} <code>{requestId}</code> <Copy text={requestId} />
        </p>
      )}
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}

/** upgradePath returns the address of the plans, with the one marked that lifts the limit of a 402. */
export function upgradePath(error: ProblemError): string {
  const plan = error.problem['upgrade_to'];
  return typeof plan === 'string' ? `/app/settings/billing?plan=${encodeURIComponent(plan)}` : '/app/settings/billing';
}

/** useWaitAfter returns how many seconds error asks to wait still; 0 if it asks for none. */
export function useWaitAfter(error: unknown): number {
  const until = useRef<{ error: unknown; at: number | null }>({ error: null, at: null });
  if (until.current.error !== error) {
    const seconds = isProblem(error) && error.status === 429 ? error.retryAfter : null;
    until.current = { error, at: seconds === null ? null : Date.now() + seconds * 1000 };
  }
  return useSecondsUntil(until.current.at) ?? 0;
}

/** RouteProblem is the error boundary of every route. */
export function RouteProblem({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return <Failure error={error} again={again} />;
}

/** NotFound is the page of an address that has none. */
export function NotFound() {
  return (
    <>
      <PageHead title={t('notFound')} />
      <Message icon="search" title={t('nothing')} detail={t('notFoundDetail')}>
        <Link to="/app" className={buttonLook({})}>
          {t('home')}
        </Link>
      </Message>
    </>
  );
}
