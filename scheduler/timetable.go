package scheduler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/adaccountsync"
	"github.com/funnelwork/funnelwork/jobs/aisweep"
	"github.com/funnelwork/funnelwork/jobs/contactindex"
	"github.com/funnelwork/funnelwork/jobs/domainverify"
	"github.com/funnelwork/funnelwork/jobs/overagesync"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/jobs/prorationsync"
	"github.com/funnelwork/funnelwork/jobs/retention"
	"github.com/funnelwork/funnelwork/jobs/scoretrain"
	"github.com/funnelwork/funnelwork/jobs/tokenrefresh"
	"github.com/funnelwork/funnelwork/jobs/webhookhealth"
)

// Entry is one entry of the timetable.
type Entry struct {
	Name string
	// Every is the interval between ticks. Past is their offset from midnight UTC on 1 January of year 1, and therefore
	// from every full hour or day.
	Every, Past time.Duration
	// Missed is the policy for missed ticks.
	Missed Missed
	// Add adds the tick's job in tx with the given dedupe key.
	Add func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error
}

// Timetable returns the platform's scheduled jobs.
func Timetable() []Entry {
	return []Entry{
		{
			Name: "plans", Every: time.Minute, Past: 20 * time.Second, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return plansweep.Kind.Add(ctx, tx, plansweep.Args{}, dedupe)
			},
		},
		{
			Name: "billing-events", Every: 15 * time.Minute, Past: 4 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return prorationsync.Kind.Add(ctx, tx, prorationsync.Args{}, dedupe)
			},
		},
		{
			Name: "billing-whole", Every: 24 * time.Hour, Past: 3 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return prorationsync.Kind.Add(ctx, tx, prorationsync.Args{Whole: true}, dedupe)
			},
		},
		{
			Name: "billing-overage", Every: 20 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return overagesync.Kind.Add(ctx, tx, overagesync.Args{}, dedupe)
			},
		},
		{
			Name: "retention", Every: time.Hour, Past: 7 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return retention.Kind.Add(ctx, tx, retention.Args{}, dedupe)
			},
		},
		{
			Name: "tokens", Every: 10 * time.Second, Past: 5 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return tokenrefresh.Sweep.Add(ctx, tx, tokenrefresh.SweepArgs{}, dedupe)
			},
		},
		{
			Name: "ad-accounts", Every: 24 * time.Hour, Past: 5 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return adaccountsync.Daily.Add(ctx, tx, adaccountsync.DailyArgs{}, dedupe)
			},
		},
		{
			Name: "domains", Every: 20 * time.Second, Past: 10 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return domainverify.Sweep.Add(ctx, tx, domainverify.SweepArgs{}, dedupe)
			},
		},
		{
			Name: "ai-tokens", Every: 20 * time.Second, Past: 15 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return aisweep.Kind.Add(ctx, tx, aisweep.Args{}, dedupe)
			},
		},
		{
			Name: "word-index", Every: 20 * time.Second, Past: 8 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return contactindex.Sweep.Add(ctx, tx, contactindex.SweepArgs{}, dedupe)
			},
		},
		{
			Name: "word-index-orgs", Every: time.Hour, Past: 11 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return contactindex.Sweep.Add(ctx, tx, contactindex.SweepArgs{Orgs: true}, dedupe)
			},
		},
		{
			Name: "score-models", Every: 24 * time.Hour, Past: 2 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return scoretrain.Night.Add(ctx, tx, scoretrain.NightArgs{}, dedupe)
			},
		},
		{
			Name: "webhook-health", Every: time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return webhookhealth.Kind.Add(ctx, tx, webhookhealth.Args{}, dedupe)
			},
		},
	}
}

// tick returns the latest planned time that is not after now.
func (e Entry) tick(now time.Time) time.Time {
	return now.UTC().Add(-e.Past).Truncate(e.Every).Add(e.Past)
}

// key returns the dedupe key of a tick's job.
func (e Entry) key(tick time.Time) string {
	return fmt.Sprintf("%s@%s", e.Name, tick.Format(time.RFC3339Nano))
}

// plan describes when the ticks occur: "every 1h, 7m past".
func (e Entry) plan() string {
	if e.Past == 0 {
		return "every " + short(e.Every)
	}
	return "every " + short(e.Every) + ", " + short(e.Past) + " past"
}

// short formats d without trailing zeros: "24h", not "24h0m0s".
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
