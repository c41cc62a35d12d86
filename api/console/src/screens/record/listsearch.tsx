import { useEffect, useState } from 'react';
import { SearchInput } from '@/ui/toolbar';

const typingPause = 200; // milliseconds before what is typed is looked for

/** ListSearch is the search of a list whose address has what is searched for. */
export function ListSearch({ label, value, change }: {
  label: string;
  value: string;
  change: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => change(text.trim()), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  return <SearchInput label={label} value={text} onChange={setText} />;
}
