package api_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
)

const emailsPath = "/api/v1/crm/emails"

type email struct {
	ID, Status, Subject, Purpose, To string
	MessageID                        string  `json:"message_id"`
	ThreadID                         string  `json:"thread_id"`
	StatusReason                     *string `json:"status_reason"`
	HTML, Text                       *string
	Attachments                      []struct {
		Name string
		Size int
	}
	Evidence []struct{ Kind, Result, By string }
}

// mailbox gives the caller's org a mailbox of kind sandbox.
func (c *caller) sandboxMailbox() string {
	c.Helper()
	i := id.New().String()
	c.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, created_at,
		updated_at) VALUES ($1, $2, 'Box', 'sandbox', $3, $3, 'shop.example', 'active', now(), now())`, c.Org, i,
		i+"@shop.example")
	return i
}

// email sends an email to a contact. more are further members of the body.
func (c *caller) email(mailbox, contact string, more string) (e email) {
	c.Helper()
	c.do(http.MethodPost, emailsPath, `{"mailbox_id":"`+mailbox+`","contact_id":"`+contact+`",
		"subject":"Hello {{ contact.first_name }}","text":"Good day"`+more+`}`).want(c, 201, "").into(c, &e)
	return e
}

func TestAnEmailIsCreatedShownListedAndCancelled(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	mailbox, ada := c.sandboxMailbox(), c.contact("ada@example.com")
	file := base64.StdEncoding.EncodeToString([]byte("the file"))
	e := c.email(mailbox, ada.ID, `,"attachments":[{"name":"a.txt","type":"text/plain","content":"`+file+`"}]`)
	if e.Status != emails.Planned || e.Subject != "Hello "+ada.FirstName || e.To != "ada@example.com" ||
		e.ThreadID != e.ID || e.Text == nil || !strings.Contains(*e.Text, "Good day") || len(e.Attachments) != 1 ||
		e.Attachments[0].Size != 8 {
		t.Errorf("%+v", e)
	}
	if n := c.effects(c.Org)["email.send"]; n != 1 {
		t.Errorf("%d jobs", n)
	}
	second := c.email(mailbox, ada.ID, `,"in_reply_to_email_id":"`+e.ID+`"`)
	if second.ThreadID != e.ID {
		t.Errorf("an answer has the thread %s", second.ThreadID)
	}
	var list struct{ Data []email }
	c.do(http.MethodGet, emailsPath+"?status=planned&contact_id="+ada.ID, nil).want(t, 200, "").into(t, &list)
	if len(list.Data) != 2 || list.Data[0].ID != second.ID {
		t.Errorf("%+v", list)
	}
	c.do(http.MethodGet, emailsPath+"?status=lost", nil).want(t, 400, "invalid_parameter")
	one := emailsPath + "/" + e.ID
	got := c.do(http.MethodGet, one, nil).want(t, 200, "")
	c.do(http.MethodGet, one, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
	c.do(http.MethodPost, one+"/cancel", nil).want(t, 200, "").into(t, &e)
	if e.Status != emails.Cancelled {
		t.Errorf("%+v", e)
	}
	c.do(http.MethodPost, one+"/resolve", `{"outcome":"sent"}`).want(t, 409, "not_unknown")
	c.exec(`UPDATE email SET status = 'transmitting', marked_at = now() WHERE org_id = $1 AND id = '`+second.ID+`'`,
		c.Org)
	c.do(http.MethodPost, emailsPath+"/"+second.ID+"/cancel", nil).want(t, 409, "too_late")
}

func TestAnEmailThatCannotBeSentIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	mailbox, ada := c.sandboxMailbox(), c.contact("ada@example.com")
	post := func(body string) answer {
		return c.do(http.MethodPost, emailsPath, `{"mailbox_id":"`+mailbox+`","contact_id":"`+ada.ID+`"`+body+`}`)
	}
	missing := post(`,"subject":"Hi {{ contact.phone }}","text":"x"`)
	missing.want(t, 422, "merge_missing")
	if !strings.Contains(string(missing.Body), "#/contact/phone") {
		t.Errorf("%s", missing.Body)
	}
	post(`,"text":"x"`).want(t, 422, "validation_failed")
	post(`,"subject":"x","text":"{% if %}"`).want(t, 422, "validation_failed")
	post(`,"subject":"x","text":"x","scheduled_at":"2126-01-01T00:00:00Z"`).want(t, 422, "validation_failed")
	post(`,"subject":"x","text":"x","in_reply_to_email_id":"`+id.New().String()+`"`).want(t, 422, "validation_failed")
	c.do(http.MethodPost, emailsPath, `{"mailbox_id":"`+id.New().String()+`","contact_id":"`+ada.ID+
		`","subject":"x","text":"x"}`).want(t, 422, "validation_failed")
	c.exec(`UPDATE mailbox SET status = 'disabled' WHERE org_id = $1`, c.Org)
	post(`,"subject":"x","text":"x"`).want(t, 409, "mailbox_not_active")
}

func TestAnUnknownEmailIsResolvedByAPerson(t *testing.T) {
	t.Parallel()
	c := start(t, unlimited).signup()
	e := c.email(c.sandboxMailbox(), c.contact("ada@example.com").ID, "")
	c.exec(`UPDATE email SET status = 'unknown', marked_at = now() WHERE org_id = $1`, c.Org)
	resolve := emailsPath + "/" + e.ID + "/resolve"
	early := c.do(http.MethodPost, resolve, `{"outcome":"sent"}`).want(t, 409, "too_early")
	if early.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.exec(`UPDATE email SET marked_at = now() - interval '16 min' WHERE org_id = $1`, c.Org)
	c.do(http.MethodPost, resolve, `{"outcome":"sent"}`).want(t, 200, "").into(t, &e)
	if e.Status != emails.Sent || len(e.Evidence) != 1 || !strings.HasPrefix(e.Evidence[0].By, "user/") {
		t.Errorf("%+v", e)
	}
}
