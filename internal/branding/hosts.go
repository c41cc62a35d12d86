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

// Hosts knows which org is shown under which host, from memory: an answer costs no round trip and needs no database. A
// change is known to every process within a second of its commit. Each change has a number, in the order of the commits
// (see migrations), so that following them misses nothing; and now and then everything is read anew.
//
// What it knows is also kept in a file, so that a process which starts while the database is away goes on where the last
// one ended. A host that is not known has no org.
type Hosts struct {
	HostsOptions
	state atomic.Pointer[hostTable] // never changed, only replaced
}

// HostsOptions are what Hosts needs.
type HostsOptions struct {
	System *postgres.DB
	File   string // of the snapshot; "" for none
	Log    *slog.Logger
}

// hostTable is what was known at a moment.
type hostTable struct {
	version int64 // of the newest change in it
	hosts   map[string]hostEntry
	heard   time.Time // of the database; zero: never
}

// hostEntry is a host that is served.
type hostEntry struct {
	Org    id.ID  `json:"org"`
	Domain id.ID  `json:"domain"`
	Status Status `json:"status"`
}

// Times of following.
const (
	followEach = 400 * time.Millisecond
	readAnew   = 10 * time.Minute
	followTime = 5 * time.Second
)

// NewHosts knows what the file says, until Load or Run has heard the database.
func NewHosts(o HostsOptions) *Hosts {
	h := &Hosts{HostsOptions: o}
	h.state.Store(&hostTable{hosts: map[string]hostEntry{}})
	if o.File != "" {
		if t, err := readSnapshot(o.File); err != nil {
			o.Log.Warn("the snapshot of custom domains cannot be read: none is known until the database has answered", "file", o.File, "error", err)
		} else if t != nil {
			h.state.Store(t)
		}
	}
	return h
}

// Collect shows how many hosts are known, and how long ago the database was last heard.
func (h *Hosts) Collect(metrics prometheus.Registerer) {
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "funnelwork_domains_served", Help: "Custom domains that this process shows pages and lets certificates be given for."},
			func() float64 { return float64(h.Len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "funnelwork_domains_heard_seconds", Help: "Seconds since this process last read the changes of custom domains; -1: never."},
			func() float64 {
				if t := h.state.Load(); !t.heard.IsZero() {
					return time.Since(t.heard).Seconds()
				}
				return -1
			}))
}

// Org is the org whose pages are shown under host: a name in lower case, without port. False for every other host.
func (h *Hosts) Org(host string) (id.ID, bool) {
	e, ok := h.state.Load().hosts[host]
	return e.Org, ok
}

// Serves tells whether a certificate may be given for a name, in any case, with or without the dot at its end.
func (h *Hosts) Serves(name string) bool {
	if len(name) > hostMax+1 {
		return false
	}
	_, ok := h.state.Load().hosts[strings.ToLower(strings.TrimSuffix(name, "."))]
	return ok
}

// Len is how many hosts are known.
func (h *Hosts) Len() int { return len(h.state.Load().hosts) }

// Load reads everything from the database.
func (h *Hosts) Load(ctx context.Context) error { return h.read(ctx, true) }

// Run follows the database until ctx ends. Its silence is logged once, and changes nothing.
func (h *Hosts) Run(ctx context.Context) error {
	tick := time.NewTicker(followEach)
	defer tick.Stop()
	var whole time.Time
	away := false
	for {
		anew := time.Since(whole) >= readAnew
		err := h.read(ctx, anew)
		switch {
		case err == nil && anew:
			whole = time.Now()
		case err != nil && !away && ctx.Err() == nil:
			h.Log.WarnContext(ctx, "custom domains cannot be followed: what is known goes on", "hosts", h.Len(), "error", err)
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

// read applies what is new, or begins with nothing. A whole read has its number from the hosts that are held: a removal
// after the last of them is read once more, and changes nothing.
func (h *Hosts) read(ctx context.Context, whole bool) error {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	was := h.state.Load()
	now := &hostTable{version: was.version, hosts: was.hosts, heard: time.Now()}
	var changes []hostChange
	err := h.System.View(ctx, id.ID{}, func(tx *postgres.Tx) error {
		sql, args := feedSQL, []any{was.version}
		if whole {
			now.version, now.hosts = 0, map[string]hostEntry{}
			sql, args = wholeSQL, nil
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
		now.apply(c)
	}
	h.state.Store(now)
	if h.File != "" && (len(changes) > 0 && !whole || !maps.Equal(was.hosts, now.hosts)) {
		if err := writeSnapshot(h.File, now); err != nil {
			h.Log.WarnContext(ctx, "the snapshot of custom domains cannot be written: a start without the database would know older ones", "error", err)
		}
	}
	return nil
}

// apply lets one claim's change take effect. The end of a claim ends the host only while it is still that claim's.
func (t *hostTable) apply(c hostChange) {
	t.version = max(t.version, c.Changed)
	if c.Status.Served() {
		t.hosts[c.Host] = hostEntry{Org: c.Org, Domain: c.ID, Status: c.Status}
	} else if t.hosts[c.Host].Domain == c.ID {
		delete(t.hosts, c.Host)
	}
}

// Names are the hosts that are known, in order.
func (h *Hosts) Names() []string { return slices.Sorted(maps.Keys(h.state.Load().hosts)) }
