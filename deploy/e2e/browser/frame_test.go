package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostileMails are mails that make a request to the address T, or run a script that posts "ran", where a page takes
// them as they are.
var hostileMails = []string{
	`<img src="T">`,
	`<img srcset="T 1x">`,
	`<picture><source srcset="T"><img></picture>`,
	`<input type="image" src="T">`,
	`<svg><image href="T"/></svg>`,
	`<svg><use href="T#a"/></svg>`,
	`<svg><style>@import "T";</style></svg>`,
	`<body background="T">`,
	`<table background="T"><tr><td background="T">x</table>`,
	`<p style="background:url(T)">x</p>`,
	`<p style="background:u\72l(T)">x</p>`,
	`<p style="background:image-set('T' 1x)">x</p>`,
	`<p style="list-style:url('T');display:list-item">x</p>`,
	`<p style="cursor:url(T),auto">x</p>`,
	`<style>@import url(T);</style>`,
	`<style>body{background:url(T)} p::before{content:url(T)} @font-face{font-family:x;src:url(T)} p{font-family:x}` +
		`</style><p>x`,
	`<link rel="stylesheet" href="T">`,
	`<link rel="prefetch" href="T"><link rel="preload" as="image" href="T"><link rel="icon" href="T">`,
	`<link rel="modulepreload" href="T">`,
	`<script src="T"></script>`,
	`<iframe src="T"></iframe>`,
	`<object data="T"></object><embed src="T">`,
	`<video src="T" poster="T" autoplay></video><audio src="T" autoplay></audio>`,
	`<video><source src="T"></video>`,
	`<meta http-equiv="refresh" content="0;url=T">`,
	`<base href="T"><img src="a">`,
	`<form action="T"><button autofocus>x</button></form><script>document.forms[0].submit()</script>`,
	`<noscript><img src="T"></noscript>`,
	`<template><img src="T"></template>`,
	`<frameset><frame src="T"></frameset>`,
	`<script>parent.postMessage('ran', '*')</script>`,
	`<img src="x:" onerror="parent.postMessage('ran', '*')">`,
	`<svg onload="parent.postMessage('ran', '*')"></svg>`,
	`<svg><animate onbegin="parent.postMessage('ran', '*')" attributeName="x" dur="1s"></svg>`,
	`<details open ontoggle="parent.postMessage('ran', '*')">x</details>`,
	`<input autofocus onfocus="parent.postMessage('ran', '*')">`,
	`<body onload="parent.postMessage('ran', '*')">`,
	`<iframe srcdoc="<script>top.postMessage('ran', '*')</script>"></iframe>`,
	`<object data="data:text/html,<script>top.postMessage('ran', '*')</script>"></object>`,
	`<math><mtext><table><mglyph><style><!--</style>` +
		`<img title="--><img src=x: onerror=parent.postMessage('ran','*')>">`,
	`<svg></p><style><a id="</style><img src=x: onerror=parent.postMessage('ran','*')>">`,
	`</title></textarea></style></script><img src=x: onerror=parent.postMessage('ran','*')>`,
	`<p style="width:expression(parent.postMessage('ran','*'))">x</p>`,
	`<a href="javascript:parent.postMessage('ran','*')" autofocus>x</a><script>document.links[0].click()</script>`,
	`<marquee onstart="parent.postMessage('ran', '*')">x</marquee>`,
}

// tracker counts the requests to its address.
func tracker(t *testing.T) (address string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/pixel", hits
}

// inFrames posts each mail to a frame of its own in the tab's page, and returns how many frames told the height of
// their mail, and what else they posted. It waits for a moment in which requests and scripts of the mails would begin.
const inFrames = `(async (mails, page) => {
	const others = [], told = new Set();
	addEventListener('message', event => {
		const frame = frames.find(one => one.contentWindow === event.source);
		if (event.data === 'ready' && frame) frame.contentWindow.postMessage(frame.mail, '*');
		else if (frame && event.data?.height > 0) told.add(frame);
		else others.push(String(event.data));
	});
	const frames = mails.map(mail => Object.assign(document.createElement('iframe'), {mail, src: page}));
	for (const frame of frames) {
		frame.sandbox = 'allow-scripts allow-popups allow-popups-to-escape-sandbox';
		document.body.append(frame);
	}
	const until = performance.now() + 20000;
	while (told.size < frames.length && performance.now() < until) await new Promise(done => setTimeout(done, 50));
	await new Promise(done => setTimeout(done, 500));
	for (const frame of frames) frame.remove();
	return {told: told.size, others};
})(%s, %q)`

type framed struct {
	Told   int      `json:"told"`
	Others []string `json:"others"`
}

func (b *browser) framed(tab context.Context, mails []string, target, page string) framed {
	b.Helper()
	quoted := make([]string, len(mails))
	for i, mail := range mails {
		quoted[i] = strconv.QuoteToASCII(strings.ReplaceAll(mail, "T", target))
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[framed](
		fmt.Sprintf(inFrames, "["+strings.Join(quoted, ",")+"]", page), chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return got
}

func TestAMailInItsFrameMakesNoRequestAndRunsNothing(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := serveConsole(t)
	tab := b.session()
	b.signIn(tab, s.api, "owner")
	target, hits := tracker(t)
	got := b.framed(tab, hostileMails, target, "/app/frame")
	if got.Told != len(hostileMails) || len(got.Others) > 0 || hits.Load() > 0 {
		t.Errorf("%d of %d mails were shown; they made %d requests and posted %q",
			got.Told, len(hostileMails), hits.Load(), got.Others)
	}
}

// The test above can fail: a frame that takes the mails as they are, without a policy.
func TestARequestAndAScriptOfAMailAreSeen(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/frame" {
			_, _ = w.Write([]byte("<!doctype html><link rel=icon href=data:,><body>"))
			return
		}
		_, _ = w.Write([]byte(`<!doctype html><body><script>addEventListener('message', event => {
			parent.postMessage({height: 1}, '*'); document.open(); document.write(event.data); document.close();
		}); parent.postMessage('ready', '*')</script>`))
	}))
	t.Cleanup(s.Close)
	tab := b.session()
	if err := chromedp.Do(tab, chromedp.Navigate(s.URL)); err != nil {
		t.Fatal(err)
	}
	target, hits := tracker(t)
	got := b.framed(tab, hostileMails, target, "/frame")
	if hits.Load() < 15 || len(got.Others) < 8 {
		t.Errorf("%d requests and %d scripts were seen", hits.Load(), len(got.Others))
	}
}
