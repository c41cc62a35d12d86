import { useState } from 'react';
import { Icon } from './icon';
import styles from './code.module.css';

const shownAtFirst = 100; // children of one node; more by a click

/** JsonTree shows a value whose objects and arrays can be folded. The first two levels are open. */
export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className={styles.node}>
      <Node value={value} depth={0} last />
    </div>
  );
}

function Node({ name, value, depth, last }: { name?: string; value: unknown; depth: number; last: boolean }) {
  const [open, setOpen] = useState(depth < 2);
  const [limit, setLimit] = useState(shownAtFirst);
  const label = name !== undefined && (
    <>
      <span className={styles.name}>{JSON.stringify(name)}</span>
      <span className={styles.punct}>: </span>
    </>
  );
  const comma = !last && <span className={styles.punct}>,</span>;
  if (value === null || typeof value !== 'object') {
    return (
      <div className={styles.line}>
        {label}
        <span className={look(value)}>{JSON.stringify(value)}</span>
        {comma}
      </div>
    );
  }
  const list = Array.isArray(value);
  const entries: [string | undefined, unknown][] = list ? value.map((v) => [undefined, v]) : Object.entries(value);
  const [start, end] = list ? '[]' : '{}';
  if (entries.length === 0) {
    return (
      <div className={styles.line}>
        {label}
        <span className={styles.punct}>
          {start}
          {end}
        </span>
        {comma}
      </div>
    );
  }
  const counted = `${entries.length} ${list ? 'item' : 'field'}${entries.length === 1 ? '' : 's'}`;
  return (
    <>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={open}
          aria-label={`${name ?? 'Value'}, ${counted}`}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'down' : 'right'} size={10} />
        </button>
        {label}
        <span className={styles.punct}>{start}</span>
        {!open && (
          <>
            <span className={styles.folded}> {counted} </span>
            <span className={styles.punct}>{end}</span>
            {comma}
          </>
        )}
      </div>
      {open && (
        <>
          <div className={styles.node}>
            {entries.slice(0, limit).map(([key, child], i) => (
              <Node
                key={key ?? i}
                {...(key !== undefined && { name: key })}
                value={child}
                depth={depth + 1}
                last={i === entries.length - 1}
              />
            ))}
            {entries.length > limit && (
              <button type="button" className={styles.mode} onClick={() => setLimit(limit + 1000)}>
                Show more of {counted}
              </button>
            )}
          </div>
          <div className={styles.line}>
            <span className={styles.punct}>{end}</span>
            {comma}
          </div>
        </>
      )}
    </>
  );
}

function look(value: unknown): string | undefined {
  if (typeof value === 'string') return styles.string;
  return typeof value === 'number' ? styles.number : styles.word;
}
