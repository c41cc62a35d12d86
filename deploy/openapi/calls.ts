// Ten calls of the API with the types that openapi-typescript makes of its document. deploy/openapi/check compiles them
// with tsc --strict: an operation id, a member or a type that an SDK's users rely on cannot change unseen. Nothing runs
// them.
import type { operations } from "./api";

type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : undefined;
type Success<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 202)] : never;
type Result<O> = Success<O> extends { content: { "application/json": infer B } } ? B : never;

declare function call<ID extends keyof operations>(
  operation: ID,
  ...body: Body<operations[ID]> extends undefined ? [] : [Body<operations[ID]>]
): Promise<Result<operations[ID]>>;

export async function day(): Promise<string[]> {
  const login = await call("auth.login", { email: "ada@example.com", password: "a perfectly fine password" });
  const token: string = login.access_token;

  const contact = await call("contacts.create", {
    email: "grace@example.com",
    first_name: "Grace",
    last_name: "Hopper",
    tag: ["newsletter"],
    attributes: { shoe_size: 39 },
  });
  const score: number | null = contact.lead_score;

  const company = await call("companies.create", { name: "Jacquard Looms" });
  const deal = await call("deals.create", { name: "Looms", amount: 1250000, currency: "EUR", company_id: company.id });
  const amount: number = deal.amount ?? 0;

  const note = await call("notes.create", { body: "Asked for a quote", company_id: company.id });
  const task = await call("tasks.create", { title: "Send the quote", contact_id: contact.id });
  const webhook = await call("webhooks.create", { url: "https://example.com/hook", events: ["contact.created"] });
  const plans = await call("billing.list_plans");
  const preview = await call("billing.preview_plan_change", { plan: "solo_pro", interval: "month" });
  const list = await call("contacts.list");
  const emails: string[] = list.data.map((one) => one.email);

  // @ts-expect-error an email is a text
  await call("auth.login", { email: 1, password: "" });
  // @ts-expect-error a contact has no such member
  contact.shoe_size;

  const cursor: string | null = list.next_cursor;
  const status: string | null = task.status;
  return [token, ...emails, note.id, webhook.id, plans.plans[0]?.key ?? "", preview.currency, String(cursor),
    String(status), String(score), String(amount)];
}
