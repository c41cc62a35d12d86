package stripe

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Version is the one API version that is spoken; a request that asks for another is refused.
const Version = "2023-10-16"

// Options of a Sandbox.
type Options struct {
	Store Store
	Log   *slog.Logger
	// PageURL is where Handler can be seen, ending in Path: links to hosted invoices, the portal, onboarding and the
	// confirmation of payments lead there. The default is a relative link.
	PageURL string
	// Now is the real time; nil is time.Now. The sandbox's clock is that plus what it was advanced by.
	Now func() time.Time
	// Deliver sends webhooks; nil is a client that only calls the URLs of endpoints and follows no redirects.
	Deliver http.RoundTripper
}

// Sandbox stands in for Stripe. It is safe for concurrent use, and several, also of several processes, may share
// a store.
type Sandbox struct {
	o      Options
	routes *http.ServeMux
	faults faults
	calls  sync.WaitGroup // those of a Transport that nobody waits for any more
}

// New makes a sandbox and touches nothing.
func New(o Options) *Sandbox {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.PageURL == "" {
		o.PageURL = Path
	}
	if o.Deliver == nil {
		o.Deliver = &http.Transport{ResponseHeaderTimeout: 10 * time.Second, IdleConnTimeout: 3 * time.Second, MaxIdleConnsPerHost: 4}
	}
	s := &Sandbox{o: o}
	s.routes = s.table()
	return s
}

// Close waits for calls whose callers went away.
func (s *Sandbox) Close() { s.calls.Wait() }

// do runs fn alone on the state. A *problem that fn refused with comes back as such; its changes are undone. The
// same goes for one that it returns, unless the problem says that the work is kept.
func (s *Sandbox) do(ctx context.Context, account string, from origin, fn func(*tx) *problem) (refused *problem, err error) {
	return s.alone(ctx, s.o.Store.Update, account, from, fn)
}

// look is do for reading.
func (s *Sandbox) look(ctx context.Context, account string, fn func(*tx) *problem) (refused *problem, err error) {
	return s.alone(ctx, s.o.Store.View, account, origin{}, fn)
}

var errRefused = errors.New("refused")

func (s *Sandbox) alone(ctx context.Context, run func(context.Context, func(Tx) error) error, account string, from origin, fn func(*tx) *problem) (refused *problem, err error) {
	err = run(ctx, func(rows Tx) error {
		refused = nil
		return caught(&refused, func() {
			tx := &tx{ctx: ctx, rows: rows, s: s, account: account, request: from, objects: map[place]object{}}
			tx.now = tx.settings().now(s.o.Now())
			if p := fn(tx); p != nil {
				refused = p
				if !p.kept {
					panic(p)
				}
			}
			tx.flush()
		})
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return refused, err
}

// caught turns the package's two panics back into values.
func caught(refused **problem, fn func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *problem:
			*refused, err = v, errRefused
		case failure:
			err = v.error
		default:
			panic(v)
		}
	}()
	fn()
	return nil
}

// in runs fn for another account within the same work.
func (tx *tx) in(account string, fn func()) {
	before := tx.account
	tx.flush()
	tx.account = account
	defer func() { tx.account = before }()
	fn()
	tx.flush()
}

// settings are the sandbox's own: one object, of the platform.
type settings struct {
	head
	Ahead  int64  `json:"ahead"` // seconds that the sandbox's clock is before the real one
	Mangle Mangle `json:"mangle"`
}

const kindSettings kind = "sandbox.settings"

func (*settings) kind() kind { return kindSettings }

func (s *settings) now(wall time.Time) int64 {
	return wall.Unix() + s.Ahead
}

// settings reads them once per work.
func (tx *tx) settings() *settings {
	if tx.setting == nil {
		r, err := tx.rows.Get(tx.ctx, "", string(kindSettings), "settings")
		tx.try(err)
		if r == nil {
			tx.setting = &settings{head: head{ID: "settings", Created: 1}}
		} else {
			account := tx.account
			tx.account = ""
			tx.setting = open[settings](tx, r)
			tx.account = account
		}
	}
	return tx.setting
}

// set changes the settings.
func (tx *tx) set(change func(*settings)) {
	st := tx.settings()
	tx.in("", func() { change(st); tx.put(st) })
}
