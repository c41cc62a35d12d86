package oauth

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration as the page and scripts encode it.
type Seconds float64

func (s Seconds) asDuration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

func (s Seconds) orDefault(own time.Duration) time.Duration {
	if s != 0 {
		return s.asDuration()
	}
	return own
}

// Deviations of a response's refresh token from the provider's behavior.
const (
	Absent = "absent"
	Empty  = "empty"
	Same   = "same"
)

// Knobs configures the behavior of a family. The zero value is the provider's own behavior.
type Knobs struct {
	Lifetime        Seconds `json:"lifetime"`         // of access tokens; below 0: no expiry
	RefreshLifetime Seconds `json:"refresh_lifetime"` // below 0: no expiry
	MinAge          Seconds `json:"min_age"`          // of Instagram's tokens before an extension; below 0: none
	Rotation        string  `json:"rotation"`         // Strict, Single, Grace or Fixed
	Grace           Seconds `json:"grace"`            // a minute if 0
	NoExpiresIn     bool    `json:"no_expires_in"`
	RefreshToken    string  `json:"refresh_token"` // Absent, Empty or Same
	// Latency and LatencyMax bound the delay of a response.
	Latency    Seconds `json:"latency"`
	LatencyMax Seconds `json:"latency_max"`
	// Accounts is how many pages, channels or ad accounts each person owns; 3 if 0, none below 0.
	Accounts int `json:"accounts"`
}

func (k Knobs) pickLatency() time.Duration {
	if k.LatencyMax > k.Latency {
		share := Seconds(rand.Float64()) //nolint:gosec // a delay is no secret
		return (k.Latency + share*(k.LatencyMax-k.Latency)).asDuration()
	}
	return k.Latency.asDuration()
}

func (k Knobs) accountCount() int {
	if k.Accounts == 0 {
		return 3
	}
	return max(k.Accounts, 0)
}

// Fault replaces the responses to matching requests.
type Fault struct {
	Family string `json:"family"` // "" matches every family
	Op     string `json:"op"`     // "request", "token", "api", "revoke"; "" matches all
	// Done: the request is processed, and only its response is replaced.
	Done bool `json:"done"`
	// Status, Body and RetryAfter (seconds) are the response. Without a Status the connection is cut.
	Status     int    `json:"status"`
	Body       string `json:"body"`
	RetryAfter int    `json:"retry_after"`
	// Hang: there is no response until the caller gives up.
	Hang bool `json:"hang"`
	// Times is how many requests the fault matches; 0 means all, until it is cleared.
	Times int `json:"times"`
}

// answer returns the fault's response, or nil if the connection is to be cut.
func (f *Fault) answer() *answer {
	if f.Status == 0 {
		return nil
	}

	a := &answer{status: f.Status, header: http.Header{}, body: f.Body}
	if f.RetryAfter > 0 {
		a.header.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}

	return a
}

// longestHang bounds how long a fault holds the connection of a caller that does not give up.
const longestHang = 2 * time.Minute

// holdConnection waits if the fault says so, and cuts the connection if there is no response to send.
func (f *Fault) holdConnection(ctx context.Context) {
	if f.Hang {
		waitConnected(ctx, longestHang)
	}
	if f.Hang || f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
}

// settings holds the sandbox's settings, in one row.
type settings struct {
	Ahead  Seconds               `json:"ahead"` // how far the sandbox's clock is ahead of the real one
	Knobs  map[string]Knobs      `json:"knobs"`
	Faults []*Fault              `json:"faults"`
	Counts map[string]map[op]int `json:"counts"` // of requests, by family
}

func (t *tx) saveSettings() { writeRow(t, "settings", "settings", t.settings) }

func (t *tx) knobsOf(family string) Knobs { return t.settings.Knobs[family] }

// takeFault returns the fault for a request and counts its use.
func (t *tx) takeFault(family string, what op) *Fault {
	for i, f := range t.settings.Faults {
		if f.Family != "" && f.Family != family || f.Op != "" && f.Op != string(what) {
			continue
		}

		struck := *f
		if f.Times > 0 {
			f.Times--
			if f.Times == 0 {
				t.settings.Faults = append(t.settings.Faults[:i:i], t.settings.Faults[i+1:]...)
			}
			t.saveSettings()
		}

		return &struck
	}

	return nil
}

// countRequest counts a request, whatever its result.
func (t *tx) countRequest(family string, what op) {
	if t.settings.Counts == nil {
		t.settings.Counts = map[string]map[op]int{}
	}

	if t.settings.Counts[family] == nil {
		t.settings.Counts[family] = map[op]int{}
	}

	t.settings.Counts[family][what]++
	t.saveSettings()
}

// splitList splits a request's list at any separator.
func splitList(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
}
