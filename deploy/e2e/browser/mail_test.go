package browser

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"
)

// mails creates a mailbox, a sequence, a broadcast, a template and a conversation with contact, and returns the pages
// that show them.
func (c *client) mails(contact string) []screen {
	c.Helper()
	c.into(nil, http.MethodPut, "/api/v1/org/sending", map[string]any{"postal_address": "1 Mill Road, Manchester"})
	mailbox, inbound := c.mailbox()
	unsubscribe := "\n\nNo more mails: {{ unsubscribe_url }}"
	sequence := c.id("/api/v1/sequences", map[string]any{
		"name": "New looms", "mailbox_ids": []string{mailbox}, "steps": []map[string]any{
			{"key": "hello", "kind": "email", "email": map[string]any{
				"thread": "new", "subject": "New looms", "text": "Shall we talk?" + unsubscribe,
			}},
			{"key": "clicked", "kind": "condition", "condition": map[string]any{
				"filter": map[string]any{"field": "clicked", "op": "eq", "value": true}, "then": "call", "else": "end",
			}},
			{"key": "call", "kind": "task", "task": map[string]any{"title": "Call them"}},
		},
	})
	c.into(nil, http.MethodPost, "/api/v1/sequences/"+sequence+"/activate", nil)
	c.into(nil, http.MethodPost, "/api/v1/sequences/"+sequence+"/enroll",
		map[string]any{"contact_ids": []string{contact}})
	broadcast := c.id("/api/v1/broadcasts", map[string]any{
		"name": "News", "mailbox_id": mailbox, "filter": map[string]any{"all": []any{}},
		"email": map[string]any{"subject": "News", "text": "The news." + unsubscribe},
	})
	template := c.id("/api/v1/templates", map[string]any{"name": "Welcome", "subject": "Hello", "html": "<p>Hello</p>"})
	c.id("/api/v1/suppressions", map[string]any{"email": "eve@example.com"})
	c.into(nil, http.MethodPost, "/api/v1/org/sending/domains", map[string]any{"domain": "looms.example"})
	c.receive(inbound, "ada@quill.example", "<p>Yes, on Tuesday.</p>")
	return []screen{
		{settings + "/mailboxes/" + mailbox, "#main h1"},
		{"/app/sequences/" + sequence, "#main ol section"},
		{"/app/sequences/" + sequence + "/contacts", "#main tbody tr"},
		{"/app/sequences/" + sequence + "/numbers", "#main h1"},
		{"/app/sequences/" + sequence + "/settings", "#main form"},
		{"/app/sequences/" + sequence + "/versions", "#main tbody tr"},
		{"/app/broadcasts/" + broadcast, "#main form"},
		{"/app/templates/" + template, "#main iframe"},
		{"/app/inbox/" + c.thread(contact) + "?show=all", "#main article"},
	}
}

// mailbox creates a mailbox of the sandbox and returns it with its inbound address.
func (c *client) mailbox() (id, inbound string) {
	c.Helper()
	var got struct {
		ID      string `json:"id"`
		Inbound string `json:"inbound_url"`
	}
	c.into(&got, http.MethodPost, "/api/v1/mailboxes",
		map[string]any{"kind": "sandbox", "from_email": "ada@looms.example", "from_name": "Ada"})
	return got.ID, got.Inbound
}

// receive posts a mail in HTML to an inbound address.
func (c *client) receive(inbound, from, html string) {
	c.Helper()
	mail := strings.Join([]string{
		"From: " + from, "To: ada@looms.example", "Subject: A question", "Message-ID: <" + c.Name() + "@mail.example>",
		"MIME-Version: 1.0", "Content-Type: text/html; charset=utf-8", "", html, "",
	}, "\r\n")
	path := inbound[strings.Index(inbound, "/inbound/"):]
	req, err := http.NewRequestWithContext(c.Context(), http.MethodPost, c.api+path, bytes.NewBufferString(mail))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Content-Type", "message/rfc822")
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	if err := got.Body.Close(); err != nil || got.StatusCode != http.StatusAccepted {
		c.Fatalf("the mail was answered with %s, %v", got.Status, err)
	}
}

// thread waits until a contact has a conversation, and returns it.
func (c *client) thread(contact string) string {
	c.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		c.into(&list, http.MethodGet, "/api/v1/crm/threads?contact_id="+contact, nil)
		if len(list.Data) > 0 {
			return list.Data[0].ID
		}
	}
	c.Fatalf("the contact %s has no conversation", contact)
	return ""
}

// A mail that was received is shown as it was formatted, in its frame, and makes no request.
func TestAReceivedMailIsShownInItsFrame(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	target, hits := tracker(t)
	contact := c.id("/api/v1/crm/contacts", map[string]any{
		"email": "grace@example.com", "first_name": "Grace", "last_name": "Hopper",
	})
	_, inbound := c.mailbox()
	hostile := strings.ReplaceAll(strings.Join(hostileMails[:20], "\n"), "T", target)
	c.receive(inbound, "grace@example.com", "<h1>Yes</h1>"+strings.Repeat("<p>On Tuesday.</p>", 20)+hostile)
	tab := b.session()
	b.signIn(tab, s.api, "owner")
	for _, wrong := range b.visitIn(tab, s.api+"/app/inbox/"+c.thread(contact)+"?show=all", "#main article") {
		t.Error(wrong)
	}
	h := &hand{T: t, tab: tab}
	ask[bool](h, helpers)
	h.click("Formatted")
	h.wait(`document.querySelector('article iframe')?.getBoundingClientRect().height > 300`)
	if hits.Load() > 0 {
		t.Errorf("the mail made %d requests", hits.Load())
	}
}
