package api_test

import (
	"encoding/json"
	"strings"
)

// made records the creation of a record and returns its id.
func (r *recorder) made(c *caller, operation string, body any) string {
	r.Helper()
	var one struct{ ID string }
	r.call(c, operation, body).into(r, &one)
	return one.ID
}

// tellOfRecords records companies, pipelines, deals, notes, tasks, segments, fields and tags.
func (r *recorder) tellOfRecords(c *caller) {
	r.Helper()
	company := r.made(
		c,
		"companies.create",
		`{"name":"Babbage & Co","domain":"babbage.example","industry":"Manufacturing",`+
			`"website":"https://babbage.example","phone":"+44 20 7946 0018"}`,
	)
	r.plain(c, "companies", company, `{"industry":"Precision engineering"}`)
	r.call(c, "companies.upsert_batch", `{"companies":[{"name":"Jacquard Looms","domain":"jacquard.example"},`+
		`{"name":"Menabrea Press","domain":"menabrea.example"}]}`)
	pipeline := r.made(
		c,
		"pipelines.create",
		`{"name":"Renewals","stages":[{"name":"Offered","kind":"open","probability":40},`+
			`{"name":"Renewed","kind":"won","probability":100},{"name":"Left","kind":"lost","probability":0}]}`,
	)
	r.plain(c, "pipelines", pipeline, `{"name":"Renewals 2026"}`)
	deal := r.made(c, "deals.create", `{"name":"Looms for the new mill","amount":1250000,"currency":"EUR",`+
		`"expected_close_on":"2026-03-31"}`)
	r.plain(c, "deals", deal, `{"amount":1400000}`)
	r.call(c, "deals.upsert_batch", `{"deals":[{"name":"Spare parts","amount":90000,"currency":"EUR"}]}`)
	note := r.made(c, "notes.create", `{"body":"Asked for a quote for twelve looms.","company_id":"`+company+`"}`)
	r.plain(c, "notes", note, `{"body":"Asked for a quote for fourteen looms."}`)
	task := r.made(c, "tasks.create", `{"title":"Send the quote","priority":"high","due_at":"2026-01-20T16:00:00Z"}`)
	r.plain(c, "tasks", task, `{"status":"done"}`)
	segment := r.made(
		c,
		"segments.create",
		`{"name":"Hot leads","filter":{"all":[{"field":"stage","op":"eq","value":"lead"},`+
			`{"field":"lead_score","op":"gte","value":60}]}}`,
	)
	r.plain(c, "segments", segment, `{"name":"Warm leads"}`)
	r.call(c, "custom_fields.create", `{"key":"shoe_size","label":"Shoe size","type":"number"}`)
	r.call(c, "custom_fields.list", nil)
	r.call(c, "custom_fields.get", nil, "shoe_size")
	r.call(c, "custom_fields.update", `{"label":"Shoe size (EU)"}`, "shoe_size")
}

// tellOfTemplates records the templates of mails.
func (r *recorder) tellOfTemplates(c *caller, contact string) {
	r.Helper()
	template := r.made(
		c,
		"templates.create",
		`{"name":"Welcome","subject":"Welcome, {{ contact.first_name }}","blocks":[{"type":"text",`+
			`"text":"Hi {{ contact.first_name }},\n\nthanks for asking about {{ contact.source | default: \"us\" }}."`+
			`},`+
			`{"type":"button","text":"See the looms","url":"https://looms.example/tour"},`+
			`{"type":"footer","html":"<a href=\"{{ unsubscribe_url }}\">Unsubscribe</a>"}]}`,
	)
	r.plain(c, "templates", template, `{"name":"Welcome to new leads"}`)
	r.call(c, "templates.preview", `{"template_id":"`+template+`","contact_id":"`+contact+`"}`)
}

// tellOfEmails records the emails to a contact.
func (r *recorder) tellOfEmails(c *caller, contact string) {
	r.Helper()
	mailbox := c.sandboxMailbox()
	email := r.made(c, "emails.create", `{"contact_id":"`+contact+`","mailbox_id":"`+mailbox+`",`+
		`"subject":"The looms, {{ contact.first_name }}","html":"<p>Shall we talk on Tuesday?</p>",`+
		`"attachments":[{"name":"quote.txt","type":"text/plain","content":"MTIgbG9vbXM="}]}`)
	r.call(c, "emails.list", nil)
	r.call(c, "emails.get", nil, email)
	c.exec(`UPDATE email SET status = 'unknown', status_reason = 'no_reply', marked_at = now() - interval '1 hour'
		WHERE org_id = $1`, c.Org)
	r.call(c, "emails.resolve", `{"outcome":"sent"}`, email)
	other := c.email(mailbox, contact, "")
	r.call(c, "emails.cancel", nil, other.ID)
	r.tellOfConversations(c, mailbox, email)
}

// tellOfConversations records the answer to an email.
func (r *recorder) tellOfConversations(c *caller, mailbox, sent string) {
	r.Helper()
	o := &correspondence{caller: c}
	var box struct {
		URL string `json:"inbound_url"`
	}
	c.do("POST", "/api/v1/mailboxes/"+mailbox+"/rotate-inbound-token", nil).want(r, 200, "").into(r, &box)
	_, o.token, _ = strings.Cut(box.URL, "/inbound/email/")
	c.do("GET", emailsPath+"/"+sent, nil).into(r, &o.sent)
	mail := o.reply("Ada Lovelace <"+o.sent.To+">", "Tuesday at ten is fine.")
	got := o.post(mail).want(r, 202, "")
	quoted, err := json.Marshal(strings.ReplaceAll(mail, o.sent.MessageID, "k5x4q2@shop.example"))
	if err != nil {
		r.Fatal(err)
	}
	r.record("inbound.receive_email", "message/rfc822", string(quoted), got)
	var receipt struct{ ID string }
	got.into(r, &receipt)
	r.workMail()
	r.call(c, "threads.list", nil)
	r.call(c, "threads.get", nil, o.sent.ThreadID)
	r.call(c, "threads.update", `{"unread":false}`, o.sent.ThreadID)
	r.call(c, "messages.get", nil, receipt.ID)
	r.call(c, "messages.update", `{"class":"auto_reply"}`, receipt.ID)
	r.call(c, "mailboxes.set_provider", `{"provider":"postmark","key":"EXAMPLE-0123456789"}`, mailbox)
	const delivery = `{"RecordType":"Delivery","MessageID":"883953f4-6105-42a2-a16a-77a8eac79483","Recipient":"` +
		`ada@example.com","DeliveredAt":"2026-11-01T10:00:01Z"}`
	if quoted, err = json.Marshal(delivery); err != nil {
		r.Fatal(err)
	}
	r.record("inbound.receive_events", "text/plain", string(quoted), o.tell("postmark", delivery,
		basic("EXAMPLE-0123456789")...).want(r, 200, ""))
	r.call(c, "mailboxes.get_provider", nil, mailbox)
}

// plain records the operations that every archivable record has. The record is live again at the end.
func (r *recorder) plain(c *caller, noun, id, patch string) {
	r.Helper()
	r.call(c, noun+".list", nil)
	r.call(c, noun+".get", nil, id)
	r.call(c, noun+".update", patch, id)
	_, path := r.locate(noun + ".archive")
	c.do("DELETE", strings.Replace(path, "{id}", id, 1), nil).want(r, 204, "")
	r.call(c, noun+".restore", nil, id)
}
