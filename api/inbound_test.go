package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/inboundmail"
)

const (
	threadsPath  = "/api/v1/crm/threads"
	messagesPath = "/api/v1/crm/messages"
)

type mailShown struct {
	ID, Direction, From, Subject, Text string
	ReplyText                          string  `json:"reply_text"`
	ThreadID                           string  `json:"thread_id"`
	EmailID                            *string `json:"email_id"`
	ContactID                          *string `json:"contact_id"`
	Class, Match                       *string
	ClassBy                            *string `json:"class_by"`
	BackOn                             *string `json:"back_on"`
	HTML                               *string
	To                                 []string
}

func (m *mailShown) String() string {
	if m.Class == nil {
		return m.Direction
	}
	return *m.Class + " " + *m.Match
}

type thread struct {
	ID, Subject string
	ContactID   *string `json:"contact_id"`
	ContactName *string `json:"contact_name"`
	Unread      bool
	Count       int `json:"message_count"`
	Messages    []mailShown
}

// correspondence is an org with a mailbox whose incoming mail is posted, and a contact who got an email.
type correspondence struct {
	*caller
	mailbox, token string
	contact        contact
	sent           email
}

// correspond sends an email to ada@example.com, and rotates the token of the mailbox to know it.
func correspond(s *service) *correspondence {
	s.Helper()
	c := &correspondence{caller: s.signup()}
	c.mailbox = c.sandboxMailbox()
	c.contact = c.caller.contact("ada@example.com")
	c.sent = c.dispatch(c.contact.ID)
	var box struct {
		URL string `json:"inbound_url"`
	}
	c.do(http.MethodPost, boxesPath+"/"+c.mailbox+"/rotate-inbound-token", nil).want(c, 200, "").into(c, &box)
	_, c.token, _ = strings.Cut(box.URL, "/inbound/email/")
	return c
}

// dispatch returns an email to a contact, as if a worker had sent it.
func (c *correspondence) dispatch(contact string) email {
	c.Helper()
	e := c.email(c.mailbox, contact, "")
	c.exec(`UPDATE email SET status = 'sent', marked_at = now(), sent_at = now() WHERE id = $1`, e.ID)
	return e
}

// post posts a mail and returns the response.
func (c *correspondence) post(mail string) answer {
	c.Helper()
	return c.do(http.MethodPost, "/inbound/email/"+c.token, mail, "Content-Type", "message/rfc822", "Authorization", "")
}

// receive posts a mail, processes it, and returns the message.
func (c *correspondence) receive(mail string) (m mailShown) {
	c.Helper()
	var receipt struct{ ID string }
	c.post(mail).want(c, http.StatusAccepted, "").into(c, &receipt)
	c.workMail()
	c.do(http.MethodGet, messagesPath+"/"+receipt.ID, nil).want(c, 200, "").into(c, &m)
	return m
}

// workMail processes the mails that came in.
func (s *service) workMail() {
	s.Helper()
	s.workRows(inboundmail.Job{Inbound: inboundmail.Intake(s.DB.App, s.Deps.Box)}.Handler())
}

// reply returns an answer to the email.
func (c *correspondence) reply(from, text string, header ...string) string {
	return fmt.Sprintf("From: %s\r\nTo: hello@shop.example\r\nSubject: Re: Hello\r\n"+
		"Message-ID: <%d-%s@example.com>\r\nIn-Reply-To: <%s>\r\n%s\r\n%s\r\n\r\n"+
		"On Monday, 3 August 2026, Ada wrote:\r\n> Good day\r\n", from, len(text),
		strings.ReplaceAll(strings.ReplaceAll(from, "@", "."), " ", ""), c.sent.MessageID,
		strings.Join(append(header, ""), "\r\n"), text)
}

// bounce returns a delivery status notification about the email.
func (c *correspondence) bounce(action, status, reply string) string {
	return strings.ReplaceAll("From: MAILER-DAEMON@mx.example.com\nReturn-Path: <>\nSubject: Undelivered Mail\n"+
		"Message-ID: <"+action+status+"@mx.example.com>\n"+
		"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nSorry.\n--b\n"+
		"Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.com\n\n"+
		"Final-Recipient: rfc822; ada@example.com\nAction: "+action+"\nStatus: "+status+
		"\nDiagnostic-Code: smtp; "+reply+
		"\n--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <"+c.sent.MessageID+">\n--b--\n", "\n", "\r\n")
}

// facts returns what is known of the email, and what was announced about it.
func (c *correspondence) facts() string {
	c.Helper()
	var out string
	if err := testkit.Pgx(c, c.DB.URL).QueryRow(c.Context(), `
		SELECT concat_ws(' ', CASE WHEN delivered_at IS NOT NULL THEN 'delivered' END, bounced,
			CASE WHEN complained_at IS NOT NULL THEN 'complained' END,
			CASE WHEN replied_at IS NOT NULL THEN 'replied' END,
			(SELECT string_agg(purpose || '/' || reason, ' ') FROM suppression WHERE org_id = e.org_id),
			(SELECT string_agg(type, ' ' ORDER BY type) FROM event WHERE org_id = e.org_id
				AND type IN ('email.delivered', 'email.bounced', 'email.complained', 'email.replied',
				'contact.unsubscribed')))
		FROM email e WHERE id = $1`, c.sent.ID).Scan(&out); err != nil {
		c.Fatal(err)
	}
	return out
}

func TestWhatComesBackIsWrittenToTheEmail(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	for name, c := range map[string]struct {
		mail        func(*correspondence) string
		want, facts string
	}{
		"a reply": {
			func(c *correspondence) string { return c.reply("Ada <Ada@Example.com>", "Yes, let us talk.") },
			"human references", "replied email.replied",
		},
		"a colleague's reply": {
			func(c *correspondence) string { return c.reply("grace@mail.example.com", "I decide this.") },
			"human references", "replied email.replied",
		},
		"a stranger who names the mail": {
			func(c *correspondence) string { return c.reply("eve@elsewhere.example", "Hello") },
			"human references", "replied email.replied",
		},
		"a stranger at the address with the token": {
			func(c *correspondence) string {
				local, domain, _ := strings.Cut(c.sent.MessageID, "@")
				return "From: ada@home.example\nTo: hello+" + local + "@" + domain +
					"\nSubject: Hi\n\nFrom my other address"
			},
			"human token", "replied email.replied",
		},
		"a new mail from the contact": {
			func(*correspondence) string { return "From: ada@example.com\nSubject: Looms\n\nWhat do they cost?" },
			"human sender", "replied email.replied",
		},
		"an automatic reply": {
			func(c *correspondence) string {
				return c.reply("ada@example.com", "I am away.", "Auto-Submitted: auto-replied")
			},
			"auto_reply references", "",
		},
		"no more mails": {
			func(c *correspondence) string { return c.reply("ada@example.com", "Unsubscribe") },
			"unsubscribe_request references", "marketing/unsubscribe contact.unsubscribed",
		},
		"a hard bounce": {
			func(c *correspondence) string { return c.bounce("failed", "5.1.1", "550 5.1.1 User unknown") },
			"bounce references", "hard all/hard_bounce email.bounced",
		},
		"a full mailbox": {
			func(c *correspondence) string { return c.bounce("failed", "5.2.2", "552 5.2.2 Mailbox full") },
			"bounce references", "soft email.bounced",
		},
		"a refusal as spam": {
			func(c *correspondence) string { return c.bounce("failed", "5.7.1", "550 5.7.1 Spam") },
			"bounce references", "soft email.bounced",
		},
		"a delay": {
			func(c *correspondence) string { return c.bounce("delayed", "4.4.1", "Connection timed out") },
			"bounce references", "",
		},
		"a delivery": {
			func(c *correspondence) string { return c.bounce("delivered", "2.0.0", "250 Ok") },
			"delivery_report references", "delivered email.delivered",
		},
		"a bounce that names nothing but the address": {
			func(*correspondence) string {
				return "From: MAILER-DAEMON@mx.example.com\nSubject: failure notice\n\n" +
					"This is the qmail-send program\n\n<ada@example.com>:\n" +
					"Sorry, no mailbox here by that name. (#5.1.1)\n"
			},
			"bounce none", "", // anybody can write that
		},
		"a complaint": {
			func(c *correspondence) string {
				return "From: fbl@mx.example.com\n" +
					"Content-Type: multipart/report; report-type=feedback-report; boundary=b\n\n" +
					"--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n" +
					"--b\nContent-Type: message/rfc822\n\nMessage-ID: <" + c.sent.MessageID + ">\n\nx\n--b--\n"
			},
			"complaint references", "complained all/complaint email.complained",
		},
		"mail of a mailbox of the org": {
			func(c *correspondence) string { return c.reply(c.mailbox+"@shop.example", "A copy") }, "human none", "",
		},
		"no mail at all": {func(*correspondence) string { return "\x00\xff" }, "unknown none", ""},
	} {
		o := correspond(s)
		m := o.receive(c.mail(o))
		if got := m.String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := o.facts(); got != c.facts {
			t.Errorf("%s: facts %q, want %q", name, got, c.facts)
		}
	}
}

func TestAThreadHasTheMailsOfBothDirections(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	var of thread
	c.do(http.MethodGet, threadsPath+"/"+c.sent.ThreadID, nil).want(t, 200, "").into(t, &of)
	if len(of.Messages) != 1 || of.Messages[0].Direction != "out" || of.Unread {
		t.Errorf("before an answer: %+v", of)
	}
	m := c.receive(c.reply("ada@example.com", "Yes, let us talk."))
	if m.ReplyText != "Yes, let us talk." || m.ThreadID != c.sent.ThreadID || m.EmailID == nil ||
		*m.EmailID != c.sent.ID ||
		!strings.Contains(m.Text, "> Good day") {
		t.Errorf("%+v", m)
	}
	var list struct{ Data []thread }
	c.do(http.MethodGet, threadsPath+"?unread=true&contact_id="+c.contact.ID, nil).want(t, 200, "").into(t, &list)
	if len(list.Data) != 1 || list.Data[0].ID != c.sent.ThreadID || list.Data[0].Count != 2 || !list.Data[0].Unread {
		t.Errorf("%+v", list)
	}
	if name := list.Data[0].ContactName; name == nil || *name != "Ada Lovelace" {
		t.Errorf("contact_name %v, want Ada Lovelace", name)
	}
	of = thread{}
	c.do(http.MethodPatch, threadsPath+"/"+c.sent.ThreadID, `{"unread":false}`).want(t, 200, "").into(t, &of)
	if of.Unread || len(of.Messages) != 2 || of.Messages[0].Direction != "out" || of.Messages[1].ID != m.ID {
		t.Errorf("%+v", of)
	}
	var out mailShown
	c.do(http.MethodGet, messagesPath+"/"+c.sent.ID, nil).want(t, 200, "").into(t, &out)
	if out.Direction != "out" || out.Class != nil || out.To[0] != "ada@example.com" {
		t.Errorf("%+v", out)
	}
	// Her next mail answers her own, which only we know.
	next := c.receive("From: ada@example.com\nSubject: And\nIn-Reply-To: <" +
		fmt.Sprintf("%d-%s@example.com", len("Yes, let us talk."), "ada.example.com") + ">\n\nOne more thing.")
	if next.ThreadID != c.sent.ThreadID {
		t.Errorf("thread %s, want %s", next.ThreadID, c.sent.ThreadID)
	}
	got := c.do(http.MethodGet, contactsPath+"/"+c.contact.ID+"/timeline?types=email.replied", nil)
	if n := strings.Count(string(got.Body), `"email.replied"`); n != 2 {
		t.Errorf("%d replies on the timeline: %s", n, got.Body)
	}
}

func TestTheSameMailIsOneMessage(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	mail := c.reply("ada@example.com", "Yes")
	m := c.receive(mail)
	for _, again := range []string{mail, "X-Relay: another way\n" + mail} {
		var receipt struct{ ID string }
		c.post(again).want(t, http.StatusOK, "").into(t, &receipt)
		if receipt.ID != m.ID {
			t.Errorf("%s, want %s", receipt.ID, m.ID)
		}
	}
	c.workMail()
	if n := c.effects(c.Org)["email.replied"]; n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestAnInboundAddressTakesNothingButMails(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	path := "/inbound/email/"
	c.do(http.MethodPost, path+"unknown", "x", "Content-Type", "message/rfc822").want(t, 404, "not_found")
	c.do(http.MethodPost, path+c.token, "x", "Content-Type", "application/json").want(t, 415, "")
	large := strings.Repeat("x", 150<<20+1)
	file := "Subject: Re: Looms\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nYes.\n--b\n" +
		"Content-Type: image/jpeg\n\n" + strings.Repeat(strings.Repeat("x", 70)+"\n", 27<<20/71) + "--b--\n"
	c.do(http.MethodPost, path+c.token, file, "Content-Type", "message/rfc822").want(t, 202, "")
	c.do(http.MethodPost, path+c.token, large, "Content-Type", "message/rfc822").want(t, 413, "")
	c.post("From: a@b.example\n\nHello").want(t, 202, "")
	c.do(http.MethodPost, boxesPath+"/"+c.mailbox+"/rotate-inbound-token", nil).want(t, 200, "")
	c.post("From: a@b.example\n\nHello again").want(t, 404, "not_found")
}

func TestACorrectionActsAsIfTheMailHadBeenReceivedWithTheClass(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	m := c.receive(c.reply("ada@example.com", "I am away, but yes.", "Auto-Submitted: auto-replied"))
	path := messagesPath + "/" + m.ID
	for _, step := range []struct{ class, facts string }{
		{"human", "replied email.replied"},
		{"human", "replied email.replied"},
		{"unsubscribe_request", "marketing/unsubscribe contact.unsubscribed email.replied"},
		{"auto_reply", "marketing/unsubscribe contact.unsubscribed email.replied"},
	} {
		var now mailShown
		c.do(http.MethodPatch, path, `{"class":"`+step.class+`"}`).want(t, 200, "").into(t, &now)
		if *now.Class != step.class || *now.ClassBy != "person" || c.facts() != step.facts {
			t.Errorf("%s: %s by %s, %q", step.class, *now.Class, *now.ClassBy, c.facts())
		}
	}
	c.do(http.MethodPatch, path, `{"class":"nice"}`).want(t, 422, "validation_failed")
	c.do(http.MethodPatch, path, `{"class":"human"}`, "If-Match", `"1-0"`).want(t, 412, "")
	c.do(http.MethodPatch, messagesPath+"/"+c.sent.ID, `{"class":"human"}`).want(t, 404, "not_found")
}

func TestHTMLOfStrangersIsHarmless(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	m := c.receive("From: ada@example.com\nContent-Type: text/html\n\n<p onclick=x()>Hi <b>there</b></p>" +
		`<script>x()</script><img src="https://example.com/pixel">` +
		`<a href="javascript:x()">a</a><a href="https://a.b">b</a>`)
	for _, bad := range []string{"onclick", "script", "img", "javascript"} {
		if m.HTML == nil || strings.Contains(*m.HTML, bad) {
			t.Errorf("%s: %v", bad, *m.HTML)
		}
	}
	if !strings.Contains(*m.HTML, "<b>there</b>") || !strings.Contains(m.Text, "Hi there") {
		t.Errorf("%s, %q", *m.HTML, m.Text)
	}
}

func TestAnAnswerSettlesAnUnknownEmail(t *testing.T) {
	t.Parallel()
	c := correspond(start(t, unlimited))
	c.exec(`UPDATE email SET status = 'unknown', sent_at = NULL WHERE id = $1`, c.sent.ID)
	c.receive(c.reply("ada@example.com", "Thank you"))
	var e email
	c.do(http.MethodGet, emailsPath+"/"+c.sent.ID, nil).want(t, 200, "").into(t, &e)
	if e.Status != "sent" || len(e.Evidence) != 1 || e.Evidence[0].Kind != "incoming_mail" {
		t.Errorf("%+v", e)
	}
}
