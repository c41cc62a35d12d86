package browser

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"strconv"
	"strings"
	"testing"
	"time"
)

// editors is how many scripts of the page hold the editor of mails.
const editors = `Promise.all([...new Set(performance.getEntriesByType('resource').map(e => e.name))]
	.filter(name => new URL(name).pathname.endsWith('.js'))
	.map(name => fetch(name).then(got => got.text())))
	.then(all => all.filter(text => text.includes('ProseMirror')).length)`

// writing is true while the editor of a mail has the focus.
const writing = `document.activeElement?.isContentEditable === true`

// attach chooses a file in the composer as a person does in the browser's dialog.
const attach = `(() => {
	const input = document.querySelector('input[type=file]'), files = new DataTransfer();
	files.items.add(new File(['looms;price\nA;1\n'], 'prices é.csv', {type: 'text/csv'}));
	input.files = files.files;
	input.dispatchEvent(new Event('change', {bubbles: true}));
	return true;
})()`

// taken is a mail that the sandbox's mailbox server has taken.
type taken struct {
	ID      string `json:"id"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	Text    string `json:"text"`
	Source  string `json:"source"`
}

// taken waits until the sandbox has taken a mail to an address with a subject, and returns it.
func (s *server) taken(t *testing.T, to, subject string) *taken {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * patience); time.Now().Before(end); <-tick.C {
		var list struct {
			Data []taken `json:"data"`
		}
		s.sandbox(t, "", &list)
		for _, one := range list.Data {
			if one.To != to {
				continue
			}
			if s.sandbox(t, one.ID, &one); one.Subject == subject {
				return &one
			}
		}
	}
	t.Fatalf("the sandbox has no mail %q to %s", subject, to)
	return nil
}

// sandbox reads a page of the sandbox's mailbox server.
func (s *server) sandbox(t *testing.T, path string, out any) {
	t.Helper()
	at := s.ops + "/sandbox/outbox/" + path + "?format=json"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	if err := json.NewDecoder(got.Body).Decode(out); err != nil {
		t.Fatalf("GET %s: %s, %v", at, got.Status, err)
	}
}

// files returns the content of a mail's attachments by their names.
func (m *taken) files(t *testing.T) map[string]string {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(m.Source))
	if err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for parts := multipart.NewReader(message.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			return found // the last one was read
		}
		if part.FileName() == "" {
			continue
		}
		content, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, part))
		if err != nil {
			t.Fatal(err)
		}
		found[part.FileName()] = string(content)
	}
}

// paste pastes HTML where the focus is.
func (h *hand) paste(html string) {
	h.Helper()
	ask[bool](h, `(() => {
		const data = new DataTransfer();
		data.setData('text/html', `+strconv.QuoteToASCII(html)+`);
		data.setData('text/plain', 'text');
		document.activeElement.dispatchEvent(
			new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
		return true;
	})()`)
}

// composed opens the page of a contact in a new org, and returns who uses it.
func composed(t *testing.T, email string) (*server, *hand, string) {
	t.Helper()
	b := newBrowser(t)
	s := serveConsole(t)
	c := s.asOwner(t)
	contact := c.id("/api/v1/crm/contacts", map[string]any{
		"email": email, "first_name": "Grace", "last_name": "Hopper",
	})
	h := &hand{T: t, tab: b.session()}
	b.signIn(h.tab, s.api, "owner")
	h.open(s.api+"/app/contacts/"+contact, "#main h1")
	h.see("Grace Hopper")
	return s, h, contact
}

// A mail with formatting, a merge field and a file is written by the keyboard, and arrives as it was written. The
// editor is loaded when it is opened.
func TestAMailArrivesAsItWasComposed(t *testing.T) {
	t.Parallel()
	s, h, _ := composed(t, "grace@example.com")
	if n := ask[int](h, editors); n != 0 {
		t.Errorf("the page of a contact loads the editor of mails: %d scripts", n)
	}
	h.press("m")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("New looms", enter)
	h.wait(writing)
	if n := ask[int](h, editors); n == 0 {
		t.Error("no script holds the editor, so the check above sees nothing")
	}
	h.press("Hello ")
	h.to("Insert field")
	h.press(enter)
	h.wait(`[...document.querySelectorAll('[role=menuitem]')].some(e => e.innerText === 'First name')`)
	h.press("first")
	h.wait(`document.activeElement?.innerText === 'First name'`)
	h.press(enter)
	h.wait(writing + ` && document.querySelector('[data-field="contact.first_name"]') !== null`)
	h.press("!", enter)
	h.chord("b")
	h.press("Big news")
	h.chord("b")
	h.press(" & more", enter, "- one loom", enter, "two looms")
	ask[bool](h, attach)
	h.see("prices é.csv")
	h.to("Preview")
	h.press(enter)
	h.wait(`document.querySelector('[role=dialog] iframe')?.getBoundingClientRect().height > 80`)
	h.to("Go on writing")
	h.press(enter)
	h.to("Send mail")
	h.press(enter)
	h.see("Mail on its way")
	h.wait(`document.querySelector('[role=dialog]') === null`)

	got := s.taken(t, "grace@example.com", "New looms")
	for part, wants := range map[string][]string{
		got.HTML: {"Hello Grace!", "<strong>Big news</strong> &amp; more", "<li>one loom</li>", "<li>two looms</li>"},
		got.Text: {"Hello Grace!", "Big news & more", "- one loom", "- two looms"},
	} {
		for _, want := range wants {
			if !strings.Contains(part, want) {
				t.Errorf("the mail lacks %q in %q", want, part)
			}
		}
	}
	if files := got.files(t); files["prices é.csv"] != "looms;price\nA;1\n" || len(files) != 1 {
		t.Errorf("the mail has the files %q", files)
	}
}

// The composer has no fault in either theme, and what is pasted into it makes no request and runs nothing.
func TestTheComposerHasNoFaultAndRunsNothingThatIsPasted(t *testing.T) {
	t.Parallel()
	_, h, _ := composed(t, "grace@example.com")
	target, hits := tracker(t)
	h.press("m")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("Looms", enter)
	h.wait(writing)
	ask[bool](h, `(() => {
		window.reports = [];
		window.ran = [];
		addEventListener('securitypolicyviolation', event => reports.push(event.violatedDirective));
		addEventListener('error', event => ran.push(event.message));
		addEventListener('message', event => ran.push(String(event.data)));
		return true;
	})()`)
	h.paste(`<style>h1 {color: red}</style><h1 style="margin:0" class=x>Big</h1><p style='color: red'>So <b>it</b> ` +
		`is, <a href="https://a.example/" onclick="x()">see</a>.</p>`)
	h.wait(`document.querySelector('[contenteditable=true] h2')?.innerText === 'Big'`)
	h.wait(`document.querySelector('[contenteditable=true] [data-link]')?.title === 'https://a.example/'`)
	if reports := ask[[]string](h, `window.reports`); len(reports) > 0 {
		t.Errorf("the security policy reports %q", reports)
	}
	h.paste(strings.ReplaceAll(strings.Join(hostileMails, "\n"), "T", target) + "<h1>End</h1>")
	h.wait(`[...document.querySelectorAll('[contenteditable=true] h2')].some(e => e.innerText === 'End')`)
	h.chord("k")
	h.wait(`document.activeElement?.matches('[role=group] input')`)
	for _, theme := range themes {
		if err := show(h.tab, look{1280, theme}); err != nil {
			t.Fatal(err)
		}
		faults, err := audit(h.tab, allRules)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", theme, fault)
		}
	}
	if ran := ask[[]string](h, `window.ran`); len(ran) > 0 || hits.Load() > 0 {
		t.Errorf("what was pasted made %d requests, and ran %q", hits.Load(), ran)
	}
}

// An answer is written in its conversation and sent with Ctrl and Enter; one that is sent later waits at the contact.
func TestAnAnswerIsSentAndAMailWaits(t *testing.T) {
	t.Parallel()
	s, h, contact := composed(t, "reply@example.com") // answers in the sandbox
	c := s.asOwner(t)
	mailbox, _ := c.mailbox()
	c.id("/api/v1/crm/emails", map[string]any{
		"contact_id": contact, "mailbox_id": mailbox, "subject": "A question", "text": "Shall we talk?",
	})
	h.open(s.api+"/app/inbox/"+c.thread(contact)+"?show=all", "#main article")
	h.press("r")
	h.wait(writing)
	h.press("Yes, on **Tuesday**", enter, "Ada")
	h.chord(enter)
	h.wait(`[...document.querySelectorAll('#main article')].some(e => e.innerText.includes('Yes, on Tuesday'))`)
	got := s.taken(t, "reply@example.com", "Re: A question")
	if !strings.Contains(got.HTML, "Yes, on <strong>Tuesday</strong>") ||
		!strings.Contains(got.Source, "In-Reply-To:") {
		t.Errorf("the answer is %q", got.Source)
	}

	h.open(s.api+"/app/contacts/"+contact, "#main h1")
	h.see("Grace Hopper")
	h.press("m")
	h.wait(`document.activeElement?.matches('[role=dialog] input')`)
	h.press("Later", enter)
	h.wait(writing)
	h.press("Good morning")
	h.to("Send later")
	h.press(enter)
	h.to("Tomorrow, 09:00")
	h.press(enter)
	h.see("Mail is sent")
	h.wait(`document.querySelector('[aria-label="Mails to be sent"]')?.innerText.includes('Later')`)
	h.to("Cancel Later")
	h.press(enter)
	h.wait(`document.querySelector('[aria-label="Mails to be sent"]') === null`)
}
