import { useRef, useState, type DragEvent } from 'react';

export interface Drag {
  /** What is dragged would be put here. */
  isOver: boolean;
  grip: { draggable: true; onDragStart: (event: DragEvent) => void; onDragEnd: () => void };
  target: { onDragOver: (event: DragEvent) => void; onDrop: (event: DragEvent) => void };
}

/**
 * useDrag moves things with the pointer, by their grips. It returns the handlers of the thing with a key. Buttons of
 * each thing must do the same from the keyboard. Of targets within each other, the inner one takes what is dropped.
 */
export function useDrag<K extends string | number>(move: (from: K, to: K) => void): (key: K) => Drag {
  const from = useRef<K | null>(null);
  const [over, setOver] = useState<K | null>(null);
  const end = () => {
    from.current = null;
    setOver(null);
  };
  return (key) => ({
    isOver: over === key && from.current !== null && from.current !== key,
    grip: {
      draggable: true,
      onDragStart: (event) => {
        from.current = key;
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData('text/plain', String(key));
        event.stopPropagation();
      },
      onDragEnd: end,
    },
    target: {
      onDragOver: (event) => {
        if (from.current === null) return;
        event.preventDefault();
        event.stopPropagation();
        setOver(key);
      },
      onDrop: (event) => {
        if (from.current === null) return;
        event.preventDefault();
        event.stopPropagation();
        move(from.current, key);
        end();
      },
    },
  });
}
