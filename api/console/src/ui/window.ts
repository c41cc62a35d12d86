import { useLayoutEffect, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';

/** The rows from first up to end, without end. */
export interface Range {
  first: number;
  end: number;
}

const around = 8; // rows kept in the page above and below those in view

/** rangeAt returns the rows that a box of a size shows at an offset, all in pixels, with some around them. */
export function rangeAt(offset: number, size: number, rows: { count: number; height: number }): Range {
  const { count, height } = rows;
  const end = Math.min(count, Math.ceil((Math.max(0, offset) + size) / height) + around);
  const first = Math.floor(Math.max(0, offset) / height) - around;
  return { first: Math.max(0, Math.min(first, count - 1)), end };
}

/** offsetFor returns the offset at which a row is in full view, as near to offset as it can be. head is sticky. */
export function offsetFor(index: number, height: number, box: { offset: number; size: number; head: number }): number {
  const { offset, size, head } = box;
  return Math.min(Math.max(offset, (index + 1) * height + head - size), index * height);
}

/**
 * useWindow keeps the rows of a long table that are in view in the page. All rows have one height, which makes this
 * arithmetic: a library that measures its rows would be a tenth of what the contacts load.
 */
export function useWindow(
  box: RefObject<HTMLElement | null>,
  rows: { count: number; height: number; offset: number },
): Range & { scrollTo: (index: number) => void } {
  const { count, height } = rows;
  const [at, setAt] = useState({ offset: rows.offset, size: innerHeight });
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = rows.offset;
  }, [box]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => {
      const next = { offset: element.scrollTop, size: element.clientHeight };
      setAt((last) => (isSame(rangeAt(last.offset, last.size, seen), rangeAt(next.offset, next.size, seen)) ? last : next));
    };
    const seen = { count: Infinity, height };
    look();
    // The rows of a frame are in the page before the frame is painted.
    const onScroll = () => flushSync(look);
    const resized = new ResizeObserver(look);
    element.addEventListener('scroll', onScroll, { passive: true });
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      resized.disconnect();
    };
  }, [box, height]);
  return {
    ...rangeAt(at.offset, at.size, { count, height }),
    scrollTo: (index) => {
      const element = box.current;
      if (element === null) return;
      const head = element.querySelector('thead')?.offsetHeight ?? 0;
      element.scrollTop = offsetFor(index, height, { offset: element.scrollTop, size: element.clientHeight, head });
    },
  };
}

const isSame = (a: Range, b: Range) => a.first === b.first && a.end === b.end;
