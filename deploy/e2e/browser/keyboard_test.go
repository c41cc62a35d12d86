package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// settings is the path below which the sections of the settings are.
const settings = "/app/settings"

// tasks are what a screen is mainly for, done by the keyboard alone from the moment when the screen is open.
var tasks = []struct {
	name, path string
	do         func(h *hand, s *server)
}{
	{"home", "/app/home", func(h *hand, _ *server) {
		h.to("Create an API key")
		h.press(enter)
		h.wait(`location.pathname === '/app/settings/integrations/keys'`)
	}},
	{"contacts", "/app/contacts", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.type === 'email'`)
		h.press("zoe.quill@example.com", tabKey, "Zoe", tabKey, "Quill", enter)
		h.see("Zoe Quill created")
		h.to("Job title")
		h.press("Head of sales", enter)
		h.wait(`[...document.querySelectorAll('[role=status]')].some(e => e.textContent === 'Saved')`)
		h.press(kb.Escape)
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press("x")
		h.see("1 selected")
	}},
	{"contact", "/app/contacts", func(h *hand, _ *server) {
		h.see("Zoe Quill")
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press(enter)
		h.to("Open as a page")
		h.press(enter)
		h.wait(`/^\/app\/contacts\/[0-9a-f-]{36}$/.test(location.pathname)`)
		h.to("Activity")
		h.press(kb.ArrowRight)
		h.to("Write a note")
		h.press("Met at the fair")
		h.to("Add note")
		h.press(enter)
		h.see("Met at the fair")
	}},
	{"companies", "/app/companies", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Quill Works", enter)
		h.see("Quill Works created")
		h.to("Industry")
		h.press("Printing", enter)
		h.wait(`[...document.querySelectorAll('[role=status]')].some(e => e.textContent === 'Saved')`)
	}},
	{"deals", "/app/deals", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Quill licence", tabKey, "1200", enter)
		h.see("Quill licence created")
		h.wait(`document.querySelector('[role=dialog]') === null`)
		h.to("Quill licence")
		h.press(" ", kb.ArrowRight, " ")
		h.see("Quill licence moved to Proposal")
		h.press(enter)
		h.wait(`/^\/app\/deals\/[0-9a-f-]{36}$/.test(location.pathname)`)
	}},
	{"tasks", "/app/tasks", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Send the licence", enter)
		h.see("Task created")
		h.wait(`document.querySelector('[role=dialog]') === null && document.querySelector('[data-task]') !== null`)
		h.press("j")
		h.wait(`document.activeElement?.closest('[data-task]') !== null`)
		h.press("x")
		h.see("Done: Send the licence")
	}},
	{"segments", "/app/segments", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`location.pathname === '/app/segments/new'`)
	}},
	{"segment", "/app/segments/new", func(h *hand, _ *server) {
		h.wait(`document.activeElement?.matches('#main input')`)
		h.press("New leads")
		h.to("Value of Stage")
		h.press("l", enter)
		h.wait(`/\d+ contacts?/.test(document.querySelector('[aria-label="Who would be in it"]')?.innerText)`)
		h.to("Create segment")
		h.press(enter)
		h.see("Segment created")
		h.wait(`/^\/app\/segments\/[0-9a-f-]{36}$/.test(location.pathname)`)
	}},
	{"imports", "/app/imports", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`location.pathname === '/app/imports/new'`)
	}},
	{"import", "/app/imports/new", func(h *hand, _ *server) { h.to("Choose a file") }},
	{"exports", "/app/imports?show=exports", func(h *hand, _ *server) {
		h.press("c")
		h.to("Start export")
		h.press(enter)
		h.see("The export has begun")
	}},
	{"duplicates", "/app/duplicates", func(h *hand, _ *server) {
		h.press("r")
		h.see("The search has begun")
	}},
	{"merges", "/app/duplicates?show=merged", func(h *hand, _ *server) { h.see("Nothing was merged yet") }},
	{"accounts", "/app/accounts", func(h *hand, _ *server) {
		h.to("Connect account")
		h.press(enter)
		h.wait(`document.querySelector('[role=menuitem]') !== null`)
		h.see("LinkedIn page")
		h.press(kb.Escape)
	}},
	{"clients", "/app/clients", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Shop", enter)
		h.wait(`/Client created|Your plan is full|client orgs is reached/.test(document.body.innerText)`)
	}},
	{"scoring", "/app/ai", func(h *hand, _ *server) {
		h.press("h")
		h.see("Read a score")
		h.press(kb.Escape)
		h.wait(`document.querySelector('aside') === null`)
		h.to("Train now")
		h.press(enter)
		h.see("has begun")
	}},
	{"tags", settings + "/tags", func(h *hand, s *server) {
		s.asOwner(h.T).id("/api/v1/crm/contacts", map[string]any{
			"email": "tagged@example.com", "first_name": "Tam", "last_name": "Tag", "tag": []string{"expo-2026"},
		})
		h.see("expo-2026")
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press(".")
		h.see("Rename")
		h.press(kb.Escape)
	}},
	{"brand", settings + "/brand", func(h *hand, _ *server) {
		h.to("Name")
		h.press("Quill", enter)
		h.see("Your plan does not include this") // the trial has no white label
		h.press(kb.Escape)
	}},
	{"domain", settings + "/domain", func(h *hand, _ *server) { // the trial has no custom domain
		h.see("Your plan does not include this")
		h.to("Compare plans")
	}},
	{"payouts", settings + "/payouts", func(h *hand, _ *server) { h.to("Set up payouts") }},
	{"sending", settings + "/sending", func(h *hand, _ *server) {
		h.to("Postal address")
		h.press("1 Mill Road, Manchester")
		h.to("Save rules")
		h.press(enter)
		h.see("Saved")
	}},
	{"sequences", "/app/sequences", writeSequence}, // while there is one mailbox, which needs no choice
	{"broadcasts", "/app/broadcasts", writeBroadcast},
	{"templates", "/app/templates", writeTemplate},
	{"mailboxes", settings + "/mailboxes", func(h *hand, _ *server) {
		h.see("Sandbox")
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press("c")
		h.wait(`location.pathname.endsWith('/mailboxes/new')`)
	}},
	{"mailbox", settings + "/mailboxes/new", func(h *hand, _ *server) {
		h.to("Mail server")
		h.press(kb.ArrowUp) // from the first kind to the last one
		h.wait(`document.activeElement?.innerText.startsWith('Sandbox')`)
		h.press(" ")
		h.wait(`document.activeElement?.ariaChecked === 'true'`)
		h.to("Email address")
		h.press("olga@looms.example", enter)
		h.see("Mailbox connected")
	}},
	{"suppressions", settings + "/suppressions", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("eve@example.com", enter)
		h.see("eve@example.com is suppressed")
	}},
	{"unknown sends", settings + "/unknown", func(h *hand, _ *server) { h.see("No mail is in doubt") }},
	{"inbox", "/app/inbox?show=all", func(h *hand, s *server) {
		c := s.asOwner(h.T)
		contact := c.id("/api/v1/crm/contacts", map[string]any{
			"email": "grace@looms.example", "first_name": "Grace", "last_name": "Hopper",
		})
		_, inbound := c.mailbox()
		c.receive(inbound, "grace@looms.example", "<p>Yes, on Tuesday.</p>")
		c.thread(contact)
		h.see("Grace Hopper")
		h.press("j", enter)
		h.wait(`document.querySelector('#main article') !== null`)
		h.see("Yes, on Tuesday.")
	}},
	{"profile", settings + "/profile", func(h *hand, _ *server) {
		h.to("First name")
		h.press("Olga", enter)
		h.see("Name saved")
	}},
	{"org", settings + "/org", func(h *hand, _ *server) {
		h.to("Name")
		h.chord("a")
		h.press("Quill and sons", enter)
		h.see("Name saved")
	}},
	{"members", settings + "/members", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.type === 'email'`)
		h.press("new.colleague@example.com", enter)
		h.wait(`/Invitation sent|Pass on this link/.test(document.body.innerText)`)
	}},
	{"billing", settings + "/billing", func(h *hand, _ *server) {
		h.to("Start ")
		h.press(enter)
		h.wait(`/Due now/.test(document.querySelector('[role=dialog]')?.innerText)`)
		h.press(kb.Escape)
		h.wait(`document.querySelector('[role=dialog]') === null`)
	}},
	{"audit", settings + "/audit", func(h *hand, _ *server) {
		h.to("Action")
		h.press(enter)
		h.wait(`document.querySelector('[role=listbox]') !== null`)
		h.press(kb.ArrowDown, enter)
		h.wait(`new URLSearchParams(location.search).has('action')`)
	}},
	{"jobs", settings + "/jobs", func(h *hand, s *server) {
		s.asOwner(h.T).into(nil, http.MethodPost, "/api/v1/crm/contacts/exports",
			map[string]any{"format": "csv"})
		h.see("Export of contacts")
		h.to("Download")
	}},
	{"webhooks", settings + "/integrations/webhooks", func(h *hand, s *server) {
		h.press("c")
		h.wait(`location.pathname.endsWith('/webhooks/new') && document.activeElement?.matches('input')`)
		h.press(s.inbox())
		h.to("All events")
		h.press(" ")
		h.to("Create webhook")
		h.press(enter)
		h.see("Copy the signing secret now")
		h.to("Send a test event")
		h.press(enter)
		h.wait(`document.querySelector('[role=dialog]') !== null`)
	}},
	{"deliveries", settings + "/integrations/deliveries", func(h *hand, s *server) {
		deliver(h.T, s)
		h.wait(`document.querySelector('#main tbody tr td') !== null`)
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press(enter)
		h.wait(`/deliveries\/[0-9a-f-]{36}$/.test(location.pathname)`)
	}},
	{"delivery", settings + "/integrations/deliveries", func(h *hand, s *server) {
		deliver(h.T, s)
		h.wait(`document.querySelector('#main tbody tr td') !== null`)
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press(enter)
		h.wait(`/deliveries\/[0-9a-f-]{36}$/.test(location.pathname)`)
		first := ask[string](h, `location.pathname`)
		h.to("Redeliver")
		h.press("r")
		h.wait(`location.pathname !== '` + first + `'`)
	}},
	{"events", settings + "/integrations/events", func(h *hand, s *server) {
		s.asOwner(h.T).id("/api/v1/crm/contacts", map[string]any{
			"email": "events@example.com", "first_name": "Eve", "last_name": "Ent",
		})
		h.see("contact.created")
		h.press("p")
		h.see("Paused")
		h.press("j")
		h.wait(`document.activeElement?.matches('tr')`)
		h.press(enter)
		h.wait(`/events\/[0-9a-f-]{36}$/.test(location.pathname)`)
	}},
	{"keys", settings + "/integrations/keys", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Website form", enter)
		h.see("Copy the key now")
		h.to("Done")
		h.press(enter)
		h.see("Website form")
	}},
	{"requests", settings + "/integrations/requests", func(h *hand, _ *server) {
		h.to("Status")
		h.press(enter)
		h.wait(`document.querySelector('[role=listbox]') !== null`)
		h.press(kb.ArrowDown, enter)
		h.wait(`new URLSearchParams(location.search).get('status') === '2xx'`)
	}},
	{"fields", settings + "/fields", func(h *hand, _ *server) {
		h.press("c")
		h.wait(`document.activeElement?.matches('[role=dialog] input')`)
		h.press("Renewal day", enter)
		h.see("Field created")
		h.see("renewal_day")
	}},
	{"pipelines", settings + "/pipelines", func(h *hand, _ *server) {
		h.to("Edit ")
		h.press(enter)
		h.wait(`__hand.byName('Add stage') !== undefined`)
		h.to("Chance of stage 1")
		h.chord("a")
		h.press("15", enter)
		h.see("Pipeline saved")
		h.see("15%")
	}},
	{"kit", "/app/_kit", func(h *hand, _ *server) {
		h.press(tabKey)
		h.wait(`document.activeElement !== document.body`)
	}},
}

// writeTemplate writes a template from blocks and moves one of them.
func writeTemplate(h *hand, _ *server) {
	h.press("c")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("Quill news", enter)
	h.wait(`/^\/app\/templates\/[0-9a-f-]{36}$/.test(location.pathname)`)
	h.to("Text")
	h.press(kb.ArrowRight)
	h.wait(`document.activeElement?.innerText === 'Blocks'`)
	h.press(" ")
	h.wait(`document.querySelectorAll('#main ol [role=group]').length === 2`)
	h.to("Add block")
	h.press(enter)
	h.wait(`document.activeElement?.matches('[role=menuitem], [role=menu]')`)
	h.press("h") // the first kind that begins so
	h.wait(`document.activeElement?.innerText === 'Heading'`)
	h.press(enter)
	h.wait(`document.activeElement?.matches('[data-block] textarea')`)
	h.press("Quill and sons")
	h.back("Move up")
	h.press(enter)
	h.see("Moved to place 2 of 3")
	h.chord("s")
	h.see("Template saved")
}

// writeBroadcast writes a broadcast to the contacts that match conditions.
func writeBroadcast(h *hand, _ *server) {
	h.press("c")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("Quill news", enter)
	h.wait(`/^\/app\/broadcasts\/[0-9a-f-]{36}$/.test(location.pathname)`)
	h.to("Whom")
	h.press("contacts that", enter)
	h.to("Value of Stage")
	h.press("l", enter)
	h.wait(`/\d+ contacts? match/.test(document.querySelector('[aria-label="Conditions"]')?.innerText)`)
	h.to("Subject")
	h.press("News")
	h.to("Compare variants")
	h.press(enter)
	h.see("Variant B")
	h.to("Save broadcast")
	h.press(enter)
	h.see("Broadcast saved")
}

// writeSequence writes the first step of a sequence.
func writeSequence(h *hand, _ *server) {
	h.press("c")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.wait(`document.querySelector('[role=dialog]').innerText.includes('Sandbox')`)
	h.press("Quill looms", enter)
	h.wait(`/^\/app\/sequences\/[0-9a-f-]{36}$/.test(location.pathname)`)
	h.to("Add email")
	h.press(enter)
	h.to("Subject")
	h.press("New looms for you")
	h.to("Save steps")
	h.press(enter)
	h.see("Steps saved")
}

// inbox is the address of a webhook receiver that up has.
func (s *server) inbox() string { return s.ops + "/sandbox/inbox/browser" }

// deliver makes a delivery of a test event.
func deliver(t *testing.T, s *server) {
	t.Helper()
	c := s.asOwner(t)
	hook := c.id("/api/v1/webhooks", map[string]any{"url": s.inbox(), "events": []string{"*"}})
	c.into(nil, http.MethodPost, "/api/v1/webhooks/"+hook+"/test", map[string]any{"type": "contact.created"})
}

func TestTheMainTaskOfEachScreenNeedsNoMouse(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	tab := b.session()
	b.signIn(tab, s.api, "owner")
	for _, task := range tasks {
		t.Run(task.name, func(t *testing.T) {
			h := &hand{T: t, tab: tab}
			h.open(s.api+task.path, ready(task.path))
			task.do(h, s)
		})
	}
	t.Run("forgotten password", func(t *testing.T) {
		h := &hand{T: t, tab: b.session()}
		h.open(s.api+"/forgot-password", "form")
		h.wait(`document.activeElement?.type === 'email'`)
		h.press("owner@example.com", enter)
		h.wait(`/Look into your mail|Mail is not set up here/.test(document.body.innerText)`)
	})
	for _, one := range screens {
		if !hasTask(one.path) {
			t.Errorf("%s has no task", one.path)
		}
	}
}

// hasTask reports whether a task covers a screen.
func hasTask(path string) bool {
	for _, task := range tasks {
		if task.path == path || strings.HasPrefix(path, settings+"/integrations/webhooks") {
			return true
		}
	}
	return path == settings+"/nowhere"
}

// ready returns the selector of what the screen of a path has when it is open.
func ready(path string) string {
	for _, one := range screens {
		if one.path == path {
			return one.ready
		}
	}
	return "#main"
}

func TestAContactIsFoundByThreeLetters(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	wanted := c.id("/api/v1/crm/contacts", map[string]any{
		"email": "xavier.quinn@example.com", "first_name": "Xavier", "last_name": "Quinn",
	})
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "owner")
	h.open(s.api+"/app/home", "#main h1")
	h.chord("k")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("xav")
	at := time.Now()
	h.see("Xavier Quinn")
	took := time.Since(at)
	t.Logf("found %v after the last letter", took.Round(time.Millisecond))
	h.wait(`document.querySelector('[cmdk-item][data-selected=true]')?.textContent.includes('Xavier')`)
	h.press(enter)
	h.wait(`location.pathname === '/app/contacts/` + wanted + `'`)

	h.open(s.api+"/app/home", "#main h1") // and by who does not wait for the list
	h.chord("k")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("xav" + enter)
	h.wait(`location.pathname === '/app/contacts/` + wanted + `'`)
}

func TestFewClicksMakeAWebhookAndRedeliver(t *testing.T) {
	byHand(t)
	b := newBrowser(t)
	s := serveConsole(t)
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "owner")
	h.open(s.api+settings, "#main h1, #main form")
	h.click("Webhooks")
	h.click("New webhook")
	h.wait(`document.activeElement?.matches('input')`)
	h.press(s.inbox())
	h.click("All events")
	h.click("Create webhook")
	h.see("Copy the signing secret now")
	if h.clicks > 4 {
		t.Errorf("a new webhook takes %d clicks from the settings, want 4 at most", h.clicks)
	}
	deliver(t, s)
	h.open(s.api+settings+"/integrations/deliveries", "#main tbody tr")
	h.clicks = 0
	h.clickAt(`document.querySelector('#main tbody tr button[aria-haspopup]')`)
	h.wait(`document.querySelector('[role=menu]') !== null`)
	h.click("Redeliver")
	h.see("Sending again")
	if h.clicks > 2 {
		t.Errorf("to redeliver takes %d clicks from the list, want 2 at most", h.clicks)
	}
}
