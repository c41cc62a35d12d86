package api_test

import "strings"

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
	c.do("POST", "/api/v1/sequences/"+sequence+"/activate", nil).want(r, 200, "")
	var move struct{ ID string }
	r.call(c, "sequences.move", `{"from":1,"to":2,"map":{"again":"call"}}`, sequence).into(r, &move)
	r.call(c, "sequences.get_move", nil, sequence, move.ID)
	r.tellOfEnrolments(c, sequence)
	r.call(c, "sequences.get_stats", nil, sequence)
	r.call(c, "sequences.pause", nil, sequence)
	r.call(c, "sequences.resume", nil, sequence)
	r.call(c, "sequences.duplicate", `{"name":"Welcome, in German"}`, sequence)
	r.call(c, "sequences.archive", nil, sequence)
	r.call(c, "sequences.delete", nil, sequence)
	r.call(c, "sequences.restore", nil, sequence)
}

// tellOfEnrolments records the enrolments of an active sequence.
func (r *recorder) tellOfEnrolments(c *caller, sequence string) {
	r.Helper()
	var enrolled struct {
		Data []struct {
			EnrolmentID string `json:"enrolment_id"`
		}
	}
	grace := c.contact("grace.hopper@example.com").ID
	r.call(c, "sequences.enroll", `{"contact_ids":["`+grace+`"]}`, sequence).into(r, &enrolled)
	enrolment := enrolled.Data[0].EnrolmentID
	r.call(c, "enrolments.list", nil, sequence)
	r.call(c, "enrolments.pause", nil, enrolment)
	r.call(c, "enrolments.resume", nil, enrolment)
	r.call(c, "enrolments.skip_step", nil, enrolment)
	r.call(c, "enrolments.get", nil, enrolment)
	r.call(c, "enrolments.stop", nil, enrolment)
	large := c.do("POST", "/api/v1/sequences/"+sequence+"/enroll",
		`{"filter":{"field":"stage","op":"eq","value":"lead"}}`).want(r, 202, "").Header.Get("Location")
	batch := large[strings.LastIndex(large, "/")+1:]
	r.call(c, "sequences.get_batch", nil, sequence, batch)
	r.call(c, "sequences.list_batch_skipped", nil, sequence, batch)
	r.call(c, "sequences.cancel_batch", nil, sequence, batch)
}
