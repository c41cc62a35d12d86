package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func service(t *testing.T) *webhooks.Service {
	t.Helper()
	box := testkit.Box(t)
	return &webhooks.Service{Box: box, Policy: outbound.Policy{Inbox: "http://127.0.0.1:9090/sandbox/inbox/"}}
}

func contact() events.Contact {
	now := wire.Now()
	return events.Contact{
		ID: id.New(), Email: "ada@example.com", FirstName: "Ada", LastName: "<Love & lace>", Stage: "lead",
		Tag: []string{}, Segment: []string{},
		Attributes: map[string]any{"seats": 3}, LeadScore: 12.5,
		Score: events.ContactScore{Probability: 0.125, Confidence: "prior", ModelVersion: "1"}, CreatedAt: now,
		UpdatedAt: now,
	}
}

func change(t *testing.T, db *postgres.DB, org id.ID, fn func(tx *postgres.Tx) error) {
	t.Helper()
	if err := db.Tx(t.Context(), org, fn); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, s *webhooks.Service, db *postgres.DB, org id.ID, n webhooks.New) (v webhooks.Versioned,
	shown string,
) {
	t.Helper()
	if n.URL == "" {
		n.URL = "https://example.com/hook"
	}
	change(t, db, org, func(tx *postgres.Tx) (err error) {
		v, shown, err = s.Create(t.Context(), tx, n)
		return err
	})
	return v, shown
}

func TestAnEventReachesExactlyTheEndpointsOfItsOrgThatWantIt(t *testing.T) {
	t.Parallel()
	db, s, org, other := testkit.DB(t), service(t), id.New(), id.New()
	named, _ := create(t, s, db.App, org,
		webhooks.New{Events: []string{"contact.updated", "contact.created"}, Enabled: true})
	all, _ := create(t, s, db.App, org, webhooks.New{Events: []string{"*"}, Enabled: true})
	create(t, s, db.App, org, webhooks.New{Events: []string{"contact.archived"}, Enabled: true})
	create(t, s, db.App, org, webhooks.New{Events: []string{"*"}, Enabled: false})
	create(t, s, db.App, other, webhooks.New{Events: []string{"*"}, Enabled: true})
	gone, _ := create(t, s, db.App, org, webhooks.New{Events: []string{"*"}, Enabled: true})
	change(t, db.App, org, func(tx *postgres.Tx) error {
		return s.Archive(t.Context(), tx, gone.ID, func(webhooks.Versioned) error { return nil })
	})

	ctx := events.WithOrigin(t.Context(), events.Origin{ActorType: "user", ActorID: "u1", RequestID: "r1"})
	var noted atomic.Int32
	pushing, err := postgres.Open(t.Context(),
		postgres.Options{URL: db.URL, Role: postgres.App, AfterCommit: func(_ context.Context, notes []any) {
			noted.Add(int32(len(notes)))
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pushing.Close)
	if err := pushing.Tx(ctx, org, func(tx *postgres.Tx) error {
		return events.Announce(ctx, tx, events.ContactCreated{Contact: contact()})
	}); err != nil {
		t.Fatal(err)
	}
	if noted.Load() != 2 {
		t.Errorf("%d jobs handed to the pusher, want 2", noted.Load())
	}

	var got, want []string
	want = []string{
		named.ID.String() + " contact.created pending webhook.deliver",
		all.ID.String() + " contact.created pending webhook.deliver",
	}
	conn := testkit.Pgx(t, db.URL)
	rows, _ := conn.Query(t.Context(), `
		SELECT d.endpoint_id::text || ' ' || d.event_type || ' ' || d.status || ' ' || j.kind
		FROM webhook_delivery d JOIN job j ON j.org_id = d.org_id AND j.id = d.id
		AND j.args->>'delivery' = d.id::text AND j.lane = 'webhooks' AND j.max_attempts = 10 AND j.wake_at IS NOT NULL
		JOIN event e ON e.org_id = d.org_id AND e.id = d.event_id`)
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	settle(t, db)
	feed := feed(t, db.App, org, 0, nil)
	if len(feed) != 1 {
		t.Fatalf("%d events, want 1", len(feed))
	}
	eventstest.Check(t, feed[0].Bytes())
	if !strings.Contains(string(feed[0].Bytes()), `"actor":{"type":"user","id":"u1"},"request_id":"r1"`) {
		t.Errorf("origin: %s", feed[0].Bytes())
	}
}

func TestARolledBackChangeLeavesNoEventDeliveryOrJob(t *testing.T) {
	t.Parallel()
	db, s, org := testkit.DB(t), service(t), id.New()
	create(t, s, db.App, org, webhooks.New{Events: []string{"*"}, Enabled: true})
	changed := errors.New("changed my mind")
	err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
		if err := events.Announce(t.Context(), tx, events.ContactCreated{Contact: contact()}); err != nil {
			return err
		}
		if err := tx.Flush(t.Context()); err != nil { // checks that the rows existed
			return err
		}
		return changed
	})
	if !errors.Is(err, changed) {
		t.Fatal(err)
	}
	for _, table := range []string{"event", "webhook_delivery", "job"} {
		if n := count(t, db, table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

func TestATypeThatIsReservedOrUnknownCannotBeAnnounced(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	for _, name := range []string{"company.merged", "contact.exploded"} {
		if err := db.App.Tx(t.Context(), id.New(), func(tx *postgres.Tx) error {
			return events.Announce(t.Context(), tx, named(name))
		}); err == nil {
			t.Errorf("%s was announced", name)
		}
	}
}

type named string

func (n named) Type() string           { return string(n) }
func (named) Data() (object, prev any) { return struct{}{}, nil }

func TestATailingReaderOfTheFeedMissesNothingAndSeesNothingTwice(t *testing.T) {
	t.Parallel()
	db, org := testkit.DB(t), id.New()
	const writers, each = 6, 40
	var (
		wg      sync.WaitGroup
		written sync.Map
		done    = make(chan struct{})
	)
	for range writers {
		wg.Go(func() {
			for n := range each {
				err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
					for range 1 + n%3 {
						c := contact()
						if err := events.Announce(t.Context(), tx, events.ContactCreated{Contact: c}); err != nil {
							return err
						}
						written.Store(c.ID.String(), true)
					}
					// Some transactions stay open, so that later ones commit first.
					if n%4 == 0 {
						_, err := tx.Exec(t.Context(), "SELECT pg_sleep(0.01)")
						return err
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	go func() {
		wg.Wait()
		settle(t, db)
		close(done)
	}()

	var after int64
	seen, total := map[string]bool{}, 0
	for ended := false; ; {
		page := feed(t, db.App, org, after, nil)
		for _, e := range page {
			if e.Seq <= after {
				t.Fatalf("seq %d after %d", e.Seq, after)
			}
			after = e.Seq
			var who string
			if _, rest, ok := strings.Cut(string(e.Data), `"object":{"id":"`); ok {
				who = rest[:36]
			}
			if seen[who] {
				t.Fatalf("%s twice", who)
			}
			seen[who] = true
		}
		if total = len(seen); ended && len(page) == 0 {
			break
		}
		select {
		case <-done:
			ended = true
		default:
		}
	}
	want := 0
	written.Range(func(k, _ any) bool {
		want++
		if !seen[k.(string)] { //nolint:forcetypeassert // stored above
			t.Errorf("missed %v", k)
		}
		return true
	})
	if total != want || want < writers*each {
		t.Errorf("%d seen of %d", total, want)
	}
}

func TestTheFeedKeepsToItsOrgAndToTheTypesAskedFor(t *testing.T) {
	t.Parallel()
	db, a, b := testkit.DB(t), id.New(), id.New()
	for _, org := range []id.ID{a, b} {
		change(t, db.App, org, func(tx *postgres.Tx) error {
			return errors.Join(events.Announce(t.Context(), tx, events.ContactCreated{Contact: contact()}),
				events.Announce(t.Context(), tx, events.ContactArchived{Contact: contact()}))
		})
	}
	settle(t, db)
	types := func(org id.ID, only []string) (out []string) {
		for _, e := range feed(t, db.App, org, 0, only) {
			if e.OrgID != org {
				t.Errorf("an event of org %s in the feed of %s", e.OrgID, org)
			}
			out = append(out, e.Type)
		}
		return out
	}
	if diff := cmp.Diff([]string{"contact.created", "contact.archived"}, types(a, nil)); diff != "" {
		t.Errorf("events of org a (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"contact.archived"}, types(b, []string{"contact.archived", "deal.won"})); diff != "" {
		t.Errorf("archived events of org b (-want +got):\n%s", diff)
	}
}

// settle waits until everything committed is below the horizon: a transaction open anywhere in the server, such as
// another test's CREATE DATABASE, holds it back.
func settle(t *testing.T, db *testkit.Database) {
	t.Helper()
	conn := testkit.Pgx(t, db.URL)
	var now, horizon int64
	if err := conn.QueryRow(t.Context(), "SELECT event_seq(0)").Scan(&now); err != nil {
		t.Error(err)
		return
	}
	for horizon <= now {
		if err := conn.QueryRow(t.Context(), "SELECT event_horizon() FROM pg_sleep(0.005)").Scan(&horizon); err != nil {
			t.Error(err)
			return
		}
	}
}

func feed(t *testing.T, db *postgres.DB, org id.ID, after int64, types []string) (page []*events.Stored) {
	t.Helper()
	if err := db.ReadTx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		page, err = events.Feed(t.Context(), tx, after, types, 50)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return page
}

func count(t *testing.T, db *testkit.Database, table string) (n int) {
	t.Helper()
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheFieldsOfAnEndpointAreHeldToTheRules(t *testing.T) {
	t.Parallel()
	db, s, org := testkit.DB(t), service(t), id.New()
	good := webhooks.New{URL: "https://example.com/hook", Events: []string{"*"}}
	for name, c := range map[string]struct {
		spoil   func(*webhooks.New)
		code    fault.Code
		pointer string
	}{
		"no events": {func(n *webhooks.New) { n.Events = nil }, fault.ValidationFailed, "#/events"},
		"an unknown event": {func(n *webhooks.New) {
			n.Events = []string{"contact.created", "contact.deleted"}
		}, fault.ValidationFailed, "#/events/1"},
		"a short secret": {func(n *webhooks.New) {
			n.Secret = strings.Repeat("x", 15)
		}, fault.ValidationFailed, "#/secret"},
		"a long secret": {func(n *webhooks.New) {
			n.Secret = strings.Repeat("x", 129)
		}, fault.ValidationFailed, "#/secret"},
		"whsec_ not base64": {func(n *webhooks.New) {
			n.Secret = "whsec_this is no base64 text"
		}, fault.ValidationFailed, "#/secret"},
		"whsec_ of 23 bytes": {func(n *webhooks.New) {
			n.Secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
		}, fault.ValidationFailed, "#/secret"},
		"whsec_ in two lines": {func(n *webhooks.New) {
			n.Secret = "whsec_MDEyMzQ1Njc4OTAx\nMjM0NTY3ODkwMTIz"
		}, fault.ValidationFailed, "#/secret"},
		"plain http":        {func(n *webhooks.New) { n.URL = "http://example.com/" }, fault.URLNotAllowed, "#/url"},
		"a private address": {func(n *webhooks.New) { n.URL = "https://10.1.2.3/" }, fault.URLNotAllowed, "#/url"},
		"no URL":            {func(n *webhooks.New) { n.URL = "hello" }, fault.URLNotAllowed, "#/url"},
		"a port out of range": {func(n *webhooks.New) {
			n.URL = "https://example.com:123456/"
		}, fault.ValidationFailed, "#/url"},
		"a long description": {func(n *webhooks.New) {
			n.Description = strings.Repeat("é", 501)
		}, fault.ValidationFailed, "#/description"},
		"a rate limit of 0": {func(n *webhooks.New) { n.RateLimit = new(int) }, fault.ValidationFailed, "#/rate_limit"},
	} {
		n := good
		c.spoil(&n)
		err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			_, _, err := s.Create(t.Context(), tx, n)
			return err
		})
		f := fault.Of(err)
		if f == nil || f.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
			continue
		}
		want := []fault.FieldError{{Pointer: c.pointer}}
		if diff := cmp.Diff(want, f.Fields, cmpopts.IgnoreFields(fault.FieldError{}, "Code", "Detail")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, chosen := range []string{
		strings.Repeat("é", 16), strings.Repeat("x", 128),
		"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
	} {
		n := good
		n.Secret = chosen
		if _, shown := create(t, s, db.App, org, n); shown != chosen {
			t.Errorf("chose %q, shown %q", chosen, shown)
		}
	}
	if _, shown := create(t, s, db.App, org,
		webhooks.New{
			URL:    "http://127.0.0.1:9090/sandbox/inbox/demo",
			Events: []string{"*"},
		}); len(shown) != len("whsec_")+44 {
		t.Errorf("made %q", shown)
	}
	if n := count(t, db, "webhook_endpoint"); n != 4 {
		t.Errorf("%d endpoints, want 4", n)
	}
}

func TestAStoredSecretIsSealed(t *testing.T) {
	t.Parallel()
	db, s := testkit.DB(t), service(t)
	chosen := "correct horse battery staple"
	create(t, s, db.App, id.New(), webhooks.New{Events: []string{"*"}, Secret: chosen})
	var row string
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		"SELECT encode(secret, 'escape') || w::text FROM webhook_endpoint w").Scan(&row); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(row, chosen) || strings.Contains(row, fmt.Sprintf("%x", chosen)) {
		t.Error("the row shows the secret")
	}
}

func TestAPatchChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	db, s, org := testkit.DB(t), service(t), id.New()
	limit := 5
	v, _ := create(t, s, db.App, org,
		webhooks.New{Events: []string{"*"}, Description: "mine", RateLimit: &limit, Enabled: true})
	patch := func(p webhooks.Patch) (got webhooks.Versioned, err error) {
		err = db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
			got, err = s.Update(t.Context(), tx, v.ID, p, func(webhooks.Versioned) error { return nil })
			return err
		})
		return got, err
	}
	if got, err := patch(webhooks.Patch{}); err != nil {
		t.Errorf("an empty patch: %v", err)
	} else if got.Edit != 1 || got.UpdatedAt != v.UpdatedAt {
		t.Errorf("an empty patch: edit %d at %v, want 1 at %v", got.Edit, got.UpdatedAt, v.UpdatedAt)
	}
	if got, err := patch(webhooks.Patch{
		Description: wire.Some("mine"),
		Events:      wire.Some([]string{"*", "*"}),
	}); err != nil || got.Edit != 1 {
		t.Errorf("a patch to the same: %+v, %v", got, err)
	}
	got, err := patch(webhooks.Patch{
		RateLimit:   wire.Field[int]{Set: true, Null: true},
		Description: wire.Field[string]{Set: true, Null: true}, Enabled: wire.Some(false),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := v
	want.RateLimit, want.Description, want.Enabled, want.Edit = nil, "", false, 2
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(webhooks.Endpoint{}, "UpdatedAt")); diff != "" {
		t.Errorf("the patched endpoint (-want +got):\n%s", diff)
	}
	if !got.UpdatedAt.After(v.UpdatedAt.Time) {
		t.Errorf("updated at %v, want later than %v", got.UpdatedAt, v.UpdatedAt)
	}
	if _, err := patch(webhooks.Patch{URL: wire.Field[string]{Set: true, Null: true}}); !fault.Is(err,
		fault.ValidationFailed) {
		t.Errorf("url null: %v", err)
	}
	if _, err := patch(webhooks.Patch{URL: wire.Some("https://localhost/")}); !fault.Is(err, fault.URLNotAllowed) {
		t.Errorf("url inside: %v", err)
	}
	var read webhooks.Versioned
	change(t, db.App, org, func(tx *postgres.Tx) (err error) {
		read, err = s.Get(t.Context(), tx, v.ID, false)
		return err
	})
	if diff := cmp.Diff(got, read); diff != "" {
		t.Errorf("what was answered is not what is stored:\n%s", diff)
	}
}

func TestAnotherOrgsEndpointIsNotThere(t *testing.T) {
	t.Parallel()
	db, s := testkit.DB(t), service(t)
	v, _ := create(t, s, db.App, id.New(), webhooks.New{Events: []string{"*"}})
	stranger := id.New()
	for name, use := range map[string]func(tx *postgres.Tx) error{
		"get": func(tx *postgres.Tx) error {
			_, err := s.Get(t.Context(), tx, v.ID, true)
			return err
		},
		"update": func(tx *postgres.Tx) error {
			_, err := s.Update(t.Context(), tx, v.ID, webhooks.Patch{}, nil)
			return err
		},
		"archive": func(tx *postgres.Tx) error { return s.Archive(t.Context(), tx, v.ID, nil) },
		"deliveries": func(tx *postgres.Tx) error {
			_, err := s.ListDeliveries(t.Context(), tx, v.ID, webhooks.Filter{}, id.ID{}, 10)
			return err
		},
		"test": func(tx *postgres.Tx) error {
			e, _ := events.Lookup("deal.won")
			_, err := s.SendTest(t.Context(), tx, v.ID, e)
			return err
		},
	} {
		if err := db.App.Tx(t.Context(), stranger, use); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
