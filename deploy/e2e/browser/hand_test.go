package browser

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys that have no letter.
const (
	enter  = "\r"
	tabKey = "\t"
)

// mostTabs is how often Tab is pressed in search of an element before the test fails: more than any page has elements.
const mostTabs = 160

// helpers are functions of the page: nameOf is an element's name as a screen reader has it, visible reports whether an
// element is seen, byName finds the first visible control with a name.
const helpers = `(() => {
	const flat = text => (text ?? '').replace(/\s+/g, ' ').trim();
	const visible = e => e.checkVisibility({visibilityProperty: true}) && e.getBoundingClientRect().width > 0;
	const nameOf = e => flat(e.getAttribute('aria-label')) ||
		flat((e.getAttribute('aria-labelledby') ?? '').split(' ')
			.map(id => document.getElementById(id)?.textContent).join(' ')) ||
		flat([...(e.labels ?? [])].map(l => l.textContent).join(' ')) || flat(e.textContent) || flat(e.title);
	const controls = 'a, button, input, select, textarea, [role=menuitem], [role=menuitemradio], ' +
		'[role=checkbox], [role=combobox], [role=option], [role=tab], [role=treeitem]';
	const byName = name => [...document.querySelectorAll(controls)].find(e => visible(e) && nameOf(e).startsWith(name));
	window.__hand = {nameOf, visible, byName};
	return true;
})()`

// hand uses a page as a person does, by the keyboard or by the mouse.
type hand struct {
	*testing.T
	tab    context.Context
	clicks int
}

// do takes steps, which together take less than patience.
func (h *hand) do(steps ...chromedp.Action[chromedp.Void]) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		h.Fatalf("%v, at %s", err, h.page())
	}
}

// page describes the page for a failure: its address, the element that has the focus, and its text.
func (h *hand) page() string {
	ctx, cancel := context.WithTimeout(h.tab, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + '\nfocus: ' +
		document.activeElement?.outerHTML.slice(0, 200) + '\n' + document.body.innerText.slice(0, 2000)`))
	if err != nil {
		return err.Error()
	}
	return text
}

// ask evaluates an expression in the page.
func ask[T any](h *hand, expression string) T {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.tab, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		h.Fatalf("%s: %v, at %s", expression, err, h.page())
	}
	return got
}

// open opens a page by its address and waits until it has an element of the selector.
func (h *hand) open(at, ready string) {
	h.Helper()
	h.do(chromedp.Navigate(at), chromedp.WaitReady(chromedp.CSS(ready)))
	ask[bool](h, helpers)
}

// wait waits until an expression is true, in the page that is open or in one that replaces it.
func (h *hand) wait(expression string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.tab, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, until(expression))
		if err == nil {
			return
		}
		if ctx.Err() != nil || !strings.Contains(err.Error(), "navigated") {
			h.Fatalf("wait for %s: %v, at %s", expression, err, h.page())
		}
	}
}

// see waits until the page shows a text.
func (h *hand) see(text string) {
	h.Helper()
	h.wait(`document.body.innerText.includes(` + strconv.Quote(text) + `)`)
}

// press presses the keys of texts, one after the other.
func (h *hand) press(keys ...string) {
	h.Helper()
	for _, key := range keys {
		for _, r := range key {
			h.do(stroke(r))
		}
	}
}

// stroke presses one key as a keyboard does: the character is part of the key's press, so that a page which prevents
// the press gets no character.
func stroke(r rune) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var text string
		parts := kb.Encode(r)
		for _, part := range parts {
			if part.Type == kb.KeyChar {
				text = part.Text
			}
		}
		for _, part := range parts {
			if part.Type == kb.KeyChar {
				continue
			}
			if part.Type == kb.KeyDown {
				part.Text, part.UnmodifiedText = text, text
			}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *part); err != nil {
				return err
			}
		}
		return nil
	})
}

// chord presses a key together with Ctrl.
func (h *hand) chord(key string) {
	h.Helper()
	h.do(chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}

// to presses Tab until the element that has the focus has a name that begins so.
func (h *hand) to(name string) {
	h.Helper()
	h.wait(`__hand.byName(` + strconv.Quote(name) + `) !== undefined`)
	if err := h.reach(name, mostTabs); err != nil {
		h.Fatalf("%v, at %s", err, h.page())
	}
}

// back presses Shift and Tab until the element that has the focus has a name that begins so.
func (h *hand) back(name string) {
	h.Helper()
	for range mostTabs {
		if strings.HasPrefix(ask[string](h, `__hand.nameOf(document.activeElement)`), name) {
			return
		}
		h.do(chromedp.KeyEvent(tabKey, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	h.Fatalf("Shift and Tab do not reach %q, at %s", name, h.page())
}

// reach presses Tab at most that often until the element that has the focus has a name that begins so.
func (h *hand) reach(name string, most int) error {
	h.Helper()
	var seen []string
	for range most {
		at := ask[string](h, `__hand.nameOf(document.activeElement).slice(0, 80)`)
		if strings.HasPrefix(at, name) && len(seen) > 0 {
			return nil
		}
		seen = append(seen, at)
		h.press(tabKey)
	}
	return fmt.Errorf("Tab does not reach %q, but %q", name, seen)
}

// click clicks the control with a name, and counts it.
func (h *hand) click(name string) {
	h.Helper()
	h.clickAt(fmt.Sprintf(`__hand.byName(%q)`, name))
}

// clickAt clicks the middle of the element that an expression returns, and counts it.
func (h *hand) clickAt(expression string) {
	h.Helper()
	h.wait(`(` + expression + `) != null`)
	at := ask[[]float64](h, `(() => { const e = `+expression+`; e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	h.do(chromedp.MouseClickXY(at[0], at[1]))
	h.clicks++
}

// withHand runs the tests that work through whole screens, which take minutes: .ci/full sets it.
var withHand = flag.Bool("hand", false, "work through every screen by keyboard and mouse, and the sessions of tabs")

// byHand skips a test unless -hand is set.
func byHand(t *testing.T) {
	t.Helper()
	if !*withHand {
		t.Skip("-hand is not set; .ci/full sets it")
	}
}
