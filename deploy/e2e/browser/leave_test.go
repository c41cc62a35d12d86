package browser

import "testing"

const (
	closable = `dispatchEvent(new Event('beforeunload', {cancelable: true}))` // false: the browser asks first
	asked    = `document.querySelector('[role=dialog]')?.innerText.includes('Leave this page?') === true &&
		document.activeElement?.innerText === 'Stay'`
	answeredStay = `document.querySelector('[role=dialog]') === null`
)

// A page with changes that are not saved is left only by who says so, and the browser asks before its tab is closed.
func TestAChangeIsNotLostByLeavingItsPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	template := c.id("/api/v1/templates", map[string]any{"name": "Welcome", "subject": "Hello", "text": "Good day"})
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
	h.wait(`__hand.byName('Subject').value.endsWith('and more')`)
}
