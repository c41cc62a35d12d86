package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	tracedRounds   = 7
	tracedContacts = 1000 // of one measured turn
	tracedWarm     = 200  // before it, by each process
	// tracedOrgs is enough that an org's rate limit, which is on, has its room again when its turn comes.
	tracedOrgs = 500
	// untracedPlaces is more than the places that look for a span in a contact's way from its POST to its delivery:
	// the request, its histogram, each transaction, the job, its histograms and the webhook's attempt.
	untracedPlaces = 40
	// tracedRows is the rows of a contact's way with a column traceparent: an event, a delivery and a job.
	tracedRows = 3
)

// tracing is a mode of the service.
type tracing struct {
	name  string
	share string // of the traces that are recorded; "": no collector
}

func tracings() []tracing { return []tracing{{"off", ""}, {"1 %", "0.01"}, {"100 %", "1"}} }

// traced is what one turn measured, in microseconds of processor for each contact.
type traced struct {
	post, way         float64
	exported, dropped float64 // spans of a contact, in the whole turn
}

// traces measures what tracing costs: the processor time of POST contact, and of a contact's way to its delivery,
// without a collector, with one that gets 1 % of the traces, and with one that gets all. The turns of the modes
// alternate, each with processes of its own on the same servers. The collector is in this process and discards.
func traces(ctx context.Context, log *slog.Logger) error {
	w, err := newWorld(ctx, log, tracedOrgs)
	if err != nil {
		return err
	}
	defer w.close()
	s, err := prepareWay(ctx, w, tracedContacts)
	if err != nil {
		return err
	}
	sink, err := startCollector(ctx)
	if err != nil {
		return err
	}
	defer sink.close()
	modes := tracings()
	got := make([][]traced, len(modes))
	for round := range tracedRounds + 1 {
		for _, i := range rand.Perm(len(modes)) {
			t, err := s.tracedTurn(ctx, modes[i], sink)
			if err != nil {
				return fmt.Errorf("tracing %s: %w", modes[i].name, err)
			}
			if round > 0 { // the first one warms up
				got[i] = append(got[i], t)
			}
		}
	}
	printTraced(modes, got)
	return s.untraced(ctx, spreadOf(each(got[0], func(t traced) float64 { return t.way })).mid)
}

// tracedTurn starts an API, measures POSTs, adds a worker, and measures whole ways.
func (s *way) tracedTurn(ctx context.Context, mode tracing, sink *collector) (t traced, err error) {
	var settings []string
	if mode.share != "" {
		settings = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + sink.url, "OTEL_TRACES_SAMPLER_ARG=" + mode.share}
	}
	if s.api, err = s.start(ctx, "api", settings...); err != nil {
		return t, err
	}
	defer s.api.stop()
	s.known = known{api: s.api.cmd.Process.Pid}
	if err := s.known.servers(ctx, s.admin, s.redis.URL); err != nil {
		return t, err
	}
	if err := s.sized(ctx, tracedWarm, s.posted); err != nil {
		return t, err
	}
	before := s.usage(ctx)
	if err := s.posted(ctx); err != nil {
		return t, err
	}
	t.post = s.usage(ctx).minus(before).Seconds() * 1e6 / tracedContacts
	if err := errors.Join(s.forget(ctx), s.clear(ctx)); err != nil { // the jobs of these contacts
		return t, err
	}
	if s.worker, err = s.start(ctx, "worker", settings...); err != nil {
		return t, err
	}
	defer s.worker.stop()
	s.known.worker = s.worker.cmd.Process.Pid
	warm := func(ctx context.Context) error {
		s.receiver.reset()
		return errors.Join(s.through(ctx), s.settled(ctx), s.clear(ctx))
	}
	if err := s.sized(ctx, tracedWarm, warm); err != nil {
		return t, err
	}
	p, err := s.measured(ctx, s.through)
	if err != nil {
		return t, err
	}
	t.way = p.cpu.Seconds() * 1e6 / tracedContacts
	if mode.share != "" {
		if err := s.counted(ctx, &t, s.api, s.worker); err != nil {
			return t, err
		}
	}
	return t, s.clear(ctx)
}

// sized runs a turn of n contacts.
func (s *way) sized(ctx context.Context, n int, run func(context.Context) error) error {
	usual := s.n
	defer func() { s.n = usual }()
	s.n = n
	return run(ctx)
}

// posted posts the contacts of a turn.
func (s *way) posted(ctx context.Context) error {
	post := newClients(s.api.addr, wayClients).poster(s.crowd)
	return s.all(func(worker int) error { return post(ctx, worker) })
}

// counted adds the spans that processes have exported and dropped. It waits until the last batch is on its way.
func (s *way) counted(ctx context.Context, t *traced, of ...*process) error {
	const contacts = 2 * (tracedContacts + tracedWarm)
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	for _, p := range of {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.ops+"/metrics", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), " ")
			n, _ := strconv.ParseFloat(value, 64)
			switch base, _, _ := strings.Cut(name, "{"); base {
			case "funnelwork_trace_spans_exported_total":
				t.exported += n / contacts
			case "funnelwork_trace_spans_dropped_total":
				t.dropped += n / contacts
			}
		}
		_ = res.Body.Close()
	}
	return nil
}

func printTraced(modes []tracing, got [][]traced) {
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%d alternating rounds of %d contacts, median [quartiles]; load %s\n", len(got[0]), tracedContacts,
		strings.TrimSpace(string(load)))
	post := func(t traced) float64 { return t.post }
	way := func(t traced) float64 { return t.way }
	over := func(i int, of func(traced) float64) spread {
		ratio := make([]float64, len(got[i]))
		for round := range ratio {
			ratio[round] = of(got[i][round]) / of(got[0][round])
		}
		return spreadOf(ratio)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "tracing\tPOST, us of processor\tof off\tthe whole way, us\tof off\tspans a contact\tdropped")
	for i, mode := range modes {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\n", mode.name, spreadOf(each(got[i], post)), over(i, post),
			spreadOf(each(got[i], way)), over(i, way),
			spreadOf(each(got[i], func(t traced) float64 { return t.exported })).mid,
			spreadOf(each(got[i], func(t traced) float64 { return t.dropped })).mid)
	}
	_ = out.Flush()
	verdict(os.Stdout, "1 % of the traces cost at most 5 % of POST contact", over(1, post).mid <= 1.05,
		over(1, post).String())
	verdict(os.Stdout, "1 % of the traces cost at most 5 % of a contact's way", over(1, way).mid <= 1.05,
		over(1, way).String())
}

// untraced prints what the places that trace cost while nothing is traced, as a share of the processor time of a
// contact's way: by this code's benchmark, and by the rows' default in Postgres. Two builds differ by more than that in
// any two runs.
func (s *way) untraced(ctx context.Context, way float64) error {
	place, err := untracedPlace(ctx)
	if err != nil {
		return err
	}
	const rows = 1_000_000
	took := func(value string) (time.Duration, error) {
		began := time.Now()
		_, err := s.admin.Exec(ctx, fmt.Sprintf("SELECT count(%s) FROM generate_series(1, %d)", value, rows))
		return time.Since(began), err
	}
	var row []float64
	for range tracedRounds {
		bare, err := took("NULL::text")
		if err != nil {
			return err
		}
		column, err := took("nullif(current_setting('app.traceparent', true), '')")
		if err != nil {
			return err
		}
		row = append(row, float64((column-bare).Nanoseconds())/rows)
	}
	perRow := spreadOf(row)
	us := (place*untracedPlaces + perRow.mid*tracedRows) / 1e3
	fmt.Printf("tracing off: a place %.1f ns, a row's column %s ns; %d places and %d rows are %.2f us\n", place, perRow,
		untracedPlaces, tracedRows, us)
	verdict(os.Stdout, "tracing that is off costs less than 1 % of a contact's way", us < way/100,
		fmt.Sprintf("%.3f %%", 100*us/way))
	return nil
}

// untracedPlace runs the benchmark of the product's tree and returns the nanoseconds of the slower place.
func untracedPlace(ctx context.Context) (slowest float64, err error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", product).Output()
	if err != nil {
		return 0, fmt.Errorf("find the product's module: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "BenchmarkNotTraced", "-count", "5",
		"./internal/telemetry/spans")
	cmd.Dir = strings.TrimSpace(string(root))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("benchmark: %w\n%s", err, out)
	}
	took := map[string][]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") || f[3] != "ns/op" {
			continue
		}
		ns, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return 0, err
		}
		took[f[0]] = append(took[f[0]], ns)
	}
	for _, ns := range took {
		slowest = max(slowest, spreadOf(ns).mid)
	}
	if len(took) == 0 {
		return 0, fmt.Errorf("the benchmark printed no figures:\n%s", out)
	}
	return slowest, nil
}

// collector is an OpenTelemetry collector that discards.
type collector struct {
	url    string
	server *http.Server
}

func startCollector(ctx context.Context) (*collector, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &collector{url: "http://" + ln.Addr().String()}
	c.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		})}
	go func() { _ = c.server.Serve(ln) }()
	return c, nil
}

func (c *collector) close() { _ = c.server.Close() }
