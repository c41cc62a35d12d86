package strangers_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// inFlight is what the buffers of the loopback interface may hold of a connection, in bytes: they grow to some 10 MiB.
const inFlight = 24 << 20

// maxDials bounds how often a call connects, with its repetitions.
const maxDials = 12

// errOutcome is wrapped by a call whose result is none that a hostile server may cause.
var errOutcome = errors.New("a wrong result")

// hostile is one server that attacks, and the call of the product that meets it.
type hostile struct {
	name       string
	talk       func(*strangers.Conn)
	bound      int64 // of the bytes that the server may send
	within     time.Duration
	maySucceed bool // the call needs nothing of what the attack spoils
	call       func(context.Context, *strangers.Server) error
}

// table is a list of hostile servers. They mostly wait, so many of them run at once.
type table struct {
	t    *testing.T
	rows []hostile
}

func newTable(t *testing.T) *table {
	t.Helper()
	return &table{t: t}
}

func (a *table) add(h hostile) { a.rows = append(a.rows, h) }

// run runs the table. -run chooses no row of it: the failures name theirs.
func (a *table) run() {
	a.t.Helper()
	if len(a.rows) == 0 {
		a.t.Fatal("there is no row")
	}
	const atOnce = 128
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, h := range a.rows {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if err := h.meet(a.t); err != nil {
				a.t.Errorf("%s: %v", h.name, err)
			}
		})
	}
	all.Wait()
}

// meet calls the server. It returns an error unless the call fails within the time, and the server could send no more
// than the bytes.
func (h *hostile) meet(t *testing.T) error {
	t.Helper()
	s, stop, err := strangers.Serve(h.talk)
	if err != nil {
		return err
	}
	defer stop()
	began := time.Now()
	err = h.call(t.Context(), s)
	took := time.Since(began)
	sent, dials := s.Sent()
	switch {
	case dials > maxDials:
		return fmt.Errorf("the client has connected %d times: %w", dials, err)
	case sent > h.bound+dials*inFlight:
		return fmt.Errorf("the server has sent %d bytes in %d connections, at most %d were allowed: %w",
			sent, dials, h.bound, err)
	case took > h.within:
		return fmt.Errorf("the call took %v, at most %v were allowed: %w", took, h.within, err)
	case err == nil && !h.maySucceed:
		return errors.New("the call succeeded")
	case err == nil:
		return nil
	case errors.Is(err, errOutcome):
		return err
	case len(err.Error()) > 4<<10 || !utf8.ValidString(err.Error()):
		return fmt.Errorf("the text of the error has %d bytes", len(err.Error()))
	}
	return nil
}
