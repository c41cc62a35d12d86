package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// part is one external service, with the names of its setting and its sandbox.
type part struct {
	httpx.Part
	sandbox string // its name in FUNNELWORK_SANDBOXES
	set     string // the setting that configures the real service
	page    string // its sandbox's page on the ops listener; "" for none
}

// allParts returns the parts, in display order.
func allParts() []part {
	return []part{
		{httpx.PartBilling, "stripe", "STRIPE_SECRET_KEY", stripe.Path},
		{httpx.PartOAuth, "oauth", "FUNNELWORK_OAUTH_..._CLIENT_ID", oauth.Path},
		{httpx.PartMail, "mail", "FUNNELWORK_SMTP_URL", mailbox.Path},
		{httpx.PartAI, "ai", "FUNNELWORK_AI_KEY", ""},
	}
}

// sandboxName is one name in FUNNELWORK_SANDBOXES.
type sandboxName string

// UnmarshalText trims blanks, which are allowed around commas.
func (n *sandboxName) UnmarshalText(text []byte) error {
	*n = sandboxName(strings.TrimSpace(string(text)))
	return nil
}

// checkSandboxes rejects an unknown name.
func checkSandboxes(names []sandboxName) error {
	var known []string
	for _, p := range allParts() {
		known = append(known, p.sandbox)
	}

	for _, n := range names {
		if !slices.Contains(known, string(n)) {
			return fmt.Errorf("--sandboxes (FUNNELWORK_SANDBOXES): there is no sandbox %q; want some of %s",
				string(n), strings.Join(known, ", "))
		}
	}

	return nil
}

// mayStandIn reports whether the part's sandbox is used if the part is not configured: in up always, in other commands
// if it was enabled by name.
func (p *process) mayStandIn(which httpx.Part) bool {
	for _, one := range allParts() {
		if one.Part == which {
			return p.name == "up" || slices.Contains(p.Sandboxes, sandboxName(one.sandbox))
		}
	}
	return false
}

// isConfigured reports whether a part is configured; for oauth, whether at least one platform is.
func (p *process) isConfigured(which httpx.Part) bool {
	switch which {
	case httpx.PartBilling:
		return p.StripeKey != ""
	case httpx.PartMail:
		return p.SMTPURL != ""
	case httpx.PartAI:
		return p.AIKey != "" || p.AIURL != ""
	default:
		apps, _, err := p.OAuth.splitApps()
		return err == nil && len(apps) > 0
	}
}

// notConfigured lists the parts that are neither configured nor replaced by a sandbox.
func (p *process) notConfigured() (lacks []httpx.Part) {
	for _, one := range allParts() {
		if !p.isConfigured(one.Part) && !p.mayStandIn(one.Part) {
			lacks = append(lacks, one.Part)
		}
	}
	return lacks
}

// usesSandbox reports whether the part's sandbox is in use; for oauth, for at least one platform.
func (p *process) usesSandbox(which httpx.Part) bool {
	if which == httpx.PartOAuth {
		_, without, err := p.OAuth.splitApps()
		return err == nil && len(without) > 0 && p.mayStandIn(which)
	}
	return !p.isConfigured(which) && p.mayStandIn(which)
}

// sayParts logs at the start which sandboxes are in use, and which parts are missing. Outside up either is worth a
// warning; up prints its sandboxes when it is ready.
func (p *process) sayParts(ctx context.Context, ops net.Listener) {
	level := slog.LevelWarn
	if p.name == "up" {
		level = slog.LevelDebug
	}

	var lacks, set []string

	for _, one := range allParts() {
		if !p.isConfigured(one.Part) && !p.mayStandIn(one.Part) {
			lacks = append(lacks, string(one.Part))
			set = append(set, one.set)
		}
		if !p.usesSandbox(one.Part) {
			continue
		}

		about := []any{"part", string(one.Part), "sandbox", one.sandbox}
		if one.page != "" && ops != nil {
			about = append(about, "page", listenerURL(ops)+one.page)
		}
		if one.Part == httpx.PartOAuth {
			_, without, _ := p.OAuth.splitApps()
			about = append(about, "platforms", strings.Join(without, " "))
		}

		p.log.Log(ctx, level, "a sandbox stands in for this part, and nothing that it does is real", about...)
	}

	if len(lacks) > 0 {
		p.log.WarnContext(ctx, "not configured: the operations of these parts answer 503 not_configured",
			"parts", strings.Join(lacks, " "), "settings", strings.Join(set, " "))
	}
}

// sandboxPage returns the URL of a sandbox's page on this process's ops listener, if it has one.
func sandboxPage(ops net.Listener, path string) string {
	if ops == nil {
		return path
	}
	return listenerURL(ops) + path
}
