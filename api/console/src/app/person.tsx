import { lazy, Suspense, useState } from 'react';
import { messages } from '@/lib/messages';
import { useScope } from '@/lib/scope';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Avatar } from '@/ui/avatar';
import { Icon } from '@/ui/icon';
import styles from './shell.module.css';

const t = messages({ menu: 'Account and organizations' });

const load = () => import('./personitems');
const PersonItems = lazy(() => load().then((m) => ({ default: m.PersonItems })));

/** PersonMenu is who is signed in, and in which org. Its menu is loaded when the pointer or the focus comes near. */
export function PersonMenu({ collapsed }: { collapsed: boolean }) {
  const { session } = useServices();
  const { role } = useScope();
  const { grant } = useStore(session.state);
  const [wanted, setWanted] = useState(false);
  if (grant === null) return null;
  const { user } = grant;
  const name = `${user.first_name} ${user.last_name}`.trim() || user.email;
  const content = (
    <>
      <Avatar name={name} />
      {collapsed ? (
        <span className="visually-hidden">{name}</span>
      ) : (
        <>
          <span className={styles.who}>
            <span className={styles.name}>{name}</span>
            <span className={styles.meta}>{role}</span>
          </span>
          <Icon name="selector" />
        </>
      )}
      <span className="visually-hidden">{t('menu')}</span>
    </>
  );
  const preload = () => void load().catch(() => {}); // the click loads it again
  const closed = (
    <button
      type="button"
      className={styles.person}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
    >
      {content}
    </button>
  );
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <PersonItems trigger={<button className={styles.person}>{content}</button>} />
    </Suspense>
  );
}
