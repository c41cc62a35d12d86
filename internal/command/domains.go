package command

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs"
)

// customDomains opens the orgs' custom domains. Every role must have the same CNAME target.
func (p *process) customDomains() error {
	at, err := url.Parse(cmp.Or(p.PublicURL, "http://"+p.Addr))
	if err != nil {
		return fmt.Errorf("FUNNELWORK_PUBLIC_URL: %w", err)
	}

	own := strings.ToLower(at.Hostname())
	if ip, err := netip.ParseAddr(own); own == "" || err == nil && (ip.IsUnspecified() || ip.IsLoopback()) {
		own = "localhost"
	}

	views, err := branding.Views(p.DNSResolvers, outbound.Public())
	if err != nil {
		return fmt.Errorf("FUNNELWORK_DNS_RESOLVERS: %w", err)
	}

	p.domains = jobs.Domains(branding.DomainOptions{
		System: p.system,
		Target: strings.ToLower(strings.TrimSuffix(cmp.Or(p.DomainTarget, own), ".")), Own: []string{own},
		Views: views,
	})

	return nil
}

// hostsSnapshot returns the custom domains that an earlier process stored.
func (p *process) hostsSnapshot() *branding.Hosts {
	return branding.NewHosts(branding.HostsOptions{
		System: p.system,
		File:   cmp.Or(p.HostsFile, filepath.Join(p.Home, "hosts.json")), Log: p.log,
	})
}

// followHosts keeps the list of served custom domains up to date.
func (p *process) followHosts(ctx context.Context) {
	p.hosts = p.hostsSnapshot()
	p.hosts.Collect(p.metrics)
	if err := p.hosts.Load(ctx); err != nil {
		p.log.WarnContext(ctx, "custom domains are those of the last process until the database answers", "error", err)
	}
	p.tasks = append(p.tasks, p.hosts.Run)
}

// awaitDatabase serves an API with custom domains while the database is unavailable: it answers the TLS server in
// front, which would otherwise refuse handshakes. Without custom domains it returns the error, as every role does.
func (p *process) awaitDatabase(ctx context.Context, public, listener net.Listener) error {
	_, err := postgres.Check(ctx, p.DatabaseURL)
	if err == nil || p.name != "api" || !postgres.Lost(err) {
		return err
	}

	known := p.hostsSnapshot()
	if known.Len() == 0 {
		return err
	}

	p.log.WarnContext(ctx, "the database is away: waiting for it, and answering for certificates meanwhile", "hosts",
		known.Len(), "error", err)
	unready := ops.Unready(ops.Options{
		User: p.OpsUser, Password: p.OpsPassword, Hosts: p.OpsHosts,
		Serves: known.Serves,
	})

	return ops.ServeUntil(ctx, listener, unready, func(ctx context.Context) error {
		return ops.ServeUntil(ctx, public, ops.Away(), func(ctx context.Context) error {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()

			for err := err; ; _, err = postgres.Check(ctx, p.DatabaseURL) {
				if err == nil || !postgres.Lost(err) {
					return err
				}

				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-tick.C:
				}
			}
		})
	})
}
