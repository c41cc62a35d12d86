package worker_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/events/eventstest"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/webhookdeliver"
	"github.com/funnelwork/funnelwork/jobs/webhookreplay"
	"github.com/funnelwork/funnelwork/worker"
)

// arrival is one request at the receiver.
type arrival struct {
	at     time.Time
	event  string // webhook-id
	stamp  time.Time
	header http.Header
	body   []byte
}

// post is a house with an org's webhook, the test's receiver, and a worker that delivers.
type post struct {
	*house
	db       *postgres.DB // pushes after commits
	hooks    *webhooks.Service
	endpoint id.ID
	shown    string
	takes    time.Duration // the receiver's response time
	busy     atomic.Int32  // requests at the receiver
	busiest  atomic.Int32
	mu       sync.Mutex
	came     []arrival
	handlers []queue.Handler
}

func openPost(t *testing.T, takes time.Duration) *post {
	t.Helper()
	p := &post{house: open(t), takes: takes}
	receiver := httptest.NewServer(http.HandlerFunc(p.receive))
	t.Cleanup(receiver.Close)
	box := testkit.Box(t)
	p.hooks = &webhooks.Service{Box: box, Policy: outbound.Policy{AllowPrivate: true}}
	calls := outbound.New(outbound.Options{Policy: p.hooks.Policy})
	p.handlers = []queue.Handler{
		(&webhookdeliver.Job{DB: p.house.db.App, Hooks: p.hooks, Client: calls}).Handler(),
		webhookreplay.Job{Hooks: p.hooks, Pace: webhookreplay.Usual()}.Handler(),
	}
	p.db = p.pushing()
	p.tx(func(tx *postgres.Tx) error {
		v, shown, err := p.hooks.Create(t.Context(), tx,
			webhooks.New{URL: receiver.URL, Events: []string{"*"}, Enabled: true})
		p.endpoint, p.shown = v.ID, shown
		return err
	})
	return p
}

func (p *post) receive(_ http.ResponseWriter, r *http.Request) {
	at, n := time.Now(), p.busy.Add(1)
	defer p.busy.Add(-1)
	for most := p.busiest.Load(); n > most && !p.busiest.CompareAndSwap(most, n); most = p.busiest.Load() {
	}
	body, _ := io.ReadAll(r.Body)
	seconds, _ := strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64)
	p.mu.Lock()
	p.came = append(p.came, arrival{at, r.Header.Get("webhook-id"), time.Unix(seconds, 0), r.Header.Clone(), body})
	p.mu.Unlock()
	if p.takes > 0 {
		<-time.After(p.takes)
	}
}

func (p *post) arrivals() []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.came)
}

func (p *post) tx(fn func(*postgres.Tx) error) {
	p.t.Helper()
	if err := p.db.Tx(p.t.Context(), p.org, fn); err != nil {
		p.t.Fatal(err)
	}
}

// announce makes an event and returns its contact.
func (p *post) announce() (contact string) {
	p.t.Helper()
	now := wire.Now()
	c := events.Contact{
		ID: id.New(), Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace", Stage: "lead",
		Tag: []string{}, Segment: []string{}, Attributes: map[string]any{},
		Score: events.ContactScore{Confidence: "prior"}, CreatedAt: now, UpdatedAt: now,
	}
	p.tx(func(tx *postgres.Tx) error {
		return events.Announce(p.t.Context(), tx, events.ContactCreated{Contact: c})
	})
	return c.ID.String()
}

// of returns the contact of an arrival's event.
func (a *arrival) of() string {
	var e struct {
		Data struct{ Object struct{ ID string } }
	}
	_ = json.Unmarshal(a.body, &e)
	return e.Data.Object.ID
}

func TestARotationUnderLoadLosesNobodyWhoKnowsOneOfTheSecrets(t *testing.T) {
	t.Parallel()
	p := openPost(t, 0)
	p.work(worker.Options{}, p.handlers...)
	made := map[string]time.Time{} // announcement times by contact
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	announce := func() {
		<-every.C
		at := time.Now()
		made[p.announce()] = at
	}
	for range 50 {
		announce()
	}
	p.until(giveUpAfter, "an event has arrived", func() bool { return len(p.arrivals()) > 0 })
	previous, current := p.shown, ""
	var until *wire.Time
	p.tx(func(tx *postgres.Tx) (err error) {
		_, current, until, err = p.hooks.Rotate(t.Context(), tx, p.endpoint, "", 5*time.Second)
		return err
	})
	rotated := time.Now()
	for time.Now().Before(until.Time) {
		announce()
	}
	for range 50 {
		announce()
	}
	p.until(giveUpAfter, "every event has arrived", func() bool {
		return p.count("SELECT count(*) FROM webhook_delivery WHERE status = 'delivered'") == len(made)
	})
	library, err := standardwebhooks.NewWebhook(current)
	if err != nil {
		t.Fatal(err)
	}
	before, both, after := 0, 0, 0
	for _, a := range p.arrivals() {
		at, ok := made[a.of()]
		if !ok {
			t.Fatalf("nobody announced %s", a.body)
		}
		old, oldStandard := webhooks.Verify(previous, a.header, a.body)
		now, nowStandard := webhooks.Verify(current, a.header, a.body)
		if old != oldStandard || now != nowStandard {
			t.Errorf("the two headers disagree: %v", a.header)
		}
		if signedBefore := a.stamp.Add(time.Second); !signedBefore.After(until.Time) && !old {
			t.Errorf("lost to who knows the old secret, %v before the end of the overlap", until.Sub(signedBefore))
		}
		if at.After(rotated) && (!now || library.Verify(a.body, a.header) != nil) {
			t.Errorf("lost to who knows the new secret, %v after the rotation", at.Sub(rotated))
		}
		switch {
		case old && now:
			both++
		case old:
			before++
		default:
			after++
		}
		if at.After(until.Time) && old {
			t.Errorf("the old secret signs %v after the overlap", at.Sub(until.Time))
		}
	}
	t.Logf("%d events: %d signed by the old secret, %d by both, %d by the new one", len(made), before, both, after)
	if before == 0 || both == 0 {
		t.Errorf("%d events are signed by the old secret, %d by both; want some of each", before, both)
	}
	if after < 50 {
		t.Errorf("%d events are signed by the new secret, want 50 or more", after)
	}
}

func TestATestSendOfEveryTypeArrivesAndMeetsItsSchema(t *testing.T) {
	t.Parallel()
	p := openPost(t, 0)
	p.work(worker.Options{}, p.handlers...)
	all := events.Catalogue()
	p.tx(func(tx *postgres.Tx) error {
		for _, e := range all {
			if _, err := p.hooks.SendTest(t.Context(), tx, p.endpoint, e); err != nil {
				return err
			}
		}
		return nil
	})
	p.until(giveUpAfter, "every sample has arrived", func() bool {
		return p.count("SELECT count(*) FROM webhook_delivery WHERE status = 'delivered' AND trigger = 'test'") ==
			len(all)
	})
	seen := map[string]bool{}
	for _, a := range p.arrivals() {
		var e struct {
			ID, Type string
			OrgID    string `json:"org_id"`
		}
		if err := json.Unmarshal(a.body, &e); err != nil {
			t.Fatal(err)
		}
		seen[e.Type] = true
		eventstest.Check(t, a.body)
		if ours, standard := webhooks.Verify(p.shown, a.header, a.body); !ours || !standard {
			t.Errorf("%s: our signature is valid: %v, the standard one: %v; %s", e.Type, ours, standard, a.body)
		}
		if e.ID != a.event || e.OrgID != p.org.String() {
			t.Errorf("%s: event %s of %s, want %s of %s", e.Type, e.ID, e.OrgID, a.event, p.org)
		}
	}
	for _, e := range all {
		if !seen[e.Name] {
			t.Errorf("no sample of %s came", e.Name)
		}
	}
}

// Live events find a free slot beside a replay, which never takes more than half of the slots. A worker that stops in
// between loses and duplicates nothing.
func TestAReplayDelaysNoLiveEventAndSendsEachOfItsOwnOnce(t *testing.T) {
	t.Parallel()
	const past = 200
	p := openPost(t, 50*time.Millisecond)
	p.exec(`INSERT INTO event (org_id, id, seq, type, actor_type, data, created_at)
		SELECT $1, uuidv7_at(at), n, 'contact.created', 'system', '{}', at
		FROM (SELECT n, now() - (1000 - n) * interval '1 second' AS at FROM generate_series(1, $2::int) n) e`, p.org,
		past)
	stop := p.work(worker.Options{}, p.handlers...)
	var r webhooks.Replay
	p.tx(func(tx *postgres.Tx) (err error) {
		r, err = p.hooks.Replay(t.Context(), tx, p.endpoint,
			webhooks.Range{From: time.Now().Add(-time.Hour), To: time.Now().Add(-time.Minute)})
		if err != nil {
			return err
		}
		return webhookreplay.Kind.Add(t.Context(), tx, webhookreplay.Args{Replay: *r.ID})
	})
	arrived := func() int { return len(p.arrivals()) }
	p.until(giveUpAfter, "the replay is under way", func() bool { return arrived() >= past/4 })
	stop()
	p.work(worker.Options{}, p.handlers...)
	made := map[string]time.Time{}
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for range 20 {
		<-every.C
		at := time.Now()
		made[p.announce()] = at
	}
	p.until(giveUpAfter, "all is delivered", func() bool {
		return p.count("SELECT count(*) FROM webhook_delivery WHERE status = 'delivered'") == past+len(made)
	})
	var read webhooks.Replay
	p.until(giveUpAfter, "the replay's last step has found nothing left to send", func() bool {
		p.tx(func(tx *postgres.Tx) (err error) {
			read, err = p.hooks.GetReplay(t.Context(), tx, p.endpoint, *r.ID)
			return err
		})
		return read.Status != "running"
	})
	want := read
	want.Status, want.Count, want.Sent, want.Deliveries.Delivered = "completed", past, past, past
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("the replay (-want +got):\n%s", diff)
	}
	times := map[string]int{}
	var took []time.Duration
	for _, a := range p.arrivals() {
		times[a.event]++
		if at, live := made[a.of()]; live {
			took = append(took, a.at.Sub(at))
		}
	}
	if len(times) != past+len(made) || arrived() != len(times) {
		t.Errorf("%d requests for %d events, want %d of each", arrived(), len(times), past+len(made))
	}
	if n := p.busiest.Load(); n > 10 {
		t.Errorf("%d requests at once, at most 10 are promised", n)
	}
	slices.Sort(took)
	t.Logf("live events beside a replay: p50 %v, longest %v; at most %d at once", took[len(took)/2],
		took[len(took)-1], p.busiest.Load())
	// The replay takes longer; an event queued behind it would wait for it.
	if p50 := took[len(took)/2]; p50 > 2*time.Second {
		t.Errorf("live events wait %v", p50)
	}
}
