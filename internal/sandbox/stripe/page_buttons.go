package stripe

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// pressButton executes a button and redirects back to its page.
func (s *Sandbox) pressButton(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form could not be read", http.StatusBadRequest)
		return
	}

	back, err := url.Parse(r.PostForm.Get("back"))
	if err != nil || back.Host != "" || back.Scheme != "" || !strings.HasPrefix(back.Path, Path) {
		back = &url.URL{Path: Path}
	}

	q := back.Query()
	q.Del("note")
	if note := s.executeButton(r); note != "" {
		q.Set("note", note)
	}

	back.RawQuery = q.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther) //nolint:gosec // a path below ours, as checked above
}

// executeButton executes a button and returns the message to show, or "" for none.
func (s *Sandbox) executeButton(r *http.Request) string {
	ctx := r.Context()
	id := r.PostForm.Get("id")
	account := r.PostForm.Get("account")
	on := s.On(account)
	var err error
	switch do := r.PostForm.Get("do"); do {
	case "card":
		err = on.SetCard(ctx, id, Conduct(r.PostForm.Get("to")))
	case "confirm", "fail":
		err = on.Confirm(ctx, id, do == "confirm")
	case "pay":
		err = on.Pay(ctx, id)
	case "advance":
		by, bad := parseDuration(r.PostForm.Get("by"))
		if bad != nil {
			return bad.Error()
		}
		err = s.Advance(ctx, by)
	case "mangle":
		err = s.SetMangle(ctx, Mangle{
			Drop: parsePercent(r.PostForm.Get("drop")), Duplicate: parsePercent(r.PostForm.Get("duplicate")),
			Reorder: r.PostForm.Get("reorder") != "", Delay: int64(parsePercent(r.PostForm.Get("delay"))),
		})
	case "account":
		err = s.SetAccount(ctx, id, r.PostForm.Get("to"))
	case "disconnect":
		err = s.Disconnect(ctx, id)
	case "onboard":
		return s.finishOnboarding(r, id)
	default:
		return "There is no such button."
	}

	if err != nil {
		return err.Error()
	}

	return ""
}

// finishOnboarding consumes a link. The returned message states the URL to which the account wanted to return.
func (s *Sandbox) finishOnboarding(r *http.Request, id string) string {
	var account, back string
	err := s.updateAsOperator(r.Context(), "", func(tx *tx) {
		link := find[accountLink](tx, id)
		if link == nil || link.Expires <= tx.now {
			refuse(&problem{Status: http.StatusGone, Message: "This onboarding link was used or has expired."})
		}

		account = link.Account
		back = link.Return
		tx.drop(link)
	})
	if err == nil {
		err = s.SetAccount(r.Context(), account, r.PostForm.Get("to"))
	}

	if err != nil {
		return err.Error()
	}

	return "Onboarded. Go on at " + back
}

func parsePercent(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return min(max(n, 0), 100)
}

// parseDuration parses a duration such as 36h, or a number of days such as 30d.
func parseDuration(v string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(strings.TrimSpace(v), "d")
	if n, err := strconv.ParseInt(days, 10, 32); isDays && err == nil {
		v = strconv.FormatInt(n*24, 10) + "h"
	}

	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > 10*366*24*time.Hour {
		return 0, fmt.Errorf("want a duration such as 36h or 30d, got %q", v)
	}

	return d, nil
}

// formatMoney formats an amount for display.
func formatMoney(amount int64, currency string) string {
	sign := ""
	if amount < 0 {
		sign = "-"
		amount = -amount
	}

	if currency == "jpy" {
		return fmt.Sprintf("%s%d JPY", sign, amount)
	}

	return fmt.Sprintf("%s%d.%02d %s", sign, amount/100, amount%100, strings.ToUpper(currency))
}

// clockText formats a time for display.
func clockText(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05Z") }
