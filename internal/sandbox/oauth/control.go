package oauth

import (
	"context"
	"maps"
	"time"
)

// Grant describes a login to the users of the sandbox.
type Grant struct {
	ID         string     `json:"id"`
	Family     string     `json:"family"`
	Person     string     `json:"person"`
	Subject    string     `json:"subject"`
	Scopes     []string   `json:"scopes"`
	Alive      bool       `json:"alive"`
	Dead       string     `json:"dead,omitempty"` // "revoked", "reuse", or the reason given to Kill
	Access     string     `json:"access_token"`   // the newest
	Secret     string     `json:"token_secret,omitempty"`
	Refresh    string     `json:"refresh_token,omitempty"`
	ExpiresAt  *time.Time `json:"access_expires_at,omitempty"`
	RefreshEnd *time.Time `json:"refresh_expires_at,omitempty"`
	Refreshes  int        `json:"refreshes"` // successful renewals
	Requests   int        `json:"requests"`  // requested renewals, including refused ones
	MadeAt     time.Time  `json:"made_at"`
}

func (l *login) asGrant() Grant {
	return Grant{
		ID: l.ID, Family: l.Family, Person: l.Person, Subject: l.Subject, Scopes: l.Scopes,
		Alive: l.Dead == "", Dead: l.Dead, Access: l.Access, Secret: l.Secret, Refresh: l.Refresh,
		ExpiresAt: l.AccessEnd, RefreshEnd: l.RefreshEnd, Refreshes: l.Refreshes, Requests: l.Requests,
		MadeAt: l.MadeAt,
	}
}

// Issue makes a login without the consent page: person grants access to everything that the scopes reach. Meta's logins
// get a long-lived token at once.
func (s *Sandbox) Issue(ctx context.Context, family, person string, scopes ...string) (g Grant, err error) {
	err = s.updateState(ctx, func(tx *tx) {
		d := dialectOf(family)
		if d == nil {
			return
		}

		l := tx.createLogin(d, &code{
			Family: family, Scopes: scopes, Offline: true, Person: person,
			All: true,
		})
		if d.first == kindShort {
			l.AccessEnd = tx.expiryAfter(tx.knobsOf(family).Lifetime.orDefault(metaLong))
			l.Access = tx.issueToken(l, kindAccess, l.AccessEnd)
			tx.saveLogin(l)
		}

		if d.grantsRefresh != nil && l.Refresh == "" {
			l.RefreshEnd = tx.expiryAfter(tx.knobsOf(family).RefreshLifetime.orDefault(d.refresh))
			tx.issueRefresh(l)
			tx.saveLogin(l)
		}

		g = l.asGrant()
	})
	if err == nil && g.ID == "" {
		err = errGone
	}

	return g, err
}

// Grants returns the newest logins; limit 0 means all.
func (s *Sandbox) Grants(ctx context.Context, limit int) (all []Grant, err error) {
	err = s.updateState(ctx, func(tx *tx) {
		all = []Grant{}
		for _, l := range listRows[login](tx, "login", limit) {
			all = append(all, l.asGrant())
		}
	})
	return all, err
}

// Holder returns the login of a token of any kind.
func (s *Sandbox) Holder(ctx context.Context, token string) (g Grant, err error) {
	err = s.updateState(ctx, func(tx *tx) {
		if l, _ := tx.findHolder(token); l != nil {
			g = l.asGrant()
		}
	})
	if err == nil && g.ID == "" {
		err = errGone
	}

	return g, err
}

// Kill ends a login as if its person had revoked it.
func (s *Sandbox) Kill(ctx context.Context, grant, why string) error {
	found := false
	err := s.updateState(ctx, func(tx *tx) {
		if l := readRow[login](tx, "login", grant); l != nil {
			found = true
			l.Dead = why
			tx.saveLogin(l)
		}
	})
	if err == nil && !found {
		err = errGone
	}

	return err
}

// Set sets the behavior of a family.
func (s *Sandbox) Set(ctx context.Context, family string, k Knobs) error {
	return s.updateState(ctx, func(tx *tx) {
		if tx.settings.Knobs == nil {
			tx.settings.Knobs = map[string]Knobs{}
		}
		tx.settings.Knobs[family] = k
		tx.saveSettings()
	})
}

// Strike adds a fault. A request meets the first added fault that matches it.
func (s *Sandbox) Strike(ctx context.Context, f Fault) error {
	return s.updateState(ctx, func(tx *tx) {
		tx.settings.Faults = append(tx.settings.Faults, &f)
		tx.saveSettings()
	})
}

// Clear removes all faults, but leaves the knobs.
func (s *Sandbox) Clear(ctx context.Context) error {
	return s.updateState(ctx, func(tx *tx) {
		tx.settings.Faults = nil
		tx.saveSettings()
	})
}

// Advance moves the sandbox's clock forward.
func (s *Sandbox) Advance(ctx context.Context, by time.Duration) error {
	return s.updateState(ctx, func(tx *tx) {
		tx.settings.Ahead += Seconds(by.Seconds())
		tx.saveSettings()
	})
}

// Counts returns the numbers of requests, by family and by "request", "token", "api" and "revoke".
func (s *Sandbox) Counts(ctx context.Context) (counts map[string]map[string]int, err error) {
	err = s.updateState(ctx, func(tx *tx) { counts = tx.readCounts() })
	return counts, err
}

func (t *tx) readCounts() map[string]map[string]int {
	all := map[string]map[string]int{}
	for family, ops := range t.settings.Counts {
		all[family] = map[string]int{}
		for what, n := range maps.All(ops) {
			all[family][string(what)] = n
		}
	}

	return all
}
