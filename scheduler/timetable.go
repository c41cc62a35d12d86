package scheduler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/adaccountsdaily"
	"github.com/funnelwork/funnelwork/jobs/aisweep"
	"github.com/funnelwork/funnelwork/jobs/billingoverage"
	"github.com/funnelwork/funnelwork/jobs/billingprorationsync"
	"github.com/funnelwork/funnelwork/jobs/contactindexsweep"
	"github.com/funnelwork/funnelwork/jobs/domainsweep"
	"github.com/funnelwork/funnelwork/jobs/leadfade"
	"github.com/funnelwork/funnelwork/jobs/mailboxdomains"
	"github.com/funnelwork/funnelwork/jobs/mailboxsweep"
	"github.com/funnelwork/funnelwork/jobs/plansweep"
	"github.com/funnelwork/funnelwork/jobs/platformretention"
	"github.com/funnelwork/funnelwork/jobs/scoretrainnight"
	"github.com/funnelwork/funnelwork/jobs/sendingdomains"
	"github.com/funnelwork/funnelwork/jobs/tokensweep"
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
				return billingprorationsync.Kind.Add(ctx, tx, billingprorationsync.Args{}, dedupe)
			},
		},
		{
			Name: "billing-whole", Every: 24 * time.Hour, Past: 3 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return billingprorationsync.Kind.Add(ctx, tx, billingprorationsync.Args{Whole: true}, dedupe)
			},
		},
		{
			Name: "billing-overage", Every: 20 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return billingoverage.Kind.Add(ctx, tx, billingoverage.Args{}, dedupe)
			},
		},
		{
			Name: "retention", Every: time.Hour, Past: 7 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return platformretention.Kind.Add(ctx, tx, platformretention.Args{}, dedupe)
			},
		},
		{
			Name: "tokens", Every: 10 * time.Second, Past: 5 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return tokensweep.Kind.Add(ctx, tx, tokensweep.Args{}, dedupe)
			},
		},
		{
			Name: "ad-accounts", Every: 24 * time.Hour, Past: 5 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return adaccountsdaily.Kind.Add(ctx, tx, adaccountsdaily.Args{}, dedupe)
			},
		},
		{
			Name: "domains", Every: 20 * time.Second, Past: 10 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return domainsweep.Kind.Add(ctx, tx, domainsweep.Args{}, dedupe)
			},
		},
		{
			Name: "mailboxes", Every: 10 * time.Second, Past: 2 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return mailboxsweep.Kind.Add(ctx, tx, mailboxsweep.Args{}, dedupe)
			},
		},
		{
			Name: "sender-domains", Every: time.Minute, Past: 35 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return mailboxdomains.Kind.Add(ctx, tx, mailboxdomains.Args{}, dedupe)
			},
		},
		{
			Name: "sending-domains", Every: time.Minute, Past: 50 * time.Second, Missed: Skip,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return sendingdomains.Kind.Add(ctx, tx, sendingdomains.Args{}, dedupe)
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
				return contactindexsweep.Kind.Add(ctx, tx, contactindexsweep.Args{}, dedupe)
			},
		},
		{
			Name: "word-index-orgs", Every: time.Hour, Past: 11 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return contactindexsweep.Kind.Add(ctx, tx, contactindexsweep.Args{Orgs: true}, dedupe)
			},
		},
		{
			Name: "score-models", Every: 24 * time.Hour, Past: 2 * time.Hour, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return scoretrainnight.Kind.Add(ctx, tx, scoretrainnight.Args{}, dedupe)
			},
		},
		{
			Name: "score-fades", Every: 10 * time.Minute, Past: 6 * time.Minute, Missed: One,
			Add: func(ctx context.Context, tx *postgres.Tx, dedupe queue.Adding) error {
				return leadfade.Kind.Add(ctx, tx, leadfade.Args{}, dedupe)
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

// tickAt returns the latest planned time that is not after now.
func (e Entry) tickAt(now time.Time) time.Time {
	return now.UTC().Add(-e.Past).Truncate(e.Every).Add(e.Past)
}

// dedupeKey returns the dedupe key of a tick's job.
func (e Entry) dedupeKey(tick time.Time) string {
	return fmt.Sprintf("%s@%s", e.Name, tick.Format(time.RFC3339Nano))
}

// describePlan describes when the ticks occur: "every 1h, 7m past".
func (e Entry) describePlan() string {
	if e.Past == 0 {
		return "every " + shortDuration(e.Every)
	}
	return "every " + shortDuration(e.Every) + ", " + shortDuration(e.Past) + " past"
}

// shortDuration formats d without trailing zeros: "24h", not "24h0m0s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
