// Contrast as WCAG 2.2 defines it, for the colours that a person types. The server decides by the same rule.

/** The least contrast with the background: of text, and of the parts of controls. */
export const needed = { text: 4.5, primary: 3, accent: 3 } as const;

type Rgb = readonly [red: number, green: number, blue: number];

/** parseColour returns the parts of "#rgb" or "#rrggbb" from 0 to 255, or null for another text. */
export function parseColour(text: string): Rgb | null {
  const short = /^#([\da-f])([\da-f])([\da-f])$/i.exec(text.trim());
  const match = short ?? /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(text.trim());
  if (match === null) return null;
  const part = (at: number) => Number.parseInt((match[at] ?? '').padStart(2, match[at]), 16);
  return [part(1), part(2), part(3)];
}

function luminance([red, green, blue]: Rgb): number {
  const part = (byte: number) => {
    const share = byte / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
}

/** contrast returns the ratio of two colours, from 1 to 21, or null if one of them is none. */
export function contrast(a: string, b: string): number | null {
  const one = parseColour(a);
  const other = parseColour(b);
  if (one === null || other === null) return null;
  const [light, dark] = [luminance(one), luminance(other)].sort((x, y) => y - x);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** onColour returns the colour of text on colour: black or white, the one with more contrast. */
export function onColour(colour: string): '#000000' | '#ffffff' {
  return (contrast(colour, '#000000') ?? 0) >= (contrast(colour, '#ffffff') ?? 0) ? '#000000' : '#ffffff';
}

/** formatRatio returns a ratio cut to hundredths, so that one that is too small never looks sufficient. */
export function formatRatio(ratio: number): string {
  return `${(Math.floor(ratio * 100) / 100).toFixed(2)}:1`;
}
