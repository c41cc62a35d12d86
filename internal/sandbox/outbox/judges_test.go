package outbox_test

import (
	"bytes"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// signed are mails of every form that we send, signed for shop.example.
func signed(t *testing.T) (all map[string][]byte, records map[string]string) {
	t.Helper()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	signer := outbox.Signer{App: db.App, Box: box}
	record, err := signer.Record(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	plain := compose.Mail{
		MessageID: "c2f4qk7@shop.example", Date: time.Now(), Subject: "Your plan",
		From: mail.Address{Name: "Ana Ruiz", Address: "ana@shop.example"},
		To:   mail.Address{Name: "Bo", Address: "bo@example.org"},
		Text: "Hi Bo,\n\nwe talked about looms.\n.\n\nAna\n",
	}
	page := plain
	page.HTML = "<p>Hi Bo,</p><p>we talked about <b>looms</b>.</p><p>Ana</p>"
	page.Text = "Hi Bo,\n\nwe talked about looms.\n\nAna\n"
	page.ListUnsubscribe = []string{"https://shop.example/t/u/abc"}
	reply := page
	reply.Subject, reply.InReplyTo = "Re: Größe der Webstühle für Łódź", "parent@example.org"
	reply.References = compose.References([]string{"root@example.org"}, "parent@example.org")
	file := plain
	file.Attachments = []compose.Attachment{{
		Name: "Größen.pdf", Type: "application/pdf", Content: []byte("%PDF-1.4 looms"),
	}}
	all = map[string][]byte{}
	for name, m := range map[string]*compose.Mail{"text": &plain, "page": &page, "reply": &reply, "attachment": &file} {
		mime, err := m.MIME()
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = signer.Sign(t.Context(), org, &mailboxes.Sending{
			Kind: mailboxes.Sandbox, FromDomain: "shop.example",
		}, mime); err != nil {
			t.Fatal(err)
		}
	}
	return all, map[string]string{outbox.Selector + "._domainkey.shop.example": record}
}

func TestOpenDKIMAcceptsOurSignatures(t *testing.T) {
	t.Parallel()
	all, records := signed(t)
	for name, mime := range all {
		if got := testkit.OpenDKIM(t, records, mime); !strings.Contains(got, "succeeded") {
			t.Errorf("%s: %s\n%s", name, got, mime)
		}
		changed := bytes.Replace(mime, []byte("looms"), []byte("looks"), 1)
		if name == "attachment" {
			changed = bytes.Replace(mime, []byte("Subject: Your"), []byte("Subject: Our"), 1)
		}
		if got := testkit.OpenDKIM(t, records, changed); strings.Contains(got, "succeeded") ||
			bytes.Equal(mime, changed) {
			t.Errorf("%s, changed: %s", name, got)
		}
	}
}

// faulty are rspamd's symbols for malformed mails, by the beginning of their names.
var faulty = []string{
	"R_DKIM_REJECT", "R_DKIM_PERMFAIL", "R_DKIM_TEMPFAIL", "BROKEN_HEADERS", "INVALID_", "MISSING_",
	"R_MISSING_CHARSET",
	"BAD_CTE", "MV_CASE", "FORGED_", "MULTIPLE_UNIQUE_HEADERS", "RCVD_ILLEGAL", "PARTS_DIFFER", "CTE_CASE", "URI_",
	"BROKEN_CONTENT_TYPE", "MIME_HEADER_CTYPE_ONLY", "TRACKER_ID", "SUBJ_EXCESS", "R_PARTS_DIFFER", "MIME_BASE64_TEXT",
	"FROM_NEEDS_ENCODING", "TO_NEEDS_ENCODING", "SUBJECT_NEEDS_ENCODING", "MID_", "DATE_IN_", "EMPTY_SUBJECT",
}

func TestRspamdAcceptsOurSignaturesAndHeaders(t *testing.T) {
	t.Parallel()
	all, records := signed(t)
	rspamd := testkit.StartRspamd(t, records)
	for name, mime := range all {
		v := rspamd.Judge(t, mime)
		if _, ok := v.Symbols["R_DKIM_ALLOW"]; !ok {
			t.Errorf("%s: no R_DKIM_ALLOW in %+v", name, v.Symbols)
		}
		for symbol, s := range v.Symbols {
			if s.Score > 0 {
				t.Logf("%s: %s %+v", name, symbol, s)
			}
			for _, f := range faulty {
				if strings.HasPrefix(symbol, f) && s.Score > 0 {
					t.Errorf("%s: %s %+v\n%s", name, symbol, s, mime)
				}
			}
		}
		t.Logf("%s: %.1f, %s", name, v.Score, v.Action)
	}
	changed := bytes.Replace(all["page"], []byte("looms"), []byte("looks"), 1)
	if v := rspamd.Judge(t, changed); v.Symbols["R_DKIM_REJECT"].Score == 0 {
		t.Errorf("a changed mail: %+v", v.Symbols)
	}
}
