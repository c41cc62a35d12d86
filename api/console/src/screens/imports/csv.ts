/** Head is the beginning of a CSV file. */
export interface Head {
  columns: readonly string[];
  /** The first rows below the header; a row may be shorter than it. */
  rows: readonly (readonly string[])[];
}

const headBytes = 64 << 10;
const rowsShown = 5;

/** readHead reads the beginning of a file. It returns null for one that is no CSV or has no header. */
export async function readHead(file: Blob): Promise<Head | null> {
  const bytes = await file.slice(0, headBytes).arrayBuffer();
  // A character that the slice cuts is left out.
  const text = new TextDecoder().decode(bytes, { stream: file.size > headBytes });
  return parseHead(text, file.size <= headBytes);
}

/** parseHead returns the header and the first rows of text. isWhole: the last row is not cut. */
export function parseHead(text: string, isWhole: boolean): Head | null {
  if (/\0|^\ufeff?\s*begin:vcard|^\x1f|^PK\x03\x04/i.test(text)) return null;
  const plain = text.replace(/^\ufeff/, '');
  const records = parse(plain, separatorOf(plain), rowsShown + 2);
  if (!isWhole && records.length < rowsShown + 2) records.pop();
  const [columns, ...rows] = records;
  if (columns === undefined || columns.every((name) => name.trim() === '')) return null;
  return { columns: columns.map((name) => name.trim()), rows: rows.slice(0, rowsShown) };
}

/** The separator that is most frequent in the first line, outside of quotes, as the server chooses it. */
function separatorOf(text: string): string {
  const line = text.replaceAll(/"[^"]*"/g, '').trimStart().split('\n', 1)[0] ?? '';
  const count = (separator: string) => line.split(separator).length;
  return [';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best), ',');
}

/** Parses at most that many records of RFC 4180. Empty lines are no records. */
function parse(text: string, separator: string, most: number): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    record.push(cell);
    cell = '';
  };
  const endRecord = () => {
    endCell();
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  };
  for (let i = 0; i < text.length && records.length < most; i++) {
    const letter = text.charAt(i);
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text.charAt(i + 1) === '"') {
        cell += '"';
        i++;
      } else isQuoted = false;
    } else if (letter === '"' && cell === '') isQuoted = true;
    else if (letter === separator) endCell();
    else if (letter === '\n') endRecord();
    else if (letter !== '\r') cell += letter;
  }
  if (records.length < most && (cell !== '' || record.length > 0)) endRecord();
  return records;
}
