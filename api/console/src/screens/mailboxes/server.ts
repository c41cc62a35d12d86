import type { Mailbox } from './words';

type Server = NonNullable<Mailbox['smtp']>;
export type Security = Server['tls'];

/** What a person types of a server. */
export interface ServerDraft {
  host: string;
  port: string;
  tls: Security;
  username: string;
  password: string;
}

export const smtpDraft: ServerDraft = { host: '', port: '587', tls: 'starttls', username: '', password: '' };
export const imapDraft: ServerDraft = { host: '', port: '993', tls: 'tls', username: '', password: '' };

/** draftOf returns what is stored of a server, without its password, which the service does not show. */
export function draftOf(server: Server | null, none: ServerDraft): ServerDraft {
  if (server === null) return none;
  return { ...server, port: String(server.port), password: '' };
}

/** toServer returns the body of a server. An empty password is left out, so that the stored one is kept. */
export function toServer(draft: ServerDraft): {
  host: string;
  port: number;
  tls: Security;
  username: string;
  password?: string;
} {
  return {
    host: draft.host.trim(),
    port: Number(draft.port),
    tls: draft.tls,
    username: draft.username.trim(),
    ...(draft.password !== '' && { password: draft.password }),
  };
}

/** wholeOf returns the whole number that a person typed: null for nothing, undefined for what is no such number. */
export function wholeOf(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === '') return null;
  return /^\d{1,9}$/.test(plain) ? Number(plain) : undefined;
}
