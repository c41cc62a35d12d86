package branding

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Hosts maps hosts to orgs from memory: a look-up needs no round trip and no database. Every process sees a change
// within a second of its commit. Changes are numbered in commit order (see migrations), so following the numbers misses
// none; in addition, the whole table is read periodically.
//
// Hosts also writes a snapshot file, so that a process that starts while the database is unavailable uses the last
// known state. An unknown host has no org.
type Hosts struct {
	HostsOptions
	state atomic.Pointer[hostTable] // immutable; replaced as a whole
}

// HostsOptions are the dependencies of Hosts.
type HostsOptions struct {
	System *postgres.DB
	File   string // path of the snapshot; "": none
	Log    *slog.Logger
}

// hostTable is an immutable state of the table.
type hostTable struct {
	version int64 // of the newest change
	hosts   map[string]hostEntry
	heard   time.Time // last read of the database; zero: never
}

// hostEntry is a served host.
type hostEntry struct {
	Org    id.ID  `json:"org"`
	Domain id.ID  `json:"domain"`
	Status Status `json:"status"`
}

// Intervals and timeout of following the database.
const (
	followEach = 400 * time.Millisecond
	readAnew   = 10 * time.Minute
	followTime = 5 * time.Second
)

// NewHosts returns Hosts with the snapshot's state, until Load or Run has read the database.
func NewHosts(o HostsOptions) *Hosts {
	h := &Hosts{HostsOptions: o}
	h.state.Store(&hostTable{hosts: map[string]hostEntry{}})
	if o.File != "" {
		if t, err := readSnapshot(o.File); err != nil {
			o.Log.Warn("reading the snapshot of custom domains failed; no host is known until the database responds",
				"file", o.File, "error", err)
		} else if t != nil {
			h.state.Store(t)
		}
	}

	return h
}

// Collect registers metrics of the number of hosts and of the time since the last read of the database.
func (h *Hosts) Collect(metrics prometheus.Registerer) {
	served := func() float64 { return float64(h.Len()) }
	age := func() float64 {
		if t := h.state.Load(); !t.heard.IsZero() {
			return time.Since(t.heard).Seconds()
		}
		return -1
	}
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "funnelwork_domains_served",
			Help: "Custom domains that this process serves.",
		}, served),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "funnelwork_domains_refresh_age_seconds",
			Help: "Seconds since this process last read the custom domains; -1: never.",
		}, age),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "funnelwork_domains_heard_seconds",
			Help: "Deprecated: use funnelwork_domains_refresh_age_seconds.",
		}, age))
}

// Org returns the org that is served under host, a lower-case name without a port. It returns false for an unknown
// host.
func (h *Hosts) Org(host string) (id.ID, bool) {
	e, ok := h.state.Load().hosts[host]
	return e.Org, ok
}

// Serves reports whether a certificate may be issued for a name, in any case, with or without a trailing dot.
func (h *Hosts) Serves(name string) bool {
	if len(name) > hostMax+1 {
		return false
	}
	_, ok := h.state.Load().hosts[strings.ToLower(strings.TrimSuffix(name, "."))]
	return ok
}

// Len returns the number of hosts.
func (h *Hosts) Len() int { return len(h.state.Load().hosts) }

// Load reads the whole table from the database.
func (h *Hosts) Load(ctx context.Context) error { return h.readChanges(ctx, true) }

// Run follows the database until ctx is done. While the database is unavailable, it keeps the known hosts and logs one
// warning.
func (h *Hosts) Run(ctx context.Context) error {
	tick := time.NewTicker(followEach)
	defer tick.Stop()

	var whole time.Time
	away := false
	for {
		anew := time.Since(whole) >= readAnew
		err := h.readChanges(ctx, anew)
		switch {
		case err == nil && anew:
			whole = time.Now()
		case err != nil && !away && ctx.Err() == nil:
			h.Log.WarnContext(ctx, "reading custom domains failed; the known hosts are still served", "hosts", h.Len(),
				"error", err)
		}

		away = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

const (
	feedSQL  = `SELECT id, org_id, host, status, changed FROM domain WHERE changed > $1 ORDER BY changed`
	wholeSQL = `SELECT id, org_id, host, status, changed FROM domain WHERE held ORDER BY changed`
)

type hostChange struct {
	ID, Org id.ID
	Host    string
	Status  Status
	Changed int64
}

// readChanges applies new changes, or reads the whole table. The version of a whole read is that of the newest held
// host, so removals after it are read again, which has no effect.
func (h *Hosts) readChanges(ctx context.Context, whole bool) error {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()

	was := h.state.Load()
	now := &hostTable{version: was.version, hosts: was.hosts, heard: time.Now()}
	var changes []hostChange
	err := h.System.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		sql := feedSQL
		args := []any{was.version}
		if whole {
			now.version = 0
			now.hosts = map[string]hostEntry{}
			sql = wholeSQL
			args = nil
		}

		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}

		changes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[hostChange])

		return err
	})
	if err != nil {
		return fmt.Errorf("read domains: %w", err)
	}

	if len(changes) > 0 && !whole {
		now.hosts = maps.Clone(was.hosts)
	}

	for _, c := range changes {
		now.applyChange(c)
	}

	h.state.Store(now)
	if h.File != "" && (len(changes) > 0 && !whole || !maps.Equal(was.hosts, now.hosts)) {
		if err := writeSnapshot(h.File, now); err != nil {
			h.Log.WarnContext(ctx,
				"writing the snapshot of custom domains failed; a start without the database would use older "+
					"ones", "error", err)
		}
	}

	return nil
}

// applyChange applies the change of one claim. The end of a claim removes the host only if the host belongs to that
// claim.
func (t *hostTable) applyChange(c hostChange) {
	t.version = max(t.version, c.Changed)
	if c.Status.Served() {
		t.hosts[c.Host] = hostEntry{Org: c.Org, Domain: c.ID, Status: c.Status}
	} else if t.hosts[c.Host].Domain == c.ID {
		delete(t.hosts, c.Host)
	}
}

// Names returns the known hosts, sorted.
func (h *Hosts) Names() []string { return slices.Sorted(maps.Keys(h.state.Load().hosts)) }
