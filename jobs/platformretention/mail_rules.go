package platformretention

// mailRules is rules for the contents of mails. Their $2 is the days that mail is kept. The content of an email is kept
// until the email is sent, and then for that time. Attachments go before their content, which leads to them.
var mailRules = []struct{ table, sql string }{
	// The content of emails is kept for that time, their rows for good: caps, statistics and threads need them.
	{
		"email_attachment",
		`DELETE FROM email_attachment WHERE ctid = ANY (ARRAY(SELECT a.ctid FROM email_content c
			JOIN email_attachment a ON a.org_id = c.org_id AND a.email_id = c.email_id
			WHERE c.created_at < now() - make_interval(days => $2)
			AND NOT EXISTS (SELECT FROM email e WHERE e.org_id = c.org_id AND e.id = c.email_id
				AND (e.status IN ('scheduled', 'planned', 'transmitting')
				OR e.sent_at >= now() - make_interval(days => $2))) LIMIT $1))`,
	},
	{
		"email_content",
		`DELETE FROM email_content WHERE ctid = ANY (ARRAY(SELECT c.ctid FROM email_content c
			WHERE c.created_at < now() - make_interval(days => $2)
			AND NOT EXISTS (SELECT FROM email e WHERE e.org_id = c.org_id AND e.id = c.email_id
				AND (e.status IN ('scheduled', 'planned', 'transmitting')
				OR e.sent_at >= now() - make_interval(days => $2)))
			AND NOT EXISTS (SELECT FROM email_attachment a WHERE a.org_id = c.org_id AND a.email_id = c.email_id)
			LIMIT $1))`,
	},
	// Incoming mails are kept for that time, their bytes for at most 90 days.
	{
		"message_raw",
		`DELETE FROM message_raw WHERE ctid = ANY (ARRAY(SELECT ctid FROM message_raw
			WHERE created_at < now() - make_interval(days => least($2, 90)) LIMIT $1))`,
	},
	{
		"message",
		`DELETE FROM message WHERE ctid = ANY (ARRAY(SELECT ctid FROM message
			WHERE received_at < now() - make_interval(days => $2) LIMIT $1))`,
	},
	{
		"thread",
		`DELETE FROM thread WHERE ctid = ANY (ARRAY(SELECT ctid FROM thread
			WHERE last_message_at < now() - make_interval(days => $2) LIMIT $1))`,
	},
}
