package orgsending_test

import (
	"bytes"
	"context"
	"errors"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

var errAway = errors.New("the name server is away")

// dns is a set of TXT records by name.
type dns struct {
	mu    sync.Mutex
	texts map[string][]string
	away  bool
}

func (d *dns) Texts(_ context.Context, name string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return nil, errAway
	}
	return d.texts[name], nil
}

// senders is an org with its sending domains.
type senders struct {
	*office
	box     *secret.Sealer
	dns     *dns
	domains *orgsending.Domains
}

func newSenders(t *testing.T) *senders {
	t.Helper()
	s := &senders{office: open(t), box: testkit.Box(t), dns: &dns{texts: map[string][]string{}}}
	s.domains = &orgsending.Domains{Box: s.box, Texts: s.dns.Texts}
	return s
}

func (s *senders) change(fn func(tx *postgres.Tx) (*orgsending.Domain, error)) (d *orgsending.Domain, err error) {
	s.Helper()
	err = s.App.Tx(s.Context(), s.org, func(tx *postgres.Tx) (err error) {
		d, err = fn(tx)
		return err
	})
	return d, err
}

func (s *senders) add(name string) *orgsending.Domain {
	s.Helper()
	d, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
		d, _, err := s.domains.Add(s.Context(), tx, name, s.key())
		return d, err
	})
	if err != nil {
		s.Fatal(err)
	}
	return d
}

func (s *senders) key() *orgsending.NewKey {
	s.Helper()
	key, err := orgsending.MakeKey()
	if err != nil {
		s.Fatal(err)
	}
	return key
}

// publish sets the first n records of a domain, and no others.
func (s *senders) publish(d *orgsending.Domain, n int) {
	s.dns.texts = map[string][]string{}
	for _, r := range d.Shown().Records[:n] {
		s.dns.texts[r.Name] = append(s.dns.texts[r.Name], r.Value)
	}
}

// check looks up the records of a domain and returns what became of it, such as "verified 1 of 3".
func (s *senders) check(d *orgsending.Domain) *orgsending.Domain {
	s.Helper()
	c := s.domains.Check(s.Context(), d)
	now, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
		change, err := s.domains.Apply(s.Context(), tx, d.ID, c)
		if err != nil {
			return nil, err
		}
		return change.Domain, nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return now
}

// shown returns the status of a domain and which of its records were found, such as "verified 100".
func shown(d *orgsending.Domain) string {
	s := d.Shown()
	text := s.Status + " "
	for _, r := range s.Records {
		if r.Found {
			text += "1"
		} else {
			text += "0"
		}
	}
	return text
}

func (s *senders) exec(sql string, args ...any) {
	s.Helper()
	if _, err := testkit.Pgx(s, s.URL).Exec(s.Context(), sql, args...); err != nil {
		s.Fatal(err)
	}
}

func TestADomainIsVerifiedByItsKeyAndFailsWhenThatIsGone(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	want := func(name string, d *orgsending.Domain, want string) {
		t.Helper()
		if got := shown(d); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	want("new", d, "pending 000")
	want("without records", s.check(d), "pending 000")
	s.publish(d, 3)
	d = s.check(d)
	if want("with its records", d, "verified 111"); d.VerifiedAt == nil {
		t.Error("no verified_at")
	}
	s.dns.away = true
	want("without an answer", s.check(d), "verified 111")
	s.dns.away = false
	s.publish(d, 0)
	for _, after := range []string{"verified 000", "verified 000", "failed 000", "failed 000"} {
		s.exec(`UPDATE sending_domain SET checked_at = checked_at - interval '10 minutes'`)
		want("without its key", s.check(d), after)
	}
	s.publish(d, 1)
	want("with its key again", s.check(d), "verified 100")
	s.dns.texts["shop.example"] = []string{"v=spf1 -all", "v=spf1 mx -all", "unrelated"}
	want("with two records of SPF", s.check(d), "verified 100")
	s.dns.texts["shop.example"] = []string{`v=spf1 mx -all`}
	s.dns.texts["_dmarc.shop.example"] = []string{"v=DMARC1; p=reject"}
	want("with other rules", s.check(d), "verified 111")
}

func TestChecksInShortOrderCountAsOneFailure(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	s.publish(d, 1)
	s.check(d)
	s.publish(d, 0)
	for range 5 {
		if got := shown(s.check(d)); got != "verified 000" {
			t.Errorf("a short absence: %s", got)
		}
	}
}

func TestThePolicyOfTheDomainAboveCounts(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("mail.shop.example")
	s.dns.texts["_dmarc.shop.example"] = []string{"v=DMARC1; p=none"}
	if got := shown(s.check(d)); got != "pending 001" {
		t.Error(got)
	}
}

func TestAnOldKeySignsUntilTheNewOneIsFound(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	old := d.Keys[0].ID
	rotate := func() *orgsending.Domain {
		t.Helper()
		d, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
			d, _, err := s.domains.Rotate(t.Context(), tx, "shop.example", s.key())
			return d, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d = rotate(); len(d.Keys) != 1 {
		t.Errorf("a key that waits got company: %s", shown(d))
	}
	s.publish(d, 1)
	s.check(d)
	d = rotate()
	if got := shown(d); got != "verified 0100" || d.Keys[1].ID != old {
		t.Errorf("after the rotation: %s", got)
	}
	if d = rotate(); len(d.Keys) != 2 {
		t.Errorf("a rotation under way was repeated: %s", shown(d))
	}
	if got := s.signer(); got != old {
		t.Error("the new key signs before its record is found")
	}
	s.publish(d, 2)
	d = s.check(d)
	if got := shown(d); got != "verified 100" || d.Keys[0].ID == old || s.signer() == old {
		t.Errorf("after its record was found: %s", got)
	}
}

// signer returns the id of the key whose selector a mail of the org is signed with.
func (s *senders) signer() (key id.ID) {
	s.Helper()
	mime := s.sign("shop.example")
	m, err := mail.ReadMessage(bytes.NewReader(mime))
	if err != nil {
		s.Fatal(err)
	}
	_, selector, _ := strings.Cut(m.Header.Get("DKIM-Signature"), " s=")
	selector, _, _ = strings.Cut(selector, ";")
	if err := testkit.Pgx(s, s.URL).QueryRow(s.Context(), `SELECT id FROM sending_key WHERE selector = $1`,
		selector).Scan(&key); err != nil {
		s.Fatal(err)
	}
	return key
}

// page is a mail with the headers of an unsubscription by one click.
func page() *compose.Mail {
	return &compose.Mail{
		MessageID: "c2f4qk7@shop.example", Date: time.Now(), Subject: "Größe der Webstühle",
		From: mail.Address{Name: "Ana Ruiz", Address: "ana@shop.example"},
		To:   mail.Address{Name: "Bo", Address: "bo@example.org"},
		Text: "Hi Bo,\n\nwe talked about looms.\n", HTML: "<p>Hi Bo,</p><p>we talked about <b>looms</b>.</p>",
		ListUnsubscribe: []string{"https://shop.example/t/u/abc"},
	}
}

func (s *senders) sign(domain string) []byte {
	s.Helper()
	mime, err := page().MIME()
	if err != nil {
		s.Fatal(err)
	}
	signer := &orgsending.Signer{App: s.App, Box: s.box}
	signed, err := signer.Sign(s.Context(), s.org, &mailboxes.Sending{Kind: mailboxes.SMTP, FromDomain: domain}, mime)
	if err != nil {
		s.Fatal(err)
	}
	return signed
}

func TestOnlyRelaysWithAVerifiedDomainAreSigned(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	isSigned := func(domain string) bool {
		t.Helper()
		return bytes.Contains(s.sign(domain), []byte("DKIM-Signature:"))
	}
	if isSigned("shop.example") {
		t.Error("a pending domain is signed")
	}
	s.publish(d, 1)
	s.check(d)
	if !isSigned("shop.example") || isSigned("other.example") {
		t.Error("not just the verified domain is signed")
	}
	signer := &orgsending.Signer{App: s.App, Box: s.box}
	for _, kind := range []string{mailboxes.Google, mailboxes.Microsoft, mailboxes.Sandbox} {
		mime, err := signer.Sign(t.Context(), s.org, &mailboxes.Sending{Kind: kind, FromDomain: "shop.example"},
			[]byte("From: a\r\n\r\n"))
		if err != nil || string(mime) != "From: a\r\n\r\n" {
			t.Errorf("%s: %q, %v", kind, mime, err)
		}
	}
	other := id.New()
	relay := &mailboxes.Sending{Kind: mailboxes.SMTP, FromDomain: "shop.example"}
	if mime, err := signer.Sign(t.Context(), other, relay, []byte("From: a\r\n\r\n")); err != nil ||
		bytes.Contains(mime, []byte("DKIM")) {
		t.Errorf("another org: %q, %v", mime, err)
	}
	if _, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
		return orgsending.Remove(t.Context(), tx, "shop.example")
	}); err != nil {
		t.Fatal(err)
	}
	if isSigned("shop.example") {
		t.Error("a removed domain is signed")
	}
	if _, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
		return orgsending.Remove(t.Context(), tx, "shop.example")
	}); fault.Of(err) == nil {
		t.Errorf("removed twice: %v", err)
	}
}

func TestOpenDKIMAndRspamdAcceptTheSignatureOfASendingDomain(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	s.publish(d, 1)
	s.check(d)
	record := d.Shown().Records[0]
	records, mime := map[string]string{record.Name: record.Value}, s.sign("shop.example")
	changed := bytes.Replace(mime, []byte("looms"), []byte("looks"), 1)
	headers := bytes.Replace(mime, []byte("/t/u/abc"), []byte("/t/u/abd"), 1)
	if got := testkit.OpenDKIM(t, records, mime); !strings.Contains(got, "succeeded") {
		t.Errorf("opendkim: %s\n%s", got, mime)
	}
	for _, bad := range [][]byte{changed, headers} {
		if got := testkit.OpenDKIM(t, records, bad); strings.Contains(got, "succeeded") {
			t.Errorf("opendkim, changed: %s", got)
		}
	}
	rspamd := testkit.StartRspamd(t, records)
	if v := rspamd.Judge(t, mime); v.Symbols["R_DKIM_ALLOW"].Options == nil {
		t.Errorf("rspamd: %+v\n%s", v.Symbols, mime)
	}
	if v := rspamd.Judge(t, headers); v.Symbols["R_DKIM_REJECT"].Score == 0 {
		t.Errorf("rspamd, changed: %+v", v.Symbols)
	}
}

func TestARotationOfTheKeysetResealsPrivateKeys(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	d := s.add("shop.example")
	s.publish(d, 1)
	s.check(d)
	r := keyring.Resealer{System: s.System, Box: s.box, Columns: orgsending.Sealed()}
	if uses, err := r.Uses(t.Context()); err != nil || len(uses) != 1 {
		t.Errorf("uses %v, %v", uses, err)
	}
	if _, shut, err := r.Pass(t.Context()); err != nil || shut != 0 {
		t.Errorf("%d keys cannot be opened, %v", shut, err)
	}
}

func TestARecordOfSPFAllowsTheServersOfTheMailboxes(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	for n, host := range []string{"smtp.sendgrid.net", "mail.shop.example"} {
		s.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, status,
			created_at, updated_at)
			VALUES ($1, gen_random_uuid(), 'Box', 'smtp', $2, $2, 'shop.example', $3, 'active', now(), now())`, s.org,
			strings.Repeat("a", n+1)+"@shop.example", host)
	}
	const want = "v=spf1 a:mail.shop.example include:sendgrid.net ~all"
	if got := s.add("shop.example").Shown().Records[1].Value; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.add("other.example").Shown().Records[1].Value; got != "v=spf1 mx ~all" {
		t.Error(got)
	}
}

func TestAnOrgHasAtMost20SendingDomains(t *testing.T) {
	t.Parallel()
	s := newSenders(t)
	s.exec(`INSERT INTO sending_domain (org_id, id, domain, status, created_at, next_check_at)
		SELECT $1, gen_random_uuid(), n || '.example', 'pending', now(), now() FROM generate_series(1, 20) n`, s.org)
	_, err := s.change(func(tx *postgres.Tx) (*orgsending.Domain, error) {
		d, _, err := s.domains.Add(t.Context(), tx, "shop.example", s.key())
		return d, err
	})
	if f := fault.Of(err); f == nil || f.Fields[0].Code != "too_many" {
		t.Error(err)
	}
}
