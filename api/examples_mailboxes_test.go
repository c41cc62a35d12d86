package api_test

import "time"

// tellOfMailboxes records mailboxes.
func (r *recorder) tellOfMailboxes(c *caller) {
	r.Helper()
	box := r.made(c, "mailboxes.create", `{"name":"Ada","kind":"smtp","from_email":"ada@example.com",`+
		`"from_name":"Ada Lovelace","smtp":{"host":"smtp.example.com","port":587,"tls":"starttls",`+
		`"username":"ada@example.com","password":"EXAMPLE"},"daily_cap":100,"time_zone":"Europe/London"}`)
	r.plain(c, "mailboxes", box, `{"gap_seconds":{"min":60,"max":180}}`)
	r.call(c, "mailboxes.rotate_inbound_token", nil, box)
	var sandbox struct{ ID string }
	c.do("POST", "/api/v1/mailboxes", `{"kind":"sandbox","from_email":"hello@sandbox.localhost"}`).into(r, &sandbox)
	r.call(c, "mailboxes.test", nil, box)
	r.call(c, "mailboxes.hold", `{"until":"`+r.began.Add(48*time.Hour).UTC().Format(time.RFC3339)+`"}`, sandbox.ID)
	r.call(c, "mailboxes.resume", nil, sandbox.ID)
}

// tellOfSending records the sending settings.
func (r *recorder) tellOfSending(c *caller) {
	r.Helper()
	r.call(c, "org_sending.update", `{"postal_address":"Babbage & Co\n1 Dorset Street\nLondon W1U 4EG",`+
		`"daily_cap":5000,"blocked_countries":["US"],"stop_on":{"company_reply":true}}`)
	r.call(c, "sending_domains.create", `{"domain":"looms.example"}`)
	r.call(c, "sending_domains.verify", nil, "looms.example")
	r.call(c, "sending_domains.rotate", nil, "looms.example")
	r.call(c, "org_sending.get", nil)
	r.call(c, "sending_domains.remove", nil, "looms.example")
}

// tellOfBroadcasts records a broadcast.
func (r *recorder) tellOfBroadcasts(c *caller) {
	r.Helper()
	mailbox := c.sandboxMailbox()
	news := r.made(c, "broadcasts.create", `{"name":"Autumn news","mailbox_id":"`+mailbox+`",`+
		`"filter":{"field":"created_at","op":"gte","value":"2020-01-01T00:00:00Z"},`+
		`"email":{"subject":"New looms","html":"<p>The new looms are here.</p>`+
		`<a href=\"{{ unsubscribe_url }}\">Unsubscribe</a>"}}`)
	r.plain(c, "broadcasts", news, `{"local_time":true}`)
	r.call(c, "broadcasts.preview", nil, news)
	r.call(c, "broadcasts.test", `{"to":["ada@example.com"]}`, news)
	r.call(c, "broadcasts.schedule", `{"send_at":"`+r.began.Add(96*time.Hour).UTC().Format(time.RFC3339)+`"}`, news)
	r.call(c, "broadcasts.pause", nil, news)
	r.call(c, "broadcasts.resume", nil, news)
	r.call(c, "broadcasts.cancel", nil, news)
	r.call(c, "broadcasts.stats", nil, news)
}

// tellOfSuppressions records suppressions.
func (r *recorder) tellOfSuppressions(c *caller) {
	r.Helper()
	r.call(c, "suppressions.create", `{"email":"eve@example.com","purpose":"marketing","reason":"unsubscribe"}`)
	r.call(c, "suppressions.list", nil)
	const file = "email,reason,note\ngone@example.com,hard_bounce,From our previous sender\nnobody,manual,\n"
	sent := c.sendTo(suppressionImportsPath, nil, "file", file, "purpose", "all")
	r.record("suppressions.import", "multipart/form-data", map[string]string{"file": file, "purpose": "all"}, sent)
	var begun struct{ ID string }
	sent.into(r, &begun)
	r.workFiles()
	r.call(c, "suppressions.get_import", nil, begun.ID)
	const kind, body = "application/x-www-form-urlencoded", `"List-Unsubscribe=One-Click"`
	const token = "a-token-of-a-mail"
	r.record("unsubscription.confirm", kind, body, r.pressed("/t/u/"+token, oneClick))
	r.record("preferences.save", kind, `"mails=none"`, r.pressed("/t/p/"+token, "mails=none"))
	r.record("subscription.confirm", kind, body, r.pressed("/t/s/"+token, oneClick))
}
