import { describe } from '@/lib/describe';
import { toast } from '@/ui/toast';

/** report shows an error of something that was done without a form. title says what was not done. */
export function report(title: string, error: unknown): void {
  const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
  toast({ kind: 'bad', title, detail, ...(request_id !== undefined && { requestId: request_id }) });
}
