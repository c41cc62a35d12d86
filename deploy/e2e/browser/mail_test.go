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
		"name": "News", "mailbox_id": mailbox,
		"filter": map[string]any{"field": "stage", "op": "in", "value": []string{"lead"}},
		"email":  map[string]any{"subject": "News", "text": "The news." + unsubscribe},
	})
	template := c.id("/api/v1/templates", map[string]any{"name": "Welcome", "subject": "Hello", "html": "<p>Hello</p>"})
	text := map[string]any{"type": "text", "text": "Good day"}
	blocks := c.id("/api/v1/templates", map[string]any{"name": "News", "subject": "News", "blocks": []map[string]any{
		{"type": "text", "html": "<h1>News</h1>"},
		{"type": "columns", "columns": []map[string]any{
			{"blocks": []map[string]any{text}}, {"blocks": []map[string]any{text}},
		}},
	}})
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
		{"/app/templates/" + blocks, "#main ol ol [role=group]"},
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
	_, token, _ := strings.Cut(inbound, "/inbound/")
	at, body := c.api+"/inbound/"+token, bytes.NewBufferString(mail)
	req, err := http.NewRequestWithContext(c.Context(), http.MethodPost, at, body)
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

// A first sequence is built, activated and answered within three minutes, by the keyboard alone, in the sandbox.
func TestAFirstSequenceIsBuiltAndAnsweredByTheKeyboard(t *testing.T) {
	byHand(t)
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	c.id("/api/v1/crm/contacts", map[string]any{
		"email": "reply@example.com", "first_name": "Grace", "last_name": "Hopper",
	})
	tab := b.session()
	b.signIn(tab, s.api, "owner")
	h := &hand{T: t, tab: tab}
	h.open(s.api+settings+"/sending", "#main form")
	begun := time.Now()
	h.to("Postal address")
	h.press("1 Mill Road, Manchester")
	h.to("Save rules")
	h.press(enter)
	h.see("Saved")

	h.press("g", "q")
	h.see("Write to people one by one")
	h.press("c")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.wait(`document.querySelector('[role=dialog]').innerText.includes('Sandbox')`)
	h.press("New looms", enter)
	h.wait(`/^\/app\/sequences\/[0-9a-f-]{36}$/.test(location.pathname)`)
	h.to("Add email")
	h.press(enter)
	h.to("Subject")
	h.press("New looms for you")
	h.to("Save steps")
	h.press(enter)
	h.see("Steps saved")

	h.open(ask[string](h, `location.href`)+"/settings", "#main form") // mails may be sent at any time
	for _, day := range []string{"Sat", "Sun"} {
		h.to(day)
		h.press(" ")
	}
	h.to("From")
	h.chord("a")
	h.press("00:00", tabKey)
	h.chord("a")
	h.press("24:00")
	h.to("Save settings")
	h.press(enter)
	h.see("Settings saved")
	h.to("Activate")
	h.press(enter)
	h.see("Sequence active")

	h.wait(`__hand.byName('Enrol contacts') !== undefined`)
	h.press("e")
	h.wait(`document.querySelector('[role=dialog]') !== null`)
	h.to("Contacts")
	h.press("reply")
	h.wait(`document.querySelector('[role=option]')?.innerText.includes('Hopper')`)
	h.press(enter)
	h.to("Enrol 1 contact")
	h.press(enter)
	h.see("1 contact enrolled")

	h.press("g", "i")
	h.wait(`document.querySelector('#main h1')?.innerText === 'Inbox' &&
		document.querySelector('#main tbody tr td a') !== null`)
	h.press("j", enter)
	h.wait(`document.querySelectorAll('#main article').length === 2`)
	took := time.Since(begun)
	if t.Logf("it took %v", took); took > 3*time.Minute {
		t.Errorf("a first sequence took %v", took)
	}
}
