export type Side = 'top' | 'bottom' | 'left' | 'right';

interface Size {
  width: number;
  height: number;
}

interface Box extends Size {
  left: number;
  top: number;
}

const gap = 6; // between the anchor and what floats beside it
const margin = 8; // to the edge of the page

const opposite = { top: 'bottom', bottom: 'top', left: 'right', right: 'left' } as const;

/**
 * place returns where a box of size has to be to float at a side of anchor, centred: at the opposite side if there is
 * no room, and never beyond the page's edges.
 */
export function place(anchor: Box, size: Size, page: Size, side: Side): { left: number; top: number } {
  const at = fits(anchor, size, page, side) ? side : opposite[side];
  const { left, top } = beside(anchor, size, at);
  return { left: clamp(left, page.width - size.width), top: clamp(top, page.height - size.height) };
}

function fits(anchor: Box, size: Size, page: Size, side: Side): boolean {
  const { left, top } = beside(anchor, size, side);
  if (side === 'top') return top >= margin;
  if (side === 'left') return left >= margin;
  if (side === 'bottom') return top + size.height <= page.height - margin;
  return left + size.width <= page.width - margin;
}

function beside(anchor: Box, size: Size, side: Side): { left: number; top: number } {
  const left = anchor.left + (anchor.width - size.width) / 2;
  const top = anchor.top + (anchor.height - size.height) / 2;
  if (side === 'top') return { left, top: anchor.top - size.height - gap };
  if (side === 'bottom') return { left, top: anchor.top + anchor.height + gap };
  if (side === 'left') return { left: anchor.left - size.width - gap, top };
  return { left: anchor.left + anchor.width + gap, top };
}

function clamp(value: number, room: number): number {
  return Math.max(margin, Math.min(value, room - margin));
}
