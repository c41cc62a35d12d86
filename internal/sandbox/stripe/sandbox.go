package stripe

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Version is the only supported API version; a request for another is refused.
const Version = "2023-10-16"

// Options configures a Sandbox.
type Options struct {
	Store Store
	Log   *slog.Logger
	// PageURL is the public URL of Handler, ending in Path: links to hosted invoices, the portal, onboarding and the
	// confirmation of payments use it. By default links are relative.
	PageURL string
	// Now is the real clock; nil means time.Now. The sandbox's clock is Now plus all advances.
	Now func() time.Time
	// Deliver sends webhooks; nil means a client that only calls the URLs of endpoints and follows no redirects.
	Deliver http.RoundTripper
}

// Sandbox replaces Stripe. It is safe for concurrent use; several sandboxes, also in different processes, may share a
// store.
type Sandbox struct {
	o      Options
	routes *http.ServeMux
	faults faults
	calls  sync.WaitGroup // running handlers of Transports, also abandoned ones
}

// New returns a Sandbox; it does not access the store.
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
		o.Deliver = &http.Transport{
			ResponseHeaderTimeout: 10 * time.Second, IdleConnTimeout: 3 * time.Second,
			MaxIdleConnsPerHost: 4,
		}
	}

	s := &Sandbox{o: o}
	s.routes = s.routeTable()

	return s
}

// Close waits for requests that their callers abandoned.
func (s *Sandbox) Close() { s.calls.Wait() }

// updateState runs fn with exclusive access to the state. If fn refuses with a *problem, updateState undoes its changes
// and returns the problem. The same applies to a problem that fn returns, unless it is marked as kept.
func (s *Sandbox) updateState(ctx context.Context, account string, from origin,
	fn func(*tx) *problem) (refused *problem,
	err error,
) {
	return s.runExclusive(ctx, s.o.Store.Update, account, from, fn)
}

// viewState is like updateState, for reading.
func (s *Sandbox) viewState(ctx context.Context, account string,
	fn func(*tx) *problem,
) (refused *problem, err error) {
	return s.runExclusive(ctx, s.o.Store.View, account, origin{}, fn)
}

var errRefused = errors.New("refused")

func (s *Sandbox) runExclusive(ctx context.Context, run func(context.Context, func(Tx) error) error,
	account string,
	from origin, fn func(*tx) *problem,
) (refused *problem, err error) {
	err = run(ctx, func(rows Tx) error {
		refused = nil
		return recoverRefusal(&refused, func() {
			tx := &tx{ctx: ctx, rows: rows, s: s, account: account, request: from, objects: map[place]object{}}
			tx.now = tx.readSettings().clockNow(s.o.Now())
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

// recoverRefusal recovers the package's two panic values and returns them.
func recoverRefusal(refused **problem, fn func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *problem:
			*refused = v
			err = errRefused
		case failure:
			err = v.error
		default:
			panic(v)
		}
	}()

	fn()
	return nil
}

// inAccount runs fn for another account within the same unit of work.
func (tx *tx) inAccount(account string, fn func()) {
	before := tx.account
	tx.flush()
	tx.account = account
	defer func() { tx.account = before }()
	fn()
	tx.flush()
}

// settings holds the sandbox's settings, in one object of the platform.
type settings struct {
	head
	Ahead  int64  `json:"ahead"` // how far the sandbox's clock is ahead, in seconds
	Mangle Mangle `json:"mangle"`
}

const kindSettings kind = "sandbox.settings"

func (*settings) objectKind() kind { return kindSettings }

func (s *settings) clockNow(wall time.Time) int64 {
	return wall.Unix() + s.Ahead
}

// readSettings returns the settings, which it reads once per unit of work.
func (tx *tx) readSettings() *settings {
	if tx.setting == nil {
		r, err := tx.rows.Get(tx.ctx, "", string(kindSettings), "settings")
		tx.abortOnError(err)
		if r == nil {
			tx.setting = &settings{head: head{ID: "settings", Created: 1}}
		} else {
			account := tx.account
			tx.account = ""
			tx.setting = decodeRow[settings](tx, r)
			tx.account = account
		}
	}

	return tx.setting
}

// updateSettings changes the settings.
func (tx *tx) updateSettings(change func(*settings)) {
	st := tx.readSettings()
	tx.inAccount("", func() {
		change(st)
		tx.put(st)
	})
}
