package api_test

// tellOfSequences records a sequence from its draft to its end.
func (r *recorder) tellOfSequences(c *caller) {
	r.Helper()
	mailbox := c.sandboxMailbox()
	c.postalAddress()
	sequence := r.made(c, "sequences.create", `{"name":"Welcome","mailbox_ids":["`+mailbox+`"],`+
		`"schedule":{"time_zone":"contact","from":"08:00","to":"18:00"},"steps":[`+
		`{"key":"hello","kind":"email","email":{"subject":"Your looms, {{ contact.first_name }}",`+
		`"text":"Shall we talk on Tuesday?\n\nNo more mails: {{ unsubscribe_url }}","thread":"new"}},`+
		`{"key":"again","kind":"email","delay":{"value":3,"unit":"business_days"},`+
		`"email":{"text":"Did you have a look?\n\nNo more mails: {{ unsubscribe_url }}","thread":"reply"}},`+
		`{"key":"call","kind":"task","delay":{"value":2,"unit":"days"},"task":{"title":"Call","type":"call"}}]}`)
	r.call(c, "sequences.list", nil)
	r.call(c, "sequences.get", nil, sequence)
	r.call(c, "sequences.activate", nil, sequence)
	r.call(c, "sequences.update", `{"name":"Welcome to new leads","stop_on":{"company_reply":true}}`, sequence)
	r.call(c, "sequences.list_versions", nil, sequence)
	r.call(c, "sequences.pause", nil, sequence)
	r.call(c, "sequences.resume", nil, sequence)
	r.call(c, "sequences.duplicate", `{"name":"Welcome, in German"}`, sequence)
	r.call(c, "sequences.archive", nil, sequence)
	r.call(c, "sequences.delete", nil, sequence)
	r.call(c, "sequences.restore", nil, sequence)
}
