import { createContext, useContext, useEffect, useId, useRef, type ReactNode } from 'react';
import styles from './field.module.css';

/** Problem is what a form shows of a failed request. lib's ProblemError has these fields. */
export interface FormProblem {
  title: string;
  detail?: string | undefined;
  request_id?: string | undefined;
  errors?: readonly { pointer?: string | undefined; detail: string }[] | undefined;
}

interface Errors {
  prefix: string;
  /** By pointer, without a leading "#". */
  details: Map<string, string>;
}

const FormContext = createContext<Errors | null>(null);

/** useFieldError returns the id of the pointer's control in this form, and the error there if there is one. */
export function useFieldError(pointer: string | undefined): { id: string; detail: string | undefined } | undefined {
  const form = useContext(FormContext);
  if (form === null || pointer === undefined) return undefined;
  const key = plain(pointer);
  return { id: form.prefix + key, detail: form.details.get(key) };
}

const plain = (pointer: string) => pointer.replace(/^#/, '');

export interface FormProps {
  children: ReactNode;
  onSubmit: () => void;
  /** Why the last submit failed. The form shows it above the fields, and each error at its field. */
  problem?: FormProblem | null | undefined;
  label?: string;
  className?: string | undefined;
  /** For a submit button outside of the form: its form attribute names this id. */
  id?: string;
}

/** Form is one column of fields. Ctrl Enter submits it. After a failure, the summary takes the focus. */
export function Form({ children, onSubmit, problem, label, id, className }: FormProps) {
  const prefix = useId();
  const summary = useRef<HTMLDivElement>(null);
  const details = new Map<string, string>();
  for (const { pointer, detail } of problem?.errors ?? []) {
    if (pointer !== undefined) details.set(plain(pointer), detail);
  }
  useEffect(() => {
    if (problem) summary.current?.focus();
  }, [problem]);
  return (
    <form
      id={id}
      className={className ?? styles.form}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      {problem && (
        <div className={styles.summary} role="alert" tabIndex={-1} ref={summary}>
          <FormSummary problem={problem} prefix={prefix} />
        </div>
      )}
      <FormContext value={{ prefix, details }}>{children}</FormContext>
    </form>
  );
}

function FormSummary({ problem, prefix }: { problem: FormProblem; prefix: string }) {
  return (
    <>
      <strong>{problem.title}</strong>
      {problem.detail}
      {problem.errors && problem.errors.length > 0 && (
        <ul>
          {problem.errors.map(({ pointer, detail }, i) => (
            <li key={i}>{pointer === undefined ? detail : <ToField id={prefix + plain(pointer)}>{detail}</ToField>}</li>
          ))}
        </ul>
      )}
      {problem.request_id && (
        <div>
          Request <code>{problem.request_id}</code>
        </div>
      )}
    </>
  );
}

function ToField({ id, children }: { id: string; children: string }) {
  return (
    <a
      href={`#${id}`}
      onClick={(event) => {
        event.preventDefault();
        document.getElementById(id)?.focus();
      }}
    >
      {children}
    </a>
  );
}
