import { later } from '@/ui/later';

// The composer and its editor are large, so a page loads them when they are first shown, and never before.

/** ComposeDialog writes a new mail to a contact. */
export const ComposeDialog = later(() => import('./dialog').then((m) => m.ComposeDialog));

/** Answer writes an answer in its conversation. */
export const Answer = later(() => import('./answer').then((m) => m.Answer));

/** RichBody is the editor of a mail's body, for forms. */
export const RichBody = later(() => import('./richbody').then((m) => m.RichBody));
