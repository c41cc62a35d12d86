import { cloneElement, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { FocusEvent, HTMLAttributes, PointerEvent, ReactElement, ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { place, type Side } from './place';
import styles from './tooltip.module.css';

const delay = 350;

/**
 * Tooltip shows text on hover and keyboard focus of its child, an element that passes handlers on and has a label of
 * its own. It is not Radix's, whose layers and positioning would be most of what the first page loads beside React.
 */
export function Tooltip({ text, children, side = 'top' }: {
  text: ReactNode;
  children: ReactElement<HTMLAttributes<Element>>;
  side?: Side;
}) {
  const id = useId();
  const [anchor, setAnchor] = useState<Element | null>(null);
  const timer = useRef(0);
  const hide = () => {
    window.clearTimeout(timer.current);
    setAnchor(null);
  };
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const { props } = children;
  const shown = cloneElement(children, {
    'aria-describedby': anchor === null ? props['aria-describedby'] : id,
    onPointerEnter: (event: PointerEvent<Element>) => {
      props.onPointerEnter?.(event);
      if (event.pointerType === 'touch') return;
      const { currentTarget } = event;
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => setAnchor(currentTarget), delay);
    },
    onPointerLeave: (event: PointerEvent<Element>) => {
      props.onPointerLeave?.(event);
      hide();
    },
    onPointerDown: (event: PointerEvent<Element>) => {
      props.onPointerDown?.(event);
      hide();
    },
    onFocus: (event: FocusEvent<Element>) => {
      props.onFocus?.(event);
      if (event.currentTarget.matches(':focus-visible')) setAnchor(event.currentTarget);
    },
    onBlur: (event: FocusEvent<Element>) => {
      props.onBlur?.(event);
      hide();
    },
  });
  return (
    <>
      {shown}
      {anchor !== null && <Tip id={id} anchor={anchor} side={side} text={text} onHide={hide} />}
    </>
  );
}

interface TipProps {
  id: string;
  anchor: Element;
  side: Side;
  text: ReactNode;
  onHide: () => void;
}

function Tip({ id, anchor, side, text, onHide }: TipProps) {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (tip.current === null) return;
    const page = { width: document.documentElement.clientWidth, height: document.documentElement.clientHeight };
    const { left, top } = place(anchor.getBoundingClientRect(), tip.current.getBoundingClientRect(), page, side);
    tip.current.style.left = `${left}px`;
    tip.current.style.top = `${top}px`;
  });
  useEffect(() => {
    const end = new AbortController();
    const options = { capture: true, passive: true, signal: end.signal };
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && onHide(), options);
    document.addEventListener('scroll', onHide, options);
    return () => end.abort();
  }, [onHide]);
  return createPortal(
    <div ref={tip} id={id} role="tooltip" className={styles.tooltip}>
      {text}
    </div>,
    document.body,
  );
}
