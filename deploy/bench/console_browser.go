package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// pageLimit bounds one step in a page.
const pageLimit = 30 * time.Second

// chromium is a headless Chromium that reaches nothing but this machine.
type chromium struct {
	ctx     context.Context //nolint:containedctx // chromedp's handle of the browser
	profile string          // its directory
	console context.Context //nolint:containedctx // and of a tab that is signed in
	stop    []context.CancelFunc
}

func startChromium(ctx context.Context) (*chromium, error) {
	var binary string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			binary = at
			break
		}
	}
	if binary == "" {
		return nil, errors.New("no chromium: install it, such as by apt-get install chromium")
	}
	profile, err := os.MkdirTemp("", "bench-chromium-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(binary), chromedp.UserDataDir(profile),
		chromedp.Flag("remote-debugging-port", "0"), remote.WebSocket,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stop := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(allocated)
	b := &chromium{ctx: tab, profile: profile, stop: []context.CancelFunc{
		closeTab, stop,
		func() { _ = os.RemoveAll(profile) },
	}}
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		b.close()
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	return b, nil
}

func (b *chromium) close() {
	for _, stop := range b.stop {
		stop()
	}
}

// paintMarks runs before each page's own scripts: it notes when the content, the first rows and the largest paint came,
// in ms.
const paintMarks = `window.__bench = {ready: 0, rows: 0, paint: 0};
new MutationObserver(() => {
	if (!__bench.ready && document.querySelector('#main :is(h1, h2, form)')) __bench.ready = performance.now();
	if (!__bench.rows && document.querySelector('tbody tr[data-index]')) __bench.rows = performance.now();
}).observe(document, {childList: true, subtree: true});
new PerformanceObserver(list => {
	for (const entry of list.getEntries()) __bench.paint = entry.startTime;
}).observe({type: 'largest-contentful-paint', buffered: true});`

// tab opens a tab with cookies of its own.
func (b *chromium) tab() (context.Context, error) {
	tab, closeTab := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	b.stop = append([]context.CancelFunc{closeTab}, b.stop...)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1280, 800)); err != nil {
		return nil, err
	}
	_, err := chromedp.Call(tab, cdppage.AddScriptToEvaluateOnNewDocument,
		cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: paintMarks})
	return tab, err
}

// signIn opens a tab, signs a person in and leaves it at the console.
func (b *chromium) signIn(at, email string) (context.Context, error) {
	tab, err := b.tab()
	if err != nil {
		return nil, err
	}
	return tab, b.signInAt(tab, at, email)
}

// signInAt signs a person in at a tab and leaves it at the console.
func (b *chromium) signInAt(tab context.Context, at, email string) error {
	ctx, cancel := context.WithTimeout(tab, pageLimit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(at+"/login"),
		chromedp.SendKeys(chromedp.CSS("input[type=email]"), email),
		chromedp.SendKeys(chromedp.CSS("input[type=password]"), consolePassword+"\r")); err != nil {
		return err
	}
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => {
		const see = () => location.pathname.startsWith('/app') && document.querySelector('#main h1')
			? done(true) : setTimeout(see, 20);
		see();
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		text, _ := chromedp.Run(tab, chromedp.Evaluate[string]("location.href + document.body.innerText"))
		return fmt.Errorf("sign in: %w; the page shows %q", err, text)
	}
	return nil
}

// scripts opens a page in the signed-in tab and returns the addresses of the scripts and styles that it loaded before
// its content was there. What the page fetches afterwards, for the screens that may come next, is left out.
func (b *chromium) scripts(url string) ([]string, error) {
	ctx, cancel := context.WithTimeout(b.console, pageLimit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url),
		chromedp.WaitReady(chromedp.CSS("#main :is(h1, h2, form)"))); err != nil {
		return nil, fmt.Errorf("open %s: %w", url, err)
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]string](`performance.getEntriesByType('resource').filter(
		e => e.startTime <= __bench.ready).map(e => e.name).filter(n => /\.(js|css)$/.test(n))`))
}

// gzipSize returns the size of the files with gzip, without those in have, and adds them to have.
func gzipSize(ctx context.Context, files []string, have map[string]bool) (total int, err error) {
	for _, url := range files {
		if have[url] {
			continue
		}
		have[url] = true
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return 0, err
		}
		r.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return 0, err
		}
		n, err := io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("%s: %s, %w", url, res.Status, err)
		}
		total += int(n)
	}
	return total, nil
}

// loaded is when the largest paint and the first rows came, in ms since the navigation began.
type loaded struct {
	Paint float64 `json:"paint"`
	Rows  float64 `json:"rows"`
}

// load opens a page with rows and waits until it has painted them.
func (b *chromium) load(tab context.Context, url string) (loaded, error) {
	ctx, cancel := context.WithTimeout(tab, pageLimit)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url),
		chromedp.WaitReady(chromedp.CSS("tbody tr[data-index]"))); err != nil {
		text, _ := chromedp.Run(tab, chromedp.Evaluate[string]("document.body.innerText"))
		return loaded{}, fmt.Errorf("%w; the page shows %q", err, text)
	}
	return chromedp.Run(ctx, chromedp.Evaluate[loaded](`new Promise(done => requestAnimationFrame(() =>
		requestIdleCallback(() => done(__bench), {timeout: 2000})))`, chromedp.EvalAwaitPromise))
}

// scrolled is the duration of each frame in ms, the most rows in the page, and the index of the last row seen.
type scrolled struct {
	Gaps    []float64 `json:"gaps"`
	Most    int       `json:"most"`
	Reached int       `json:"reached"`
}

// scroll moves the list on by 15 rows in each frame, up to scrolledRows.
func (b *chromium) scroll(tab context.Context) (scrolled, error) {
	ctx, cancel := context.WithTimeout(tab, 3*pageLimit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[scrolled](`(async rows => {
		const box = document.querySelector('tbody tr[data-index]').closest('table').parentElement;
		const by = 15 * document.querySelector('tbody tr[data-index]').getBoundingClientRect().height;
		const out = {gaps: [], most: 0, reached: 0};
		const frame = () => new Promise(requestAnimationFrame);
		const end = performance.now() + 60000;
		for (let last = await frame(); out.reached < rows - 1 && last < end;) {
			box.scrollTop += by;
			const now = await frame();
			out.gaps.push(now - last);
			last = now;
			const all = document.querySelectorAll('tbody tr[data-index]');
			out.most = Math.max(out.most, all.length);
			const bottom = box.getBoundingClientRect().bottom;
			const seen = [...all].findLast(row => row.getBoundingClientRect().top < bottom);
			out.reached = Math.max(out.reached, Number(seen?.dataset.index ?? 0));
		}
		return out;
	})(`+strconv.Itoa(scrolledRows)+`)`, chromedp.EvalAwaitPromise))
}

// serveRows serves pages of plain rows without a script, compressed as the console's are: /N has N rows.
func serveRows(sizes ...int) *httptest.Server {
	pages := map[string]string{}
	for _, n := range sizes {
		var rows strings.Builder
		for i := range n {
			fmt.Fprintf(&rows, `<tr data-index="%d" style="height:40px"><td>Contact %d<td>contact%d@example.com`+
				`<td>lead<td>%d`, i, i, i, i%100)
		}
		pages["/"+strconv.Itoa(n)] = `<!doctype html><meta charset=utf-8><link rel=icon href=data:,><body>` +
			`<div style="height:700px;overflow:auto"><table><tbody>` + rows.String() + `</table></div>`
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, pages[r.URL.Path])
		_ = z.Close()
	}))
}
