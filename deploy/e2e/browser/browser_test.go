package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds the wait for a page, and for the start of Chromium.
const patience = 2 * time.Minute

// browser is a Chromium.
type browser struct {
	*testing.T
	tab context.Context // of its first tab
}

// newBrowser starts Chromium. Its name service knows only this machine, so that a foreign request never leaves it.
// Without Chromium the test is skipped, or fails in CI.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	var binary string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			binary = at
			break
		}
	}
	if binary == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium: install it, such as by apt-get install chromium")
		}
		t.Skip("NOT TESTED: no chromium; apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(binary),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.WSURLReadTimeout(patience))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocated)
	t.Cleanup(closeTab)
	b := &browser{t, tab}
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil { // starts Chromium
		t.Fatal(err)
	}
	return b
}

// links returns the addresses of a page's links.
func (b *browser) links(at string) []string {
	b.Helper()
	if err := chromedp.Do(b.tab, chromedp.Navigate(at)); err != nil {
		b.Fatal(err)
	}
	links, err := chromedp.Run(b.tab, chromedp.Evaluate[[]string](`[...document.links].map(a => a.href)`))
	if err != nil {
		b.Fatal(err)
	}
	return links
}

// visit opens a page in a new tab and waits until it has an element of selector and is idle. It returns what went
// wrong: each request to another host, each violation of a policy, each error on the console and each exception of a
// script.
func (b *browser) visit(at, selector string) []string {
	b.Helper()
	tab, closeTab := chromedp.NewContext(b.tab)
	defer closeTab()
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		b.Fatal(err)
	}
	return b.visitIn(tab, at, selector)
}

// visitIn is visit in a tab that is open.
func (b *browser) visitIn(tab context.Context, at, selector string) []string {
	b.Helper()
	w, err := newWatch(at)
	if err != nil {
		b.Fatal(err)
	}
	watched, unwatch := context.WithCancel(tab)
	defer unwatch()
	if err := errors.Join(enable(tab), chromedp.Listen(watched, w.see)); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(at), chromedp.WaitReady(chromedp.CSS(selector))); err != nil {
		shown, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText`))
		return append(w.found(), fmt.Sprintf("wait for %s: %v; the page shows %q", selector, err, shown))
	}
	if strings.Contains(at, "/app/") { // its event stream stays open, so that the network is never idle
		return w.found()
	}
	select {
	case <-w.idle:
		return w.found()
	case <-ctx.Done():
		return append(w.found(), "is never idle")
	}
}

// enable makes the tab send the events of a watch.
func enable(tab context.Context) error {
	_, err1 := chromedp.Call(tab, network.Enable, network.EnableParams{})
	_, err2 := chromedp.Call(tab, log.Enable, cdp.Empty{})
	_, err3 := chromedp.Call(tab, runtime.Enable, cdp.Empty{})
	_, err4 := chromedp.Call(tab, page.Enable, page.EnableParams{})
	_, err5 := chromedp.Call(tab, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true})
	return errors.Join(err1, err2, err3, err4, err5)
}

// watch collects what goes wrong on a page.
type watch struct {
	at      string
	host    string
	idle    chan struct{} // closed when the page has made no request for half a second
	mu      sync.Mutex
	wrong   []string
	started bool
	ended   bool
}

func newWatch(at string) (*watch, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	return &watch{at: at, host: u.Host, idle: make(chan struct{})}, nil
}

func (w *watch) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

// see records one event of the tab.
func (w *watch) see(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *page.EventLifecycleEvent:
		if w.started && !w.ended && e.Name == "networkIdle" {
			w.ended = true
			close(w.idle)
		}
	case *network.EventRequestWillBeSent:
		w.started = w.started || e.Request.URL == w.at
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != w.host && u.Scheme != "data" && u.Scheme != "blob" {
			w.wrong = append(w.wrong, "requests "+e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		w.wrong = append(w.wrong, "opens "+e.URL)
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			w.wrong = append(w.wrong, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		w.wrong = append(w.wrong, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			w.wrong = append(w.wrong, fmt.Sprintf("logs %s %v", e.Type, e.Args))
		}
	}
}

// readyLine and opsLine are in what up prints at its first start.
var (
	readyLine = regexp.MustCompile(`(?m)^ready: (http://\S+)`)
	opsLine   = regexp.MustCompile(`(?m)^\s+operations\s+(http://\S+?)/?$`)
)

// server is a running up.
type server struct {
	binary, dir string
	env         []string
	api, ops    string // addresses
}

// serve starts "up" in a new home, and returns the addresses of its API and of its operations.
func serve(t *testing.T) (api, ops string) {
	t.Helper()
	s := start(t)
	return s.api, s.ops
}

// start starts "up" with flags in a new home, which has no users yet.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	return startWith(t, nil, flags...)
}

// startWith is start with more environment variables.
func startWith(t *testing.T, env []string, flags ...string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fw-browser-") //nolint:usetesting // short enough for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &server{binary: built(t), dir: dir}
	inhabit(t, filepath.Join(dir, "home"))
	s.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "FUNNELWORK_HOME=" + filepath.Join(dir, "home"),
		"FUNNELWORK_LOG_LEVEL=error", "FUNNELWORK_WEBHOOK_ALLOW_PRIVATE=true",
	}, env...)
	args := append([]string{"up", "--addr", "127.0.0.1:0", "--ops-addr", "127.0.0.1:0"}, flags...)
	up := exec.CommandContext(context.WithoutCancel(t.Context()), s.binary, args...)
	up.Dir, up.Stderr, up.Env = dir, os.Stderr, s.env
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Process.Signal(syscall.SIGINT)
		_, _ = io.Copy(io.Discard, out)
		_ = up.Wait()
	})
	var block strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		block.WriteString(lines.Text() + "\n")
		ready, operations := readyLine.FindStringSubmatch(block.String()), opsLine.FindStringSubmatch(block.String())
		if ready != nil && operations != nil {
			s.api, s.ops = ready[1], operations[1]
			return s
		}
	}
	t.Fatalf("up printed %q", block.String())
	return nil
}
