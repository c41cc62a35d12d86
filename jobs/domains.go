package jobs

import (
	"context"

	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Domains returns the service of custom domains with what it cannot import itself: the org's audit log.
func Domains(o branding.DomainOptions) *branding.Domains {
	o.Audit = func(ctx context.Context, tx *postgres.Tx, act branding.Act) {
		org.Audit(ctx, tx, org.Entry{Action: act.Action, Target: "domain", ID: act.Host, Detail: act.Detail})
	}
	return branding.NewDomains(o)
}
