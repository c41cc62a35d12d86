package social

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/social/provider"
)

// Durations of a refresh.
const (
	// Lease is how long an attempt has exclusive use of its grant. It is longer than the request (provider.CallTime),
	// the two transactions around it and the write to the token journal together.
	Lease = 45 * time.Second
	// claimLease is how long a claim waits for its job before the grant can be claimed again.
	claimLease = 3 * time.Minute
	statement  = 5 * time.Second // timeout of one transaction of an attempt
	unserved   = time.Hour       // until a grant without a configured application is retried
)

// RefreshOptions configures a Refresher.
type RefreshOptions struct {
	Service *Service
	App     *postgres.DB  // for one grant, under its org
	System  *postgres.DB  // for claims over all orgs
	Spool   *TokenJournal // nil: new tokens are written to Postgres only
	Log     *slog.Logger
	Metrics *RefreshMetrics // may be nil
	// Lease overrides the constant; tests shorten it.
	Lease time.Duration
	// Now is the clock of the Refresher. If it is nil, Postgres's clock is used, which is required if several processes
	// run.
	Now func() time.Time
}

// Refresher renews the tokens of grants before they expire. It is safe for concurrent use, and any number of processes
// may run one.
//
// # One attempt at a time
//
// A refresh token may be valid for a single use, and a second use may invalidate the login. The grant's row therefore
// records who may use the token. A sweep claims due grants: it moves refresh_at to the end of the claim and increments
// version, and the claim is valid only while version is unchanged. An attempt first marks the row, in its own
// transaction, with the attempt's time and a hash of the token that it is about to spend. The lease of the mark is
// longer than all the work of the attempt. The attempt then calls the provider, outside any transaction. It stores the
// result only if its own mark is still there: the mark is a fence. A later attempt, of the job or of Token, has
// replaced the mark, and then the earlier attempt changes no row.
//
// # After a crash
//
// A mark with an expired lease means that the outcome of an attempt is unknown. If the provider's response had arrived,
// it is sealed in the token journal on that machine's disk, and is stored when a worker starts there, or before the
// next attempt. Otherwise the next attempt uses the old token once more. A provider that tolerates the reuse accepts
// it; one that does not refuses it, and the grant then dies with the reason rotation_outcome_lost. A process that is
// killed between the provider's response and the write to disk loses the login, but never silently.
//
// # Request rates
//
// Each application has a budget of token requests. It is kept in Postgres, so that it does not depend on Redis. The
// request slots are evenly spaced, and the rate is exceeded by at most a tenth, and only if it is ten per second or
// more. A sweep claims no more grants than there are slots within the next 20 s. While a platform throttles, no
// requests are sent for the time that it states. While a platform refuses our application's credentials, one request at
// a time probes whether it accepts them again. Neither disconnects a login.
type Refresher struct {
	RefreshOptions
	step func(string) // lets tests end the process at a step
}

// NewRefresher returns a Refresher; it starts no goroutine.
func NewRefresher(o RefreshOptions) *Refresher {
	if o.Lease == 0 {
		o.Lease = Lease
	}
	return &Refresher{RefreshOptions: o, step: func(string) {}}
}

// Claim is the right to begin one attempt at a grant. It becomes invalid when the grant is claimed or changed again.
type Claim struct {
	Org, Grant id.ID
	Version    int64
	At         time.Time     // the attempt's slot in the request budget
	In         time.Duration // from the claim until At
}

// Outcome is the result of an attempt.
type Outcome string

// The outcomes. All but Renewed and Recovered leave the tokens unchanged.
const (
	Renewed       Outcome = "renewed"
	Recovered     Outcome = "recovered"     // stored the response of an earlier attempt from the journal
	Moved         Outcome = "moved"         // the grant was claimed or changed by another
	Postponed     Outcome = "postponed"     // not due yet, or no application is configured
	Refused       Outcome = "dead"          // a person has to log in again
	Later         Outcome = "transient"     // failed; another attempt is scheduled
	Lost          Outcome = "unknown"       // as Later, but the token may be spent
	Throttled     Outcome = "throttled"     // requests to the platform are on hold
	Misconfigured Outcome = "misconfigured" // as Throttled, until the operator acts
)

// WaitError means that an attempt has no request slot yet: nothing was written and nothing was sent.
type WaitError struct{ For time.Duration }

func (w WaitError) Error() string { return "the platform's budget is spent for " + w.For.String() }

// errMoved means that a claim is no longer valid.
var errMoved = errors.New("the grant was claimed or changed concurrently")

// attempt is one request for new tokens, from the mark in the row, which is its fence, to its end.
type attempt struct {
	org, grant id.ID
	at         time.Time // the mark: attempt_at of the row
	hash       []byte    // of the token that the attempt spends
	provider   *provider.Provider
	token      provider.Token
	lost       bool // the outcome of an earlier attempt is unknown
	failures   int
	probe      bool      // tests whether the platform still refuses our application
	ends       time.Time // end of the lease, by this process's clock
}

// Refresh makes the attempt that c permits: it marks the grant, calls the provider, and stores the result. It returns a
// WaitError if the attempt has no request slot yet. Any other error is Postgres's or the keyset's, and Refresh can be
// retried with the same claim: completed steps are detected.
func (r *Refresher) Refresh(ctx context.Context, c Claim) (Outcome, error) {
	done, err := r.replayGrant(ctx, c.Org, c.Grant)
	if err != nil {
		return "", err
	}

	if done {
		return Recovered, nil
	}

	a, out, err := r.beginAttempt(ctx, c.Org, c.Grant, func(g *grantState) error {
		if g.version != c.Version {
			return errMoved
		}
		return nil
	})
	if a == nil {
		return out, err
	}

	return r.runAttempt(ctx, a)
}

// runAttempt calls the provider and stores the result. Once the request is sent, only its own timeout cancels it, not
// ctx: the response may be the only copy of a token.
func (r *Refresher) runAttempt(ctx context.Context, a *attempt) (Outcome, error) {
	ctx = context.WithoutCancel(ctx)
	r.step("before call")
	fresh, err := a.provider.Refresh(ctx, a.token)
	r.step("after answer")
	if err != nil {
		return r.recordFailure(ctx, a, err)
	}

	if fresh.LifetimeAssumed {
		r.Metrics.countAssumedLifetime(a.provider.Platform)
		r.Log.WarnContext(ctx, "provider stated no token lifetime", "platform", a.provider.Platform, "assumed",
			fresh.Lifetime())
	}

	answer, err := r.answerOf(a, fresh)
	if err != nil {
		return "", err
	}

	file := r.Spool.writeAnswer(ctx, answer, r.Log)
	r.step("after spool")
	stored, err := r.storeUntil(ctx, answer, a.ends)
	r.step("after commit")
	switch {
	case err != nil:
		r.Log.ErrorContext(ctx, "store new tokens failed", "org_id", a.org.String(), "grant_id",
			a.grant.String(), "spooled", file != "", "error", err)
		return "", err
	case !stored:
		r.Log.WarnContext(ctx, "new tokens superseded", "org_id", a.org.String(), "grant_id", a.grant.String(),
			"platform", a.provider.Platform)
	}

	r.Spool.deleteFile(file)
	if !stored {
		return r.countOutcome(a.provider.Platform, Moved), nil
	}

	if a.probe {
		r.removeHold(ctx, a.provider)
	}

	return r.countOutcome(a.provider.Platform, Renewed), nil
}

// beginAttempt marks the grant with a new attempt and the token that it will spend, in a transaction that ends before
// the provider is called. If it returns no attempt, it returns an outcome or an error. may checks the locked row.
func (r *Refresher) beginAttempt(ctx context.Context, org, grant id.ID,
	may func(*grantState) error) (a *attempt,
	out Outcome, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, statement)
	defer cancel()

	began := time.Now()
	platform := ""
	err = r.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		a = nil
		out = ""
		g, err := r.lockGrant(ctx, tx, grant)
		if err != nil {
			return err
		}

		platform = g.platform
		if err := may(g); err != nil {
			return err
		}

		p, err := r.Service.Providers.Of(g.platform, g.client)
		if err != nil {
			out = Postponed
			r.Log.WarnContext(ctx, "no application is configured for a grant", "platform", g.platform,
				"grant_id", grant.String())
			return r.putOff(ctx, tx, grant, g.now.Add(unserved))
		}

		token, err := r.tokenOf(g, org, grant)
		if err != nil {
			return err
		}

		switch young := g.issued.Add(p.MinAge); {
		case !p.CanRefresh(token):
			out = Refused // or Postponed, before its expiry
			if g.expires != nil && g.expires.After(g.now) {
				out = Postponed
				return r.putOff(ctx, tx, grant, *g.expires)
			}
			return nil
		case g.now.Before(young):
			out = Postponed
			return r.putOff(ctx, tx, grant, young)
		}

		wait, probe, err := r.reserveSlot(ctx, tx, p, g.now)
		if err != nil {
			return err
		}

		if wait > 0 {
			return WaitError{wait}
		}

		a = &attempt{
			org: org, grant: grant, provider: p, token: token, lost: g.attempt != "", failures: g.failures,
			probe: probe, ends: began.Add(r.Lease),
		}
		spent := token.Refresh
		if spent == "" {
			spent = token.Access
		}

		sum := sha256.Sum256([]byte(spent.Reveal()))
		a.hash = sum[:]

		return tx.QueryRow(ctx, `
			UPDATE social_grant SET attempt_state = 'intent', attempt_at = $4, attempt_token_hash = $5, refresh_at
			= $4::timestamptz + $6::interval,
				version = version + 1
			WHERE org_id = $1 AND id = $2 AND version = $3 RETURNING attempt_at`,
			[]any{org, grant, g.version, g.now, a.hash, r.Lease}, &a.at)
	})
	switch {
	case errors.Is(err, errMoved), postgres.None(err):
		return nil, r.countOutcome(platform, Moved), nil
	case err != nil:
		return nil, "", err
	case out == Refused:
		return nil, r.countOutcome(platform, Refused), r.endExpired(ctx, org, grant, "expired")
	case out != "":
		return nil, r.countOutcome(platform, out), nil
	}

	return a, "", nil
}

// grantState holds the columns of a grant's row that an attempt reads.
type grantState struct {
	now                time.Time
	version            int64
	platform, client   string
	subject            string
	access, refresh    []byte
	scopes             []string
	issued             time.Time
	expires, refreshBy *time.Time
	attempt            string
	failures           int
	due                *time.Time
}

const standsSQL = `
SELECT coalesce($3::timestamptz, clock_timestamp()), version, platform, client_id, sealed_access, sealed_refresh,
scopes, issued_at, access_expires_at,
	refresh_expires_at, coalesce(attempt_state, ''), fail_count, refresh_at, subject_id
FROM social_grant WHERE org_id = $1 AND id = $2 AND status IN ('active', 'expiring')`

func (g *grantState) columns() []any {
	return []any{
		&g.now, &g.version, &g.platform, &g.client, &g.access, &g.refresh, &g.scopes, &g.issued, &g.expires,
		&g.refreshBy, &g.attempt, &g.failures, &g.due,
		&g.subject,
	}
}

// lockGrant reads and locks a grant that is active or expiring.
func (r *Refresher) lockGrant(ctx context.Context, tx *postgres.Tx, grant id.ID) (*grantState, error) {
	g := &grantState{}
	err := tx.QueryRow(ctx, standsSQL+" FOR UPDATE", []any{tx.Org(), grant, r.clock()}, g.columns()...)
	if err != nil && !postgres.None(err) {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	return g, err
}

func (r *Refresher) tokenOf(g *grantState, org, grant id.ID) (provider.Token, error) {
	access, refresh, err := r.Service.openTokens(org, grant, g.access, g.refresh)
	return provider.Token{
		Access: access, Refresh: refresh, IssuedAt: g.issued, ExpiresAt: g.expires, RefreshExpiresAt: g.refreshBy,
		Scopes:  g.scopes,
		Subject: g.subject,
	}, err
}

// putOff sets the time at which the grant is due again, within begin's transaction.
func (r *Refresher) putOff(ctx context.Context, tx *postgres.Tx, grant id.ID, at time.Time) error {
	_, err := tx.Exec(ctx,
		`UPDATE social_grant SET refresh_at = $3, version = version + 1 WHERE org_id = $1 AND id = $2`, tx.Org(),
		grant, at)
	return err
}

// clock returns the time of r.Now, or nil for Postgres's clock.
func (r *Refresher) clock() *time.Time {
	if r.Now == nil {
		return nil
	}
	now := r.Now()
	return &now
}

func (r *Refresher) countOutcome(platform string, o Outcome) Outcome {
	r.Metrics.countEnded(platform, o)
	return o
}
