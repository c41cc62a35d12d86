package imapsync

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/imap"
	"github.com/funnelwork/funnelwork/internal/outreach/retrieval"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Limits of a run. The next one continues.
const (
	// Timeout bounds a connection: a run's mails, and one more of the largest.
	Timeout = 10 * time.Minute
	// MaxReceived is how many bytes one connection may bring: a run's mails, and one more of the largest.
	MaxReceived = 33<<20 + parse.MaxReceived

	maxBytes = 32 << 20 // after which no further mail is fetched
	maxMails = 500      // that are looked at
	maxTime  = 90 * time.Second
	chunk    = 100 // summaries that one command fetches
)

// Syncer reads inboxes. It is safe for concurrent use.
type Syncer struct {
	DB        *postgres.DB // App role
	Mailboxes *mailboxes.Service
	Inbound   *inbound.Service
	Dialer    *imap.Dialer
	Token     mailboxes.TokenSource // nil: no mailbox with a connected account is read
	Log       *slog.Logger
}

// Run reads what is new in the inbox of a mailbox. It calls begin with the name and the port of the server before it
// calls the server. An error is one of begin or of the database, or the end of ctx: what the server did wrong is in the
// result.
func (s *Syncer) Run(ctx context.Context, org, mailbox id.ID, begin func(host string) error) (*Result, error) {
	var (
		m *mailboxes.Reading
		f *mailboxes.Folder
	)
	err := s.DB.ReadTx(ctx, org, func(tx *postgres.Tx) (err error) {
		if f, err = mailboxes.FolderOf(ctx, tx, mailbox); err != nil {
			return err
		}
		m, err = s.Mailboxes.ForReading(ctx, tx, mailbox)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // archived, or not read any more
	}
	if err == nil {
		err = begin(net.JoinHostPort(m.Host, strconv.Itoa(m.Port)))
	}
	if err != nil {
		return nil, err
	}

	conn, err := (&retrieval.Connector{Dialer: s.Dialer, Token: s.Token}).Connect(ctx, org, m)
	if errors.Is(err, retrieval.ErrSandboxed) {
		return &Result{folder: f}, nil
	}
	if err != nil {
		return s.silentOr(ctx, m, f, failureReason(err), err)
	}

	defer func() { _ = conn.Close() }()
	run := run{Syncer: s, org: org, conn: conn, folder: f, begun: time.Now()}
	if err := run.openFolder(ctx); err != nil {
		return s.serverFailure(ctx, m, f, errors.Join(err, conn.Failure()))
	}

	more, err := run.readNewMails(ctx)
	if stuck, ok := errors.AsType[*stuckError](err); ok {
		r, err := s.failedResult(ctx, f, mailboxes.Unreadable, err)
		if r != nil && r.failure != "" {
			r.stuck = stuck.uid
		}
		return r, err
	}
	if err != nil {
		return s.serverFailure(ctx, m, f, errors.Join(err, conn.Failure()))
	}

	return &Result{folder: f, more: more}, nil
}

// databaseError is an error of the database, which is not the server's fault.
type databaseError struct{ error }

func (e databaseError) Unwrap() error { return e.error }

// stuckError is the error of a mail that could not be read.
type stuckError struct {
	error
	uid uint32
}

func (e *stuckError) Unwrap() error { return e.error }

// serverFailure returns the result of a run that the server has made fail, or err if something else has.
func (s *Syncer) serverFailure(ctx context.Context, m *mailboxes.Reading, f *mailboxes.Folder, err error) (
	*Result, error,
) {
	if d, ok := errors.AsType[databaseError](err); ok {
		return nil, d.error
	}
	return s.silentOr(ctx, m, f, mailboxes.ServerError, err)
}

// silentOr is failedResult, and records that the server was silent if err says so.
func (s *Syncer) silentOr(ctx context.Context, m *mailboxes.Reading, f *mailboxes.Folder, reason string, err error,
) (*Result, error) {
	r, failed := s.failedResult(ctx, f, reason, err)
	if r == nil || r.busy {
		return r, failed
	}
	r.uncalled = errors.Is(err, retrieval.ErrNoToken)
	if !r.uncalled && (reason == mailboxes.ConnectFailed || reason == mailboxes.ServerError) {
		r.silence = mailboxes.SilenceOf(mailboxes.Retrieval, m.Host, m.Port, err)
	}
	return r, failed
}

func (s *Syncer) failedResult(ctx context.Context, f *mailboxes.Folder, reason string, err error) (*Result, error) {
	if ctx.Err() != nil { // the worker stops, or the job has run out of time
		return nil, err
	}
	if errors.Is(err, imap.ErrBusy) { // not the server's fault: the next run goes on
		return &Result{folder: f, busy: true}, nil
	}
	s.Log.DebugContext(ctx, "mailbox not read", "mailbox_id", f.Mailbox.String(), "reason", reason, "error", err)
	return &Result{folder: f, failure: reason}, nil
}

// failureReason returns what a mailbox shows of a connection that failed.
func failureReason(err error) string {
	switch {
	case errors.Is(err, mailboxes.ErrLoginNeeded):
		return mailboxes.LoginNeeded
	case errors.Is(err, imap.ErrRefused):
		return mailboxes.AuthRefused
	case errors.Is(err, imap.ErrNotAllowed):
		return mailboxes.NotAllowed
	}
	return mailboxes.ConnectFailed
}

// run is one run with its connection.
type run struct {
	*Syncer
	org    id.ID
	conn   *imap.Conn
	folder *mailboxes.Folder
	begun  time.Time
	bytes  int
	looked int
	passed uint32 // the last mail that was passed over and is not recorded yet; 0: none
}

// inTx runs fn in a transaction of the org.
func (r *run) inTx(ctx context.Context, fn func(tx *postgres.Tx) error) error {
	if err := r.DB.Tx(ctx, r.org, fn); err != nil {
		return databaseError{err}
	}
	return nil
}

// openFolder opens the folder. If its UIDs are new, it finds the first mail to read.
func (r *run) openFolder(ctx context.Context) error {
	state, err := r.conn.Examine(r.folder.Name)
	if err != nil {
		return err
	}
	if state.UIDValidity == r.folder.UIDValidity {
		return nil
	}
	recent, err := r.conn.Since(r.folder.Since.UTC().AddDate(0, 0, -1)) // servers compare days of zones of their own
	if err != nil {
		return err
	}

	first := max(state.UIDNext, 1)
	if len(recent) > 0 {
		first = slices.Min(recent)
	}

	return r.inTx(ctx, func(tx *postgres.Tx) error {
		r.folder.Restart(tx, state.UIDValidity, first)
		return nil
	})
}

// hasDoneEnough reports whether the run has done enough.
func (r *run) hasDoneEnough() bool {
	return r.looked >= maxMails || r.bytes >= maxBytes || time.Since(r.begun) > maxTime
}
