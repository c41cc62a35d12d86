package broadcasts_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/broadcasts"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/templates"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// suppress suppresses an address for marketing.
func (h *house) suppress(email string) {
	h.Helper()
	h.must(func(tx *postgres.Tx) error {
		_, _, err := h.service.Emails.Suppressions.Add(h.Context(), tx, suppression.New{
			Email: email, Purpose: suppression.Marketing, Reason: suppression.Unsubscribe,
		})
		return err
	})
}

func TestABroadcastIsSentOnceToEveryContactThatMayGetIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(12)
	h.exec(`UPDATE contact SET country = 'US', country_folded = 'us' WHERE email = 'p1@example.com'`)
	h.exec(`UPDATE contact SET email = '', email_folded = '' WHERE email = 'p2@example.com'`)
	h.exec(`INSERT INTO consent_request (org_id, contact_id)
		SELECT org_id, id FROM contact WHERE email = 'p4@example.com'`)
	h.suppress("p3@example.com")
	h.settings(orgsending.Patch{BlockedCountries: wire.Some([]string{"US"})})
	b := h.draft(nil).Value
	var p *broadcasts.AudienceCount
	h.must(func(tx *postgres.Tx) (err error) {
		p, err = h.service.Preview(t.Context(), tx, b.ID)
		return err
	})
	want := &broadcasts.AudienceCount{Total: 12, Sendable: 8, LeftOut: map[string]int{
		"blocked_country": 1, "no_email": 1, "suppressed": 1, "no_consent": 1,
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	if row, err := h.schedule(b.ID, nil); err != nil || row.Value.Status != broadcasts.Preparing {
		t.Fatalf("%+v, %v", row.Value, err)
	}
	h.settle(b.ID)
	h.people2("late@example.com") // the audience is frozen
	got := h.get(b.ID)
	if got.Status != broadcasts.Sending || got.Total != 12 || got.Sendable != 8 ||
		!cmp.Equal(got.LeftOut, want.LeftOut) {
		t.Errorf("while it is sent: %+v", got)
	}
	if n := h.count(`email WHERE broadcast_id IS NOT NULL AND automated AND purpose = 'marketing'`); n != 8 ||
		len(h.sent) != 8 {
		t.Errorf("%d emails, %d jobs", n, len(h.sent))
	}
	if n := h.count(`email_content WHERE html LIKE '%1 High Street<br%Berlin%' AND text LIKE '%1 High Street%'
		AND array_length(list_unsubscribe, 1) = 2`); n != 8 {
		t.Errorf("%d mails have the postal address", n)
	}
	h.deliver()
	if next := h.settle(b.ID); next.More {
		t.Errorf("after the last email: %+v", next)
	}
	h.settle(b.ID)
	if got := h.get(b.ID); got.Status != broadcasts.Sent || got.CompletedAt == nil {
		t.Errorf("at the end: %+v", got)
	}
	if n := h.count(`event WHERE type = 'broadcast.completed'`); n != 1 {
		t.Errorf("%d events", n)
	}
}

// people2 inserts one contact.
func (h *house) people2(email string) {
	h.Helper()
	h.exec(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, gen_random_uuid(), $2, $2, 'Late', 'L', 'l', 'lead', now(), now())`, h.org,
		email)
}

// deliver sends every email that has a job, as the job would, and returns how many the mark allowed.
func (h *house) deliver() (n int) {
	h.Helper()
	for email := range h.sent {
		delete(h.sent, email)
		if h.one(email) {
			n++
		}
	}
	return n
}

// one sends an email and reports whether it was marked.
func (h *house) one(email id.ID) bool {
	h.Helper()
	out, err := h.service.Emails.Begin(h.Context(), h.App, h.org, email, id.New())
	if err != nil {
		h.Fatal(err)
	}
	if out == nil {
		return false
	}
	if err := h.service.Emails.Mark(h.Context(), h.App, out, []byte("mime"), "true"); err != nil {
		return false
	}
	h.must(func(tx *postgres.Tx) error {
		return out.Accept(h.Context(), tx, transport.Reply{Code: 250, Text: "ok"})
	})
	return true
}

func TestWhatIsMissingKeepsABroadcastFromBeingScheduled(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.settings(orgsending.Patch{PostalAddress: wire.Field[string]{Set: true, Null: true}})
	b := h.draft(func(p *broadcasts.Patch) {
		p.Filter, p.MailboxID = wire.Field[map[string]any]{}, wire.Field[string]{}
		p.Email = wire.Some(broadcasts.MailPatch{Text: wire.Some("Hi {{ contact.unknown }}")})
	}).Value
	_, err := h.schedule(b.ID, nil)
	got := codes(err)
	for _, want := range []string{
		"#/postal_address postal_address_required", "#/mailbox_id mailbox_not_active", "#/segment required",
		"#/email/subject required", "#/email/text unsubscribe_missing", "#/email/text merge_unknown",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	if h.get(b.ID).Status != broadcasts.Draft || len(h.prepared) != 0 {
		t.Error("the draft was scheduled")
	}
	h.exec(`UPDATE mailbox SET kind = 'smtp'`)
	h.settings(orgsending.Patch{PostalAddress: wire.Some("Street 1")})
	if _, err := h.schedule(h.draft(nil).Value.ID, nil); !slices.Equal(codes(err),
		[]string{"#/mailbox_id sender_unverified"}) {
		t.Errorf("without records of its domain: %v", codes(err))
	}
}

func TestABroadcastHasTheMailOfItsTemplate(t *testing.T) {
	t.Parallel()
	h := open(t)
	var template templates.Row
	h.must(func(tx *postgres.Tx) (err error) {
		template, err = templates.Create(tx, &templates.Patch{
			Name: wire.Some("News"), Subject: wire.Some("News"), Text: wire.Some("Hi\n{{ unsubscribe_url }}"),
		})
		return err
	})
	mail := func(in broadcasts.MailPatch) func(*broadcasts.Patch) {
		return func(p *broadcasts.Patch) { p.Email = wire.Some(in) }
	}
	b := h.draft(mail(broadcasts.MailPatch{TemplateID: wire.Some(template.Value.ID.String())})).Value
	if _, err := h.schedule(b.ID, nil); err != nil || h.get(b.ID).Status != broadcasts.Preparing {
		t.Errorf("with a template: %v, %s", codes(err), h.get(b.ID).Status)
	}
	if _, err := h.schedule(h.draft(mail(broadcasts.MailPatch{Subject: wire.Some("News")})).Value.ID, nil); err == nil {
		t.Error("a broadcast without a text was scheduled")
	}
}

func TestOnlyADraftOrAScheduledBroadcastIsChanged(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(1)
	b := h.draft(nil).Value
	later := wire.At(time.Now().Add(time.Hour))
	if row, err := h.schedule(b.ID, &later); err != nil || row.Value.Status != broadcasts.Scheduled ||
		!h.at[1].Equal(later.Time) {
		t.Fatalf("%+v, %v, %s", row.Value, err, h.at[1])
	}
	update := func(p broadcasts.Patch) error {
		return h.tx(func(tx *postgres.Tx) error {
			_, err := h.service.Update(t.Context(), tx, b.ID, nil, &p)
			return err
		})
	}
	sooner := wire.At(time.Now().Add(30 * time.Minute))
	if err := update(broadcasts.Patch{SendAt: wire.Some(sooner.String())}); err != nil || !h.at[2].Equal(sooner.Time) {
		t.Errorf("a scheduled one: %v, %s", err, h.at[2])
	}
	if err := update(broadcasts.Patch{Email: wire.Some(broadcasts.MailPatch{
		HTML: wire.Some("<p>Hi</p>"), Text: wire.Some(""),
	})}); !slices.Contains(codes(err), "#/email/html unsubscribe_missing") {
		t.Errorf("a scheduled one without a link to unsubscribe: %v", codes(err))
	}
	var stale broadcasts.Next
	h.must(func(tx *postgres.Tx) (err error) {
		stale, err = h.service.Step(t.Context(), tx, b.ID, 1, 0)
		return err
	})
	if stale.More || h.get(b.ID).Status != broadcasts.Scheduled {
		t.Error("the job of an earlier schedule began to send")
	}
	h.settle(b.ID)
	late := []string{"already_started"}
	if got := codes(update(broadcasts.Patch{Name: wire.Some("Other")})); !slices.Equal(got, late) {
		t.Errorf("one that is sent: %v", got)
	}
	if err := h.tx(func(tx *postgres.Tx) error {
		_, err := broadcasts.Archive(t.Context(), tx, b.ID, nil)
		return err
	}); !slices.Equal(codes(err), late) {
		t.Errorf("archived while it is sent: %v", codes(err))
	}
	if _, err := h.schedule(b.ID, nil); !slices.Equal(codes(err), late) {
		t.Errorf("scheduled while it is sent: %v", codes(err))
	}
}

func TestAPauseHoldsWhatIsNotMarkedAndResumeSendsItOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(30)
	b := h.draft(nil).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.settle(b.ID)
	if got := h.change(b.ID, (*broadcasts.Service).Pause).Value; got.Status != broadcasts.Paused {
		t.Errorf("paused: %+v", got)
	}
	if n := h.deliver(); n != 0 {
		t.Errorf("%d emails of a paused broadcast were marked", n)
	}
	if next := h.step(b.ID); next.More {
		t.Error("a paused broadcast goes on")
	}
	if got := h.change(b.ID, (*broadcasts.Service).Resume).Value; got.Status != broadcasts.Sending ||
		len(h.sent) != 30 {
		t.Errorf("resumed: %+v with %d jobs", got, len(h.sent))
	}
	if n := h.deliver(); n != 30 {
		t.Errorf("%d emails were marked after the pause", n)
	}
	h.settle(b.ID)
	if got := h.get(b.ID); got.Status != broadcasts.Sent {
		t.Errorf("at the end: %+v", got)
	}
}

func TestAnAddressThatMovesToAnotherContactGetsABroadcastOnce(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(2)
	b := h.draft(nil).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.step(b.ID)
	h.exec(`UPDATE broadcast_recipient SET due_at = now() + interval '1 hour'
		WHERE contact_id = (SELECT id FROM contact WHERE email = 'p2@example.com')`)
	h.settle(b.ID)
	h.exec(`UPDATE contact SET archived_at = now() WHERE email = 'p1@example.com'`)
	h.exec(`UPDATE contact SET email = 'p1@example.com', email_folded = 'p1@example.com'
		WHERE email = 'p2@example.com'`)
	h.exec(`UPDATE broadcast_recipient SET due_at = now()`)
	h.settle(b.ID)
	if n := h.count(`email WHERE to_email = 'p1@example.com'`); n != 1 || len(h.sent) != 1 {
		t.Errorf("%d emails to one address, %d jobs", n, len(h.sent))
	}
	if got := h.get(b.ID); got.Sendable != 1 || got.LeftOut["already_sent"] != 1 {
		t.Errorf("counted: %+v", got)
	}
}

func TestABroadcastEndsAlthoughItsMailboxSendsNoMore(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(3)
	b := h.draft(nil).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.step(b.ID)
	h.exec(`UPDATE mailbox SET status = 'disabled'`)
	if next := h.settle(b.ID); !next.More || len(h.sent) != 0 {
		t.Errorf("%d emails of a mailbox that does not send were written; %+v", len(h.sent), next)
	}
	h.exec(`UPDATE mailbox SET status = 'active'`)
	h.settle(b.ID)
	h.exec(`UPDATE mailbox SET status = 'disabled'`)
	if h.settle(b.ID); h.get(b.ID).Status != broadcasts.Sending || len(h.sent) != 3 {
		t.Errorf("with %d open emails: %+v", len(h.sent), h.get(b.ID))
	}
	h.exec(`UPDATE email SET status = 'sent'`)
	if h.settle(b.ID); h.get(b.ID).Status != broadcasts.Sent {
		t.Errorf("with every email settled: %+v", h.get(b.ID))
	}
}

// TestAPauseThatIsCommittedBeforeTheMarkStopsTheEmail races marks against a pause.
func TestAPauseThatIsCommittedBeforeTheMarkStopsTheEmail(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(60)
	b := h.draft(nil).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.settle(b.ID)
	var all []*emails.Outgoing
	for email := range h.sent {
		out, err := h.service.Emails.Begin(t.Context(), h.App, h.org, email, id.New())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, out)
	}
	var (
		both   sync.WaitGroup
		mu     sync.Mutex
		late   int
		marked int
		paused bool // the pause is committed
	)
	for w := range 4 {
		both.Go(func() {
			for _, out := range all[w*15 : w*15+15] {
				mu.Lock()
				after := paused
				mu.Unlock()
				err := h.service.Emails.Mark(t.Context(), h.App, out, []byte("mime"), "true")
				mu.Lock()
				if err == nil {
					if marked++; after {
						late++
					}
				}
				mu.Unlock()
			}
		})
	}
	both.Go(func() {
		if err := h.tx(func(tx *postgres.Tx) error {
			_, err := h.service.Pause(t.Context(), tx, b.ID)
			return err
		}); err != nil {
			t.Error(err)
		}
		mu.Lock()
		paused = true
		mu.Unlock()
	})
	both.Wait()
	if n := h.count(`email WHERE status = 'transmitting'`); late > 0 || n != marked {
		t.Errorf("%d of %d marks began after the pause was committed; %d emails are marked", late, marked, n)
	}
	t.Logf("%d of 60 were marked before the pause", marked)
}

func TestACancelledBroadcastSendsNothingMore(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(10)
	b := h.draft(nil).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.settle(b.ID)
	for email := range h.sent {
		h.one(email)
		break
	}
	if got := h.change(b.ID, (*broadcasts.Service).Cancel).Value; got.Status != broadcasts.Cancelled {
		t.Errorf("cancelled: %+v", got)
	}
	h.deliver()
	if n := h.count(`email WHERE status = 'sent'`); n != 1 {
		t.Errorf("%d emails were sent", n)
	}
	if n := h.count(`email WHERE status = 'cancelled' AND status_reason = 'broadcast_cancelled'`); n != 9 {
		t.Errorf("%d emails are cancelled", n)
	}
	var stats []broadcasts.BroadcastStats
	h.must(func(tx *postgres.Tx) (err error) {
		stats, err = broadcasts.Stats(t.Context(), tx, b.ID)
		return err
	})
	if len(stats) != 1 || stats[0].Sent != 1 || stats[0].Failed != 9 {
		t.Errorf("stats %+v", stats)
	}
}

func TestEachContactGetsItWhenItsClockShowsTheTime(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(4)
	h.exec(`UPDATE org SET settings = '{"time_zone":"Europe/Berlin"}'`)
	zones := map[string]string{"p1": "Asia/Tokyo", "p2": "America/New_York", "p3": "Europe/Berlin"}
	for name, zone := range zones {
		h.exec(`UPDATE contact SET time_zone = $2 WHERE email = $1`, name+"@example.com", zone)
	}
	at := wire.At(time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)) // 09:00 in Berlin
	b := h.draft(func(p *broadcasts.Patch) { p.LocalTime = wire.Some(true) }).Value
	if _, err := h.schedule(b.ID, &at); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2027, 2, 28, 19, 0, 0, 0, time.UTC); !h.at[1].Equal(want) { // 09:00 in Kiritimati
		t.Errorf("prepared at %s, want %s", h.at[1], want)
	}
	h.settle(b.ID)
	for name, want := range map[string]string{
		"p1": "2027-03-01T00:00:00Z", "p2": "2027-03-01T14:00:00Z", "p3": "2027-03-01T08:00:00Z",
		"p4": "2027-03-01T08:00:00Z",
	} {
		var due time.Time
		if err := h.sql.QueryRow(t.Context(), `SELECT due_at FROM broadcast_recipient r
			JOIN contact c ON c.id = r.contact_id WHERE c.email = $1`, name+"@example.com").Scan(&due); err != nil {
			t.Fatal(err)
		}
		if got := due.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if next := h.step(b.ID); !next.More || !next.At.Equal(time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the next step: %+v", next)
	}
	if n := h.count("email"); n != 0 {
		t.Errorf("%d emails were written before their time", n)
	}
}

func TestVariantsShareTheAudienceAndAMissingValueLeavesAContactOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(200)
	h.exec(`UPDATE contact SET phone = '1' WHERE email <> 'p7@example.com'`)
	b := h.draft(func(p *broadcasts.Patch) {
		p.Email.Value.Variants = wire.Some([]steps.Variant{
			{Key: "a", Weight: 1}, {Key: "b", Weight: 1, Subject: "Other news {{ contact.phone }}"},
		})
		p.Email.Value.Subject = wire.Some("News {{ contact.phone }}")
	}).Value
	if _, err := h.schedule(b.ID, nil); err != nil {
		t.Fatal(err)
	}
	h.settle(b.ID)
	if got := h.get(b.ID); got.Sendable != 199 || got.LeftOut["merge_missing"] != 1 {
		t.Errorf("%+v", got)
	}
	a, other := h.count(`email WHERE variant = 'a' AND subject = 'News 1'`),
		h.count(`email WHERE variant = 'b' AND subject = 'Other news 1'`)
	if a+other != 199 || a < 60 || other < 60 {
		t.Errorf("%d and %d emails", a, other)
	}
}

func TestATestGoesToItsAuthorsWithTheValuesOfAContact(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.people(2)
	b := h.draft(nil).Value
	var all []*emails.Full
	h.must(func(tx *postgres.Tx) (err error) {
		all, err = h.service.Test(t.Context(), tx, b.ID, []string{"me@shop.example"}, nil, "user/1")
		return err
	})
	if len(all) != 1 || all[0].Subject != "[Test] News for Ada2" || all[0].ContactID != nil ||
		!strings.Contains(*all[0].Content.HTML, "https://api.example/t/u/preview") {
		t.Fatalf("%+v", all)
	}
	if !h.one(all[0].ID) {
		t.Error("the test was not sent")
	}
	if n := h.count("broadcast_recipient"); n != 0 {
		t.Errorf("%d recipients", n)
	}
}
