package orgsending

import (
	"context"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// personal is the purpose of mail that is not marketing.
const personal = "personal"

// defaultDomainCap is the domain_daily_cap of an org that has not chosen one.
const defaultDomainCap = 5

// Settings are the sending settings of an org.
type Settings struct {
	PostalAddress    *string          `json:"postal_address"`
	TrackingDomain   *string          `json:"tracking_domain"`
	DefaultPurpose   string           `json:"default_purpose" enum:"personal,marketing"`
	DailyCap         *int             `json:"daily_cap"`
	DomainDailyCap   *int             `json:"domain_daily_cap"`
	BlockedCountries []string         `json:"blocked_countries"`
	StopOn           StopRules        `json:"stop_on" doc:"What stops a sequence, unless it says otherwise"`
	Tracking         TrackingDefaults `json:"tracking" doc:"What is tracked of the org's mail"`
	UpdatedAt        *wire.Time       `json:"updated_at" format:"date-time" doc:"When they were changed; null: never"`

	Edit int `json:"-"` // 0: never changed
}

// Descriptions implements wire.Describer.
func (Settings) Descriptions() map[string]string {
	return map[string]string{
		"postal_address":    "Address by post that automated mail names; null: none, so no broadcast can be sent",
		"tracking_domain":   "Host of the pixels and links in the mail, once its records are found; null: none",
		"default_purpose":   "Purpose of an email that names none",
		"daily_cap":         "Most mails of all mailboxes together in any 24 hours; null: no limit",
		"domain_daily_cap":  "Most automated mails to one company's domain in any 24 hours; null: no limit",
		"blocked_countries": "Countries whose contacts get no automated mail, as codes of ISO 3166-1 alpha-2",
	}
}

// StopRules say what stops a sequence for a contact.
type StopRules struct {
	Reply        bool `json:"reply" doc:"A reply of the contact"`
	CompanyReply bool `json:"company_reply" doc:"A reply of another contact of the same company"`
	DealWon      bool `json:"deal_won" doc:"A won deal of the contact"`
}

// TrackingDefaults are what is tracked unless a mailbox or an email says otherwise, and whether anything is.
type TrackingDefaults struct {
	Opens  bool `json:"opens" doc:"Whether new mailboxes count opens"`
	Clicks bool `json:"clicks" doc:"Whether new mailboxes count clicks"`
	Off    bool `json:"off" doc:"Whether tracking is off for all mail, even if a mailbox or an email turns it on"`
}

// Defaults returns the settings of an org that has changed none.
func Defaults() *Settings {
	limit := defaultDomainCap
	return &Settings{
		DefaultPurpose: personal, DomainDailyCap: &limit, BlockedCountries: []string{},
		StopOn: StopRules{Reply: true, DealWon: true},
	}
}

// Read returns the settings of the org of tx.
func Read(ctx context.Context, tx *postgres.Tx) (*Settings, error) {
	s := Defaults()
	err := tx.QueryRow(ctx, `
		SELECT postal_address, tracking_domain, default_purpose, daily_cap, domain_daily_cap, blocked_countries,
			stop_on_reply, stop_on_company_reply, stop_on_deal_won, track_opens, track_clicks, track_off, updated_at,
			edit
		FROM org_sending WHERE org_id = $1`, []any{tx.Org()},
		&s.PostalAddress, &s.TrackingDomain, &s.DefaultPurpose, &s.DailyCap, &s.DomainDailyCap, &s.BlockedCountries,
		&s.StopOn.Reply, &s.StopOn.CompanyReply, &s.StopOn.DealWon, &s.Tracking.Opens, &s.Tracking.Clicks,
		&s.Tracking.Off, &s.UpdatedAt, &s.Edit)
	if postgres.None(err) {
		return Defaults(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sending settings: %w", err)
	}
	return s, nil
}

// Purposes returns the purposes that an email may have.
func Purposes() []string { return []string{personal, suppression.Marketing} }

// Blocks reports whether contacts of a country get no automated mail. A contact without a country is not blocked.
func (s *Settings) Blocks(country *string) bool {
	return country != nil && slices.Contains(s.BlockedCountries, *country)
}

// Update applies p to the settings of the org of tx, and returns them with the names of the members that changed. It
// calls check with the current settings, which are locked. A patch that changes nothing writes nothing.
func Update(ctx context.Context, tx *postgres.Tx, p *Patch, check func(*Settings) error) (*Settings, []string,
	error,
) {
	tx.Queue(`SELECT pg_advisory_xact_lock(`+lockKey+`)`, tx.Org().String())
	// The row of the org is locked, because an org without settings has no row here. The lock is a statement of its
	// own: one that waits for a lock would read the settings as of before the wait.
	tx.Queue(`SELECT 1 FROM org WHERE id = $1 FOR NO KEY UPDATE`, tx.Org())
	was, err := Read(ctx, tx)
	if err == nil {
		err = check(was)
	}
	if err != nil {
		return nil, nil, err
	}
	now := *was
	if err := p.apply(&now); err != nil {
		return nil, nil, err
	}
	changed := changes(was, &now)
	if len(changed) == 0 {
		return was, nil, nil
	}
	at := wire.Now()
	now.UpdatedAt = &at
	now.Edit++
	now.store(tx)
	return &now, changed, nil
}

// changes returns the names of the members that differ.
func changes(was, now *Settings) (names []string) {
	for name, same := range map[string]bool{
		"postal_address":    equal(was.PostalAddress, now.PostalAddress),
		"tracking_domain":   equal(was.TrackingDomain, now.TrackingDomain),
		"default_purpose":   was.DefaultPurpose == now.DefaultPurpose,
		"daily_cap":         equal(was.DailyCap, now.DailyCap),
		"domain_daily_cap":  equal(was.DomainDailyCap, now.DomainDailyCap),
		"blocked_countries": slices.Equal(was.BlockedCountries, now.BlockedCountries),
		"stop_on":           was.StopOn == now.StopOn,
		"tracking":          was.Tracking == now.Tracking,
	} {
		if !same {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// store queues the write of the settings.
func (s *Settings) store(tx *postgres.Tx) {
	tx.Queue(`
		INSERT INTO org_sending AS o (org_id, postal_address, default_purpose, daily_cap, domain_daily_cap,
			blocked_countries, stop_on_reply, stop_on_company_reply, stop_on_deal_won, track_opens, track_clicks,
			updated_at, edit, tracking_domain, track_off)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (org_id) DO UPDATE SET postal_address = excluded.postal_address,
			default_purpose = excluded.default_purpose, daily_cap = excluded.daily_cap,
			domain_daily_cap = excluded.domain_daily_cap, blocked_countries = excluded.blocked_countries,
			stop_on_reply = excluded.stop_on_reply, stop_on_company_reply = excluded.stop_on_company_reply,
			stop_on_deal_won = excluded.stop_on_deal_won, track_opens = excluded.track_opens,
			track_clicks = excluded.track_clicks, updated_at = excluded.updated_at, edit = excluded.edit,
			tracking_domain = excluded.tracking_domain, track_off = excluded.track_off,
			cap_room = CASE WHEN o.daily_cap IS NOT DISTINCT FROM excluded.daily_cap THEN o.cap_room END`,
		tx.Org(), s.PostalAddress, s.DefaultPurpose, s.DailyCap, s.DomainDailyCap, s.BlockedCountries, s.StopOn.Reply,
		s.StopOn.CompanyReply, s.StopOn.DealWon, s.Tracking.Opens, s.Tracking.Clicks, s.UpdatedAt, s.Edit,
		s.TrackingDomain, s.Tracking.Off)
}

// TrackingOff reports whether tracking is off for all mail of tx's org, even if a mailbox or an email turns it on.
func TrackingOff(ctx context.Context, tx *postgres.Tx) (off bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM org_sending WHERE org_id = $1 AND track_off)`, []any{tx.Org()},
		&off)
	if err != nil {
		return false, fmt.Errorf("read whether mail is tracked: %w", err)
	}
	return off, nil
}

// LinkBase returns the base of the pixels and links in the org's mail, without a slash at the end: that of its tracking
// domain while it points to the platform, and otherwise the platform's. That is "" if the platform has none.
func LinkBase(ctx context.Context, tx *postgres.Tx, platform string) (string, error) {
	var host string
	err := tx.QueryRow(ctx, `
		SELECT d.host FROM org_sending s JOIN domain d ON d.org_id = s.org_id AND d.host = s.tracking_domain
		WHERE s.org_id = $1 AND d.status IN ('active', 'degraded')`, []any{tx.Org()}, &host)
	if postgres.None(err) {
		return platform, nil
	}
	if err != nil {
		return "", fmt.Errorf("read tracking domain: %w", err)
	}
	return "https://" + host, nil
}
