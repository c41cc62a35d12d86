package stripe

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const kindDelivery kind = "sandbox.delivery"

// again lists the first retry delays of a delivery, in seconds; after them it is retried every hour until three days
// have passed. Deliveries use the real clock instead of the sandbox's, since receivers check signatures by their own
// clock.
var again = []int64{5, 30, 120, 600, 1800} //nolint:gochecknoglobals // a table

const (
	deliveryAge = 3 * 86400
	leased      = 30 // lease of one try, in seconds
)

// delivery is the delivery of one event to one endpoint.
type delivery struct {
	head
	Event    string `json:"event"`
	Endpoint string `json:"endpoint"`
	Next     int64  `json:"next"`
	Since    int64  `json:"since"`
	Tries    int    `json:"tries"`
	Last     string `json:"last"` // result of the last try
}

func (*delivery) objectKind() kind      { return kindDelivery }
func (d *delivery) nextDue() int64      { return d.Next }
func (d *delivery) indexKeys() []string { return []string{indexKey("event", d.Event)} }

// Mangle disturbs deliveries. Numbers are percentages of the deliveries, chosen at random.
type Mangle struct {
	Drop      int   `json:"drop"`
	Duplicate int   `json:"duplicate"`
	Reorder   bool  `json:"reorder"` // shuffles deliveries that are due together
	Delay     int64 `json:"delay"`   // in seconds
}

// SetMangle sets how deliveries are disturbed from now on, in every process that delivers.
func (s *Sandbox) SetMangle(ctx context.Context, m Mangle) error {
	_, err := s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
		tx.updateSettings(func(st *settings) { st.Mangle = m })
		return nil
	})
	return err
}

// Ensure creates the endpoint for a URL if there is none, for all events, and returns its secret. Processes that share
// a store get the same secret.
func (s *Sandbox) Ensure(ctx context.Context, url string, connect bool) (secret string, err error) {
	_, err = s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
		for _, e := range tx.readEndpoints() {
			if e.URL == url && e.Own.Connect == connect {
				secret = e.Own.Secret
				return nil
			}
		}

		e := &endpoint{
			head: head{ID: newID("we")}, URL: url, Events: []string{"*"}, Status: "enabled",
			Version: Version,
		}
		e.Own.Connect = connect
		e.Own.Secret = "whsec_" + randomText(32)
		secret = e.Own.Secret
		tx.put(e)

		return nil
	})
	return secret, err
}

// Outgoing is a signed delivery.
type Outgoing struct {
	ID, URL   string
	Type      string // of the event
	Header    http.Header
	Body      []byte
	account   string
	delayed   int64
	dropped   bool
	duplicate bool
}

// Sign returns the Stripe-Signature header of a body.
func Sign(secret string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// realTime returns the real time, which signatures and retries use.
func (s *Sandbox) realTime() time.Time { return time.Now() }

// Outbox leases up to limit due deliveries, the oldest first, for half a minute: deliveries that are not reported by
// Sent within that time are due again. Tests that choose the order of deliveries use it instead of Run.
func (s *Sandbox) Outbox(ctx context.Context, limit int) (out []Outgoing, err error) {
	_, err = s.updateState(ctx, "", origin{}, func(tx *tx) *problem {
		out = nil
		now := s.realTime().Unix()
		rows, err := tx.rows.Due(ctx, timerWire, now, limit)
		tx.abortOnError(err)
		m := tx.readSettings().Mangle
		for _, r := range rows {
			tx.inAccount(r.Account, func() {
				d := decodeRow[delivery](tx, r)
				if o, ok := tx.signDelivery(d, m); ok {
					out = append(out, o)
					d.Next = now + leased
					tx.put(d)
				} else {
					tx.drop(d)
				}
			})
		}

		if m.Reorder {
			swap := func(i, j int) { out[i], out[j] = out[j], out[i] }
			rand.Shuffle(len(out), swap) //nolint:gosec // order, not a secret
		}

		return nil
	})
	return out, err
}

// signDelivery signs a delivery; it returns false if its event or endpoint no longer exists.
func (tx *tx) signDelivery(d *delivery, m Mangle) (Outgoing, bool) {
	e := find[event](tx, d.Event)
	var to *endpoint
	for _, one := range tx.readEndpoints() {
		if one.ID == d.Endpoint {
			to = one
		}
	}

	if e == nil || to == nil {
		return Outgoing{}, false
	}

	body, err := json.MarshalIndent(tx.renderObject(e, nil), "", "  ")
	tx.abortOnError(err)
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("User-Agent", "Stripe/1.0 (sandbox)")
	h.Set("Stripe-Signature", Sign(to.Own.Secret, tx.s.realTime(), body))
	o := Outgoing{ID: d.ID, URL: to.URL, Type: e.Type, Header: h, Body: body, account: tx.account}
	if d.Tries == 0 {
		o.dropped = rand.IntN(100) < m.Drop //nolint:gosec // chance, not secrecy
		if d.Since == 0 {
			o.delayed = m.Delay
		}
	}

	o.duplicate = rand.IntN(100) < m.Duplicate //nolint:gosec // chance, not secrecy
	if d.Since == 0 {
		d.Since = tx.s.realTime().Unix()
	}

	return o, true
}

// Sent records the result of a delivery: a 2xx status completes it, any other schedules a retry.
func (s *Sandbox) Sent(ctx context.Context, o Outgoing, status int, note string) error {
	_, err := s.updateState(ctx, o.account, origin{}, func(tx *tx) *problem {
		d := find[delivery](tx, o.ID)
		if d == nil {
			return nil // a duplicate was recorded first
		}

		now := s.realTime().Unix()
		d.Tries++
		d.Last = fmt.Sprintf("%d %s", status, note)
		ok := status >= 200 && status < 300
		switch {
		case ok, now-d.Since > deliveryAge:
			tx.drop(d)
			if e := find[event](tx, d.Event); e != nil && ok {
				e.Pending--
				tx.put(e)
			}
		case d.Tries <= len(again):
			d.Next = now + again[d.Tries-1]
			tx.put(d)
		default:
			d.Next = now + 3600
			tx.put(d)
		}

		return nil
	})
	return err
}

// postponeDelivery postpones a delivery, or drops it as lost. A lost delivery stays undelivered in the list of events.
func (s *Sandbox) postponeDelivery(ctx context.Context, o Outgoing) error {
	_, err := s.updateState(ctx, o.account, origin{}, func(tx *tx) *problem {
		if d := find[delivery](tx, o.ID); d != nil {
			if o.dropped {
				tx.drop(d)
				return nil
			}
			d.Next = s.realTime().Unix() + o.delayed
			tx.put(d)
		}

		return nil
	})
	return err
}

// Post sends a delivery once and returns the status, 0 if there was no response. It does not call Sent.
func (s *Sandbox) Post(ctx context.Context, o Outgoing) (status int, note string) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.URL, bytes.NewReader(o.Body))
	if err != nil {
		return 0, err.Error()
	}

	r.Header = o.Header.Clone()
	res, err := s.o.Deliver.RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}

	defer func() { _ = res.Body.Close() }()

	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 16<<10))

	return res.StatusCode, ""
}

// deliverDue sends the due deliveries one after another, in the order of their events.
func (s *Sandbox) deliverDue(ctx context.Context) error {
	for {
		out, err := s.Outbox(ctx, 10)
		if err != nil || len(out) == 0 {
			return err
		}

		for _, o := range out {
			if o.dropped || o.delayed > 0 {
				err = s.postponeDelivery(ctx, o)
			} else {
				status, note := s.Post(ctx, o)
				if o.duplicate && status != 0 {
					status, note = s.Post(ctx, o)
				}
				err = s.Sent(ctx, o, status, note)
			}

			if err != nil {
				return err
			}
		}
	}
}
