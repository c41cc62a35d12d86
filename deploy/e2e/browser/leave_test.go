package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const (
	closable = `dispatchEvent(new Event('beforeunload', {cancelable: true}))` // false: the browser asks first
	asked    = `document.querySelector('[role=dialog]')?.innerText.includes('Leave this page?') === true &&
		document.activeElement?.innerText === 'Stay'`
	answeredStay = `document.querySelector('[role=dialog]') === null`
)

// A page with changes that are not saved is left only by who says so: by a link, by the browser's button and by closing
// the tab. Who stays goes on where the focus was. A page that is saved is left without a question.
func TestAChangeIsNotLostByLeavingItsPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	template := c.id("/api/v1/templates", map[string]any{"name": "Welcome", "subject": "Hello", "text": "Good day"})
	contact := c.id("/api/v1/crm/contacts", map[string]any{
		"email": "grace@looms.example", "first_name": "Grace", "last_name": "Hopper",
	})
	_, inbound := c.mailbox()
	c.receive(inbound, "grace@looms.example", "<p>Yes, on Tuesday.</p>")
	thread := c.thread(contact)
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "owner")

	h.open(s.api+"/app/templates", "#main tbody tr td a")
	h.press("j")
	h.wait(`document.activeElement?.matches('tr')`)
	h.press(enter)
	h.wait(`location.pathname === '/app/templates/` + template + `' && __hand.byName('Subject') !== undefined`)
	if !ask[bool](h, closable) {
		t.Error("a page without a change asks before it is closed")
	}
	h.to("Subject")
	h.press(" and more")
	h.see("Not saved yet")
	if ask[bool](h, closable) {
		t.Error("a page with a change is closed without a question")
	}
	ask[bool](h, `(history.back(), true)`)
	h.wait(asked)
	h.press(enter) // stays
	h.wait(answeredStay + ` && location.pathname === '/app/templates/` + template + `'`)
	h.wait(`document.activeElement?.value?.endsWith('and more')`)
	contacts := `document.querySelector('nav a[href="/app/contacts"]')`
	h.clickAt(contacts)
	h.wait(asked)
	h.press(kb.Escape) // stays, too
	h.wait(answeredStay + ` && __hand.byName('Subject').value.endsWith('and more')`)
	h.chord("s")
	h.see("Template saved")
	h.wait(`!document.body.innerText.includes('Not saved yet')`)
	if !ask[bool](h, closable) {
		t.Error("a saved page asks before it is closed")
	}
	h.clickAt(contacts)
	h.wait(`location.pathname === '/app/contacts'`)

	h.open(s.api+"/app/inbox/"+thread+"?show=all", "#main article")
	h.press("r")
	h.wait(writing)
	h.press("Until then")
	h.wait(`!` + closable)
	h.clickAt(contacts)
	h.see("The mail is not sent")
	h.wait(asked)
	h.to("Leave")
	h.press(enter)
	h.wait(`location.pathname === '/app/contacts' && document.querySelector('#main')?.contains(document.activeElement)`)
	if !ask[bool](h, closable) {
		t.Error("the page after it asks before it is closed")
	}
}
