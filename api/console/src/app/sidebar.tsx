import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { messages } from '@/lib/messages';
import { useScope } from '@/lib/scope';
import { useServices } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Icon } from '@/ui/icon';
import { KeyHint } from '@/ui/keyhint';
import { Tooltip } from '@/ui/tooltip';
import type { Place } from './nav';
import { PersonMenu } from './person';
import { groups } from './screen';
import styles from './shell.module.css';

const t = messages({
  navigation: 'Main',
  search: 'Search',
  fold: 'Fold the sidebar',
  unfold: 'Unfold the sidebar',
  more: 'More',
});

/** Sidebar is the navigation beside the page, on screens from 600 px. */
export function Sidebar({
  nav,
  collapsed,
  openPalette,
}: {
  nav: readonly Place[];
  collapsed: boolean;
  openPalette: () => void;
}) {
  const { preferences } = useServices();
  const { org } = useScope();
  const fold = () => preferences.change({ collapsed: !collapsed });
  return (
    <div className={styles.sidebar}>
      <div className={styles.top}>
        <Avatar name={org.name} square />
        <span className={styles.orgName}>{org.name}</span>
        <IconButton icon="sidebar" label={t(collapsed ? 'unfold' : 'fold')} keys="[" onClick={fold} />
      </div>
      <button className={styles.search} onClick={openPalette} aria-label={collapsed ? t('search') : undefined}>
        <Icon name="search" />
        <span className={styles.label}>{t('search')}</span>
        <span className={styles.label} aria-hidden="true">
          <KeyHint keys="mod k" />
        </span>
      </button>
      <nav className={styles.nav} aria-label={t('navigation')}>
        {groups.map((group) => {
          const places = nav.filter((place) => place.group === group);
          if (places.length === 0) return null;
          return (
            <ul key={group} className={cx(styles.group, group === 'settings' && styles.last)}>
              {places.map((place) => (
                <li key={place.to}>
                  <PlaceLink place={place} collapsed={collapsed} />
                </li>
              ))}
            </ul>
          );
        })}
      </nav>
      <PersonMenu collapsed={collapsed} />
    </div>
  );
}

function PlaceLink({ place, collapsed }: { place: Place; collapsed: boolean }) {
  const link = (
    <Link to={place.to} className={styles.place} activeOptions={{ exact: place.group === 'home' }}>
      <Icon name={place.icon} />
      <span className={styles.label}>{place.label}</span>
    </Link>
  );
  if (!collapsed) return link;
  const text = (
    <>
      {place.label} {place.keys && <KeyHint keys={place.keys} />}
    </>
  );
  return (
    <Tooltip text={text} side="right">
      {link}
    </Tooltip>
  );
}

/** PhoneBar is the navigation below the page, on screens up to 599 px. More opens the rest. */
export function PhoneBar({ nav }: { nav: readonly Place[] }) {
  const [open, setOpen] = useState(false);
  const shown = nav.filter((place) => place.phone);
  const rest = nav.filter((place) => !place.phone);
  return (
    <>
      {open && (
        <div
          className={styles.sheet}
          onClick={({ target, currentTarget }) => {
            if (target === currentTarget || (target as Element).closest('a') !== null) setOpen(false);
          }}
          onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
        >
          <ul className={styles.sheetList}>
            {rest.map((place) => (
              <li key={place.to}>
                <Link to={place.to} className={styles.place}>
                  <Icon name={place.icon} />
                  {place.label}
                </Link>
              </li>
            ))}
            <li>
              <PersonMenu collapsed={false} />
            </li>
          </ul>
        </div>
      )}
      <nav className={styles.phone} aria-label={t('navigation')}>
        {shown.map((place) => (
          <Link
            key={place.to}
            to={place.to}
            className={styles.tab}
            activeOptions={{ exact: place.group === 'home' }}
            onClick={() => setOpen(false)}
          >
            <Icon name={place.icon} size={20} />
            {place.label}
          </Link>
        ))}
        <button className={styles.tab} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="menu" size={20} />
          {t('more')}
        </button>
      </nav>
    </>
  );
}
