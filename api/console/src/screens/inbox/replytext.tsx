import type { Ref } from 'react';
import { cx } from '@/ui/cx';
import { useFieldProps } from '@/ui/field';
import field from '@/ui/field.module.css';

/** ReplyText is the text of an answer, which the key of the page focuses through ref. */
export function ReplyText({ value, onChange, placeholder, ref }: {
  value: string;
  onChange: (text: string) => void;
  placeholder: string;
  ref: Ref<HTMLTextAreaElement>;
}) {
  return (
    <textarea
      {...useFieldProps()}
      ref={ref}
      rows={5}
      className={cx(field.input)}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
