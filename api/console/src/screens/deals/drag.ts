import { useEffect, useRef, useState, type PointerEvent, type RefObject } from 'react';
import type { Place } from './board';

export interface Drag {
  id: string;
  /** Where the card would come to. */
  over: Place | null;
  /** Where the pointer is, and where on the card it holds it. */
  x: number;
  y: number;
  width: number;
}

const threshold = 5; // px before a press becomes a drag
const edge = 48; // px from an edge, within which the board scrolls
const speed = 12; // px per frame

interface Press {
  id: string;
  x: number;
  y: number;
  offsetX: number;
  offsetY: number;
  width: number;
  pointer: number;
}

/**
 * useDrag moves cards by mouse or pen. Fingers scroll; for them a card has a menu. It reads where a card would be
 * dropped from the elements with data-stage and data-deal below root.
 */
export function useDrag(root: RefObject<HTMLElement | null>, onDrop: (id: string, to: Place) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const press = useRef<Press | null>(null);
  const at = useRef<Drag | null>(null);
  const drop = useRef(onDrop);
  drop.current = onDrop;

  useEffect(() => {
    if (drag === null) return;
    let frame = requestAnimationFrame(function scroll() {
      if (root.current !== null && at.current !== null) scrollAt(root.current, at.current);
      frame = requestAnimationFrame(scroll);
    });
    return () => cancelAnimationFrame(frame);
  }, [drag === null]);

  useEffect(() => {
    const show = (next: Drag | null) => {
      at.current = next;
      setDrag(next);
    };
    const move = (event: globalThis.PointerEvent) => {
      const held = press.current;
      if (held === null || event.pointerId !== held.pointer || root.current === null) return;
      const far = Math.hypot(event.clientX - held.x, event.clientY - held.y) >= threshold;
      if (at.current === null && !far) return;
      event.preventDefault();
      const x = event.clientX - held.offsetX;
      const y = event.clientY - held.offsetY;
      show({ id: held.id, x, y, width: held.width, over: placeUnder(root.current, held.id, event) });
    };
    const end = (event: globalThis.PointerEvent) => {
      const held = press.current;
      const now = at.current;
      press.current = null;
      if (held === null || now === null) return;
      if (event.type === 'pointerup') {
        document.addEventListener('click', refuse, { capture: true, once: true });
        setTimeout(() => document.removeEventListener('click', refuse, { capture: true }));
        if (now.over !== null) drop.current(now.id, now.over);
      }
      show(null);
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || at.current === null) return;
      event.stopPropagation();
      press.current = null;
      show(null);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    window.addEventListener('keydown', cancel, true);
    return () => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
      window.removeEventListener('keydown', cancel, true);
    };
  }, [root]);

  const begin = (id: string, event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || event.pointerType === 'touch') return;
    const box = event.currentTarget.getBoundingClientRect();
    press.current = {
      id,
      x: event.clientX,
      y: event.clientY,
      offsetX: event.clientX - box.left,
      offsetY: event.clientY - box.top,
      width: box.width,
      pointer: event.pointerId,
    };
  };
  return { drag, begin };
}

function refuse(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Returns the place under the pointer: the stage of its column, before the first card whose middle is below it. */
function placeUnder(root: HTMLElement, id: string, at: { clientX: number; clientY: number }): Place | null {
  for (const column of root.querySelectorAll<HTMLElement>('[data-stage]')) {
    const box = column.getBoundingClientRect();
    if (at.clientX < box.left || at.clientX >= box.right || box.width === 0) continue;
    const cards = [...column.querySelectorAll<HTMLElement>('[data-deal]')].filter((card) => card.dataset['deal'] !== id);
    const below = cards.findIndex((card) => {
      const { top, height } = card.getBoundingClientRect();
      return at.clientY < top + height / 2;
    });
    return { stageId: column.dataset['stage'] ?? '', index: below < 0 ? cards.length : below };
  }
  return null;
}

function scrollAt(root: HTMLElement, drag: Drag): void {
  const box = root.getBoundingClientRect();
  const by = (from: number, to: number, at: number) => (at < from + edge ? -speed : at > to - edge ? speed : 0);
  root.scrollLeft += by(box.left, box.right, drag.x + drag.width / 2);
  if (drag.over === null) return;
  const column = root.querySelector<HTMLElement>(`[data-stage="${drag.over.stageId}"] [data-scroll]`);
  if (column === null) return;
  const { top, bottom } = column.getBoundingClientRect();
  column.scrollTop += by(top, bottom, drag.y + 24);
}
