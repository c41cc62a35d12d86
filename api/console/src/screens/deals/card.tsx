import { Link } from '@tanstack/react-router';
import type { KeyboardEvent, PointerEvent } from 'react';
import { Avatar } from '@/ui/avatar';
import { IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Menu, type MenuEntry } from '@/ui/menu';
import { Money } from '@/ui/money';
import { date } from '@/ui/time';
import type { Deal } from './board';
import { t } from './messages';
import styles from './deals.module.css';

export interface CardProps {
  deal: Deal;
  owner: string | null;
  /** The one card of the board that Tab reaches. */
  reachable: boolean;
  carried: boolean;
  dragged: boolean;
  current: boolean;
  menu: readonly MenuEntry[];
  menuOpen: boolean;
  onMenu: (open: boolean) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  onFocus: () => void;
  onPointerDown: ((event: PointerEvent<HTMLElement>) => void) | undefined;
  describedBy: string | undefined;
}

/** Card is a deal on the board: a link to its panel that can be dragged, carried by keys, or moved by its menu. */
export function Card(props: CardProps) {
  const { deal, menu, menuOpen, onMenu } = props;
  return (
    <li
      className={cx(
        styles.card,
        props.carried && styles.carried,
        props.dragged && styles.dragged,
        props.current && styles.current,
      )}
      data-deal={deal.id}
      onPointerDown={props.onPointerDown}
    >
      <div className={styles.cardHead}>
        <Link
          to="/app/deals/$id"
          params={{ id: deal.id }}
          search={true}
          className={styles.name}
          draggable={false}
          tabIndex={props.reachable ? 0 : -1}
          aria-describedby={props.describedBy}
          onKeyDown={props.onKeyDown}
          onFocus={props.onFocus}
        >
          {deal.name}
        </Link>
        {menu.length > 0 && (
          <span className={styles.cardMenu} onPointerDown={(event) => event.stopPropagation()}>
            <Menu
              align="end"
              open={menuOpen}
              onOpenChange={onMenu}
              items={menu}
              trigger={
                <IconButton
                  icon="more"
                  label={t('actions', { name: deal.name })}
                  tooltip={false}
                  tabIndex={props.reachable ? 0 : -1}
                />
              }
            />
          </span>
        )}
      </div>
      <CardSubject deal={deal} />
      <CardFoot deal={deal} owner={props.owner} />
    </li>
  );
}

/** CardSubject is whom the deal is with: the contact, the company, or both. */
export function CardSubject({ deal }: { deal: Deal }) {
  const names = [deal.contact_name, deal.company_name].filter(Boolean);
  return names.length === 0 ? null : <div className={styles.subject}>{names.join(' · ')}</div>;
}

/** CardFoot is the last line of a card: amount, expected day, owner. */
export function CardFoot({ deal, owner }: { deal: Deal; owner: string | null }) {
  const day = deal.expected_close_on;
  const late = day !== null && deal.status === 'open' && day < today();
  return (
    <div className={styles.cardFoot}>
      <span className={styles.amount}>
        <Money amount={deal.amount} currency={deal.currency} />
      </span>
      {day !== null && deal.status === 'open' && (
        <span className={cx('meta', 'num', late && styles.late)}>
          {t(late ? 'late' : 'closes', { day: shortDay(day) })}
        </span>
      )}
      {owner !== null && <Avatar name={owner} />}
    </div>
  );
}

/** today returns the day as the API writes days. */
export function today(now = new Date()): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** shortDay leaves out the year where it is the current one. */
function shortDay(day: string): string {
  const text = date(new Date(`${day}T12:00:00`));
  const year = ` ${new Date().getFullYear()}`;
  return text.endsWith(year) ? text.slice(0, -year.length) : text;
}
