// Package entitlementsync applies an org's entitlements when no request does: at the end of a trial, a grace period or
// an override, under a new catalogue, and for the clients of an agency after a change of its plan.
package entitlementsync

import (
	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Args say where to continue among an agency's clients, or which moment has come. plans.Settle adds jobs, too.
type Args = plans.SettleArgs

// Kind only writes rows and is idempotent but for the version, so it may be enqueued too often.
var Kind = queue.Define[Args]("plan.settle", queue.Options{Lane: queue.Default, Alias: "entitlement.sync"})

// Standard returns the standard catalogue, which enqueues jobs of this kind when it settles an org.
func Standard() *plans.Catalogue { return plans.Standard().Enqueuing(Kind.Add) }
