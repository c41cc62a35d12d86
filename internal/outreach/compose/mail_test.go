package compose_test

import (
	"bytes"
	"errors"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jhillyerd/enmime/v2"

	"github.com/funnelwork/funnelwork/internal/outreach/compose"
)

func sample() *compose.Mail {
	return &compose.Mail{
		MessageID: "c2f4qk7@example.com", Date: time.Date(2026, 3, 9, 23, 30, 0, 0, time.UTC),
		From:    mail.Address{Name: "Ana Ruiz", Address: "ana@example.com"},
		To:      mail.Address{Name: "Bo", Address: "bo@example.org"},
		Subject: "Your plan", HTML: "<p>Hi Bo, <b>über</b> = x</p>\n", Text: "Hi Bo,\n\nüber = x\n.\n",
	}
}

// read parses the MIME of m with enmime, which shares no code with what wrote it.
func read(t *testing.T, m *compose.Mail) *enmime.Envelope {
	t.Helper()
	raw, err := m.MIME()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		if len(line) > 998 || bytes.ContainsAny(line, "\r\n\x00") {
			t.Errorf("a line of %d bytes is malformed: %.100q", len(line), line)
		}
	}
	envelope, err := enmime.ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("enmime: %v\n%s", err, raw)
	}
	for _, e := range envelope.Errors {
		if e.Name == enmime.ErrorCharsetDeclaration { // a guess about texts that are too short for it
			continue
		}
		t.Errorf("enmime: %s\n%.2000s", e, raw)
	}
	return envelope
}

func TestAMailHasTextAndHTMLAndItsHeaders(t *testing.T) {
	m := sample()
	m.ReplyTo = mail.Address{Address: "replies@example.com"}
	m.InReplyTo = "parent@example.org"
	m.References = compose.References([]string{"<root@example.org>", "bad id@x", "root@example.org"},
		"parent@example.org")
	m.ListUnsubscribe = []string{"https://example.com/t/u/abc", "mailto:u@example.com?subject=unsubscribe"}
	got := read(t, m)
	if got.Text != "Hi Bo,\r\n\r\nüber = x\r\n.\r\n" || got.HTML != "<p>Hi Bo, <b>über</b> = x</p>\r\n" {
		t.Errorf("text %q, HTML %q", got.Text, got.HTML)
	}
	for header, want := range map[string]string{
		"Message-ID": "<c2f4qk7@example.com>", "Date": "Mon, 09 Mar 2026 23:30:00 +0000", "Subject": "Your plan",
		"From": `"Ana Ruiz" <ana@example.com>`, "To": `"Bo" <bo@example.org>`, "Reply-To": "<replies@example.com>",
		"In-Reply-To": "<parent@example.org>", "References": "<root@example.org> <parent@example.org>",
		"List-Unsubscribe":      "<https://example.com/t/u/abc>, <mailto:u@example.com?subject=unsubscribe>",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "MIME-Version": "1.0",
	} {
		if have := got.GetHeader(header); have != want {
			t.Errorf("%s is %q, want %q", header, have, want)
		}
	}
	if kind := got.Root.ContentType; kind != "multipart/alternative" {
		t.Errorf("the mail is %s", kind)
	}
}

func TestAMailOfTextOnlyHasOnePart(t *testing.T) {
	m := sample()
	m.HTML = ""
	got := read(t, m)
	if got.Root.ContentType != "text/plain" || got.HTML != "" || !strings.Contains(got.Text, "über = x") {
		t.Errorf("the mail is %s: %q", got.Root.ContentType, got.Text)
	}
}

func TestTheBytesOfAMailDependOnItsFieldsAlone(t *testing.T) {
	m := sample()
	m.Attachments = []compose.Attachment{{Name: "a.txt", Type: "text/plain", Content: []byte("a")}, {Name: "b"}}
	first, err := m.MIME()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		m.Date = m.Date.In(time.FixedZone("x", 3600))
		if again, _ := m.MIME(); !bytes.Equal(first, again) {
			t.Fatalf("the bytes differ:\n%s\n\n%s", first, again)
		}
	}
	m.MessageID = "other@example.com"
	if other, _ := m.MIME(); bytes.Equal(first, other) {
		t.Error("another Message-ID gives the same bytes")
	}
}

func TestAttachmentsKeepNameTypeAndContent(t *testing.T) {
	m := sample()
	content := bytes.Repeat([]byte{0, 1, '\r', '\n', '.', 0xff}, 5000)
	for name, want := range map[string]string{
		"plan.pdf": "plan.pdf", "größe 1.pdf": "größe 1.pdf", "../../etc/passwd": "_.._etc_passwd", "": "attachment",
		"a\"; x=\"b\r\nBcc: c.txt": "a_; x=_b Bcc_ c.txt", "=?utf-8?q?x?=.txt": "=_utf-8_q_x_=.txt",
		strings.Repeat("ä", 300) + ".pdf": strings.Repeat("ä", 118) + ".pdf",
	} {
		m.Attachments = []compose.Attachment{
			{Name: name, Type: "application/pdf", Content: content}, {Name: "x", Type: "multipart/mixed\r\nBcc: a@b.c"},
		}
		got := read(t, m)
		if len(got.Attachments) != 2 || got.HTML == "" || got.Text == "" || got.GetHeader("Bcc") != "" {
			t.Fatalf("%q: %d attachments, HTML %q", name, len(got.Attachments), got.HTML)
		}
		a := got.Attachments[0]
		if a.FileName != want || a.ContentType != "application/pdf" || !bytes.Equal(a.Content, content) {
			t.Errorf("got %q, want %q, of %s and %d bytes", a.FileName, want, a.ContentType, len(a.Content))
		}
		if kind := got.Attachments[1].ContentType; kind != "application/octet-stream" {
			t.Errorf("a malformed type became %s", kind)
		}
	}
	m.Attachments = []compose.Attachment{{Content: make([]byte, 6<<20)}, {Content: make([]byte, 4<<20+1)}}
	if _, err := m.MIME(); !errors.Is(err, compose.ErrAttachments) {
		t.Errorf("11 MiB of attachments: %v", err)
	}
}

func TestReferencesKeepTheRootAndTheNewest(t *testing.T) {
	var before []string
	for i := range 30 {
		before = append(before, "<"+string(rune('a'+i%26))+strings.Repeat("x", i)+"@example.com>")
	}
	got := compose.References(before, "parent@example.com")
	if len(got) != 20 || got[0] != "a@example.com" || got[19] != "parent@example.com" ||
		got[18] != strings.Trim(before[29], "<>") {
		t.Errorf("got %d: %v", len(got), got)
	}
	got = compose.References([]string{"p@x", "", "a b@x", "<q@y\r\nBcc: z>"}, "p@x")
	if !slices.Equal(got, []string{"p@x"}) {
		t.Errorf("got %v", got)
	}
}

func TestMalformedFieldsAreErrors(t *testing.T) {
	for name, change := range map[string]func(*compose.Mail){
		"id":               func(m *compose.Mail) { m.MessageID = "a@b>\r\nBcc: <c@d" },
		"no id":            func(m *compose.Mail) { m.MessageID = "" },
		"to":               func(m *compose.Mail) { m.To.Address = "a@b.c, d@e.f" },
		"to with a line":   func(m *compose.Mail) { m.To.Address = "a@b.c>\r\nBcc: <d@e.f" },
		"to with a name":   func(m *compose.Mail) { m.To.Address = "x <a@b.c>" },
		"local not ASCII":  func(m *compose.Mail) { m.To.Address = "ü@b.c" },
		"no from":          func(m *compose.Mail) { m.From.Address = "" },
		"quoted with line": func(m *compose.Mail) { m.From.Address = "\"a\r\n b\"@b.c" },
		"reply":            func(m *compose.Mail) { m.ReplyTo.Address = "a@b@c" },
		"link":             func(m *compose.Mail) { m.ListUnsubscribe = []string{"https://x>\r\nBcc: a@b.c"} },
		"scheme":           func(m *compose.Mail) { m.ListUnsubscribe = []string{"javascript:x"} },
	} {
		m := sample()
		change(m)
		if raw, err := m.MIME(); err == nil {
			t.Errorf("%s: no error\n%s", name, raw)
		}
	}
	m := sample()
	m.To.Address = "bo@bücher.example"
	if got := read(t, m).GetHeader("To"); got != `"Bo" <bo@xn--bcher-kva.example>` {
		t.Errorf("a domain in Unicode is written as %q", got)
	}
}

func FuzzNoFieldAddsAHeader(f *testing.F) {
	for _, s := range []string{
		"x", "a\r\nBcc: evil@example.com", "a\nBcc: evil@example.com\n\n<b>", "\r\n\r\nbody", "a\x00b", "a\u2028Bcc: x",
		"=?utf-8?q?a=0D=0ABcc:_x?=", "=?utf-8?b?DQpCY2M6IHg=?=", strings.Repeat("long", 500), "ünï\rBcc: x",
		"\"<>,;:\\@",
		strings.Repeat("ü", 400), "boundary=" + strings.Repeat("a", 60),
		"multipart/mixed; boundary=" + strings.Repeat("0", 60),
		"\x85Bcc: x", "\x0bBcc: x", "\x0cBcc: x", " \t ",
		"Content-Type: multipart/mixed;\r\n boundary=" + strings.Repeat("a", 60) + "\r\n",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, body string) {
		if len(s) > 20_000 || len(body) > 20_000 {
			return
		}
		m := sample()
		m.Subject, m.To.Name, m.From.Name, m.ReplyTo = s, s, s, mail.Address{Name: s, Address: "a@example.com"}
		m.InReplyTo, m.References = s, []string{s, "ok@example.com"}
		m.HTML, m.Text = "<p>"+body, "x"+body
		m.Attachments = []compose.Attachment{{Name: s, Type: s, Content: []byte(body)}}
		got := read(t, m)
		names := got.GetHeaderKeys()
		slices.Sort(names)
		names = slices.DeleteFunc(names, func(n string) bool { return n == "In-Reply-To" })
		want := []string{
			"Content-Type", "Date", "From", "Message-Id", "Mime-Version",
			"References", "Reply-To", "Subject", "To",
		}
		if !slices.Equal(names, want) {
			t.Errorf("%q gives the headers %q", s, names)
		}
		if len(got.Attachments) != 1 || string(got.Attachments[0].Content) != body {
			t.Errorf("%q, %q: %d attachments", s, body, len(got.Attachments))
		}
		for _, header := range []string{"Subject", "To", "From"} {
			if value := got.GetHeader(header); strings.ContainsAny(value, "\r\n\x00") {
				t.Errorf("%s is %q", header, value)
			}
		}
		for _, header := range []string{"To", "From", "Reply-To"} {
			if list, err := mail.ParseAddressList(got.Root.Header.Get(header)); err != nil || len(list) != 1 {
				t.Errorf("%s of %q: %v, %v", header, s, list, err)
			}
		}
	})
}

func TestAnInvitationKeepsItsMethod(t *testing.T) {
	t.Parallel()
	const event = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
	for kind, want := range map[string]string{
		"text/calendar": "method=REQUEST", "text/calendar; method=CANCEL": "method=CANCEL",
		"text/calendar; charset=UTF-8; method=reply": "method=REPLY", `text/calendar; method="a b"`: "method=REQUEST",
		"application/ics": "",
	} {
		m := sample()
		m.Attachments = []compose.Attachment{{Name: "invite.ics", Type: kind, Content: []byte(event)}}
		raw, err := m.MIME()
		if err != nil {
			t.Fatal(err)
		}
		unfolded := strings.ReplaceAll(string(raw), "\r\n ", " ")
		if got := strings.Contains(unfolded, "method="); got != (want != "") || !strings.Contains(unfolded, want) {
			t.Errorf("%s: want %q in\n%s", kind, want, unfolded)
		}
	}
}
